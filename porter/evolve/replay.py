"""Reads runs again: finds the state a journal leads to, without evaluating anything, and lets runs go on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.errors import InputError
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate
from porter.evolve.events import INTERRUPTED, Ended, Granted, Opened
from porter.evolve.journal import Entry, entries, journal
from porter.evolve.lines import Line, Lines
from porter.evolve.proposer import Proposer
from porter.evolve.search import Search
from porter.evolve.settings import Settings
from porter.evolve.state import State
from porter.evolve.store import Store


@dataclass(frozen=True, slots=True)
class Replayed:
    """A run: its journal, line by line, and the state to which that leads."""

    lines: tuple[Line, ...]
    state: State


def replayed(folder: Path) -> Replayed:
    """Derives the state of a run anew with all decisions, and compares it with the journal, byte by byte.

    Raises:
        InputError: the folder holds no run, or a line does not follow from those before it.
    """
    read = entries(folder)
    head = next(read, None)
    if head is None or not isinstance(head.line.event, Opened):
        raise InputError(f"{folder}: the run ended before it was opened")
    state, lines = State(head.line.event.settings), [head.line]
    for entry in read:
        lines.append(entry.line)
        _follow(folder, state, entry)
    return Replayed(tuple(lines), state)


def _follow(folder: Path, state: State, entry: Entry) -> None:
    line = entry.line
    try:
        again = Lines(Store(folder)).written(Line(state.apply(line.event, line.seconds), line.seconds))
    except ValueError as error:
        raise InputError(f"{folder}, line {entry.number}: does not follow from those before it: {error}") from error
    if again != entry.raw:
        raise InputError(
            f"{folder}, line {entry.number}: does not follow from those before it",
            hint=f"this follows: {again.decode().rstrip()}",
        )


@contextmanager
def searching(
    folder: Path,
    settings: Settings,
    budget: Budget,
    proposers: Sequence[Proposer],
    seeds: Sequence[Candidate],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Search]:
    """Yields the search in a folder: a new one, or the one that is there, from its last whole line on.

    Where it was interrupted, or ended by another budget, it goes on with this one. On Ctrl-C it ends with what it has.

    Raises:
        InputError: the folder holds a run with other settings, or one that cannot be replayed.
        UsageError: another process continues it.
    """
    try:
        with journal(folder) as recorder:
            state, new = _state(folder, settings)
            search = Search(state, proposers, seeds, recorder, clock)
            if new:
                recorder.write(Opened(settings), 0.0)
            if state.budget != budget or state.ended == INTERRUPTED:
                search.record(Granted(budget))
            yield search
    except KeyboardInterrupt:
        _interrupted(folder)
        raise


def _state(folder: Path, settings: Settings) -> tuple[State, bool]:
    if next(entries(folder), None) is None:
        return State(settings), True
    state = replayed(folder).state
    if state.settings != settings:
        raise InputError(f"{folder}: holds a run with other settings", hint="resume that one, or name another folder")
    return state, False


def _interrupted(folder: Path) -> None:
    """Notes in the journal that a run was interrupted.

    The interrupt may have come anywhere, even between a change of the state and its line: the journal is right.
    """
    with journal(folder) as recorder:
        if next(entries(folder), None) is None:
            return
        state = replayed(folder).state
        if not state.ended:
            recorder.write(state.apply(Ended(INTERRUPTED), state.progress.seconds), state.progress.seconds)
