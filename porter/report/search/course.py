"""Follows a search: folds its journal line by line, and keeps what its last state alone no longer shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from porter.errors import InputError
from porter.evolve.budget import Progress
from porter.evolve.candidate import Candidate
from porter.evolve.events import Closed, Event, Opened, Proposed, Told
from porter.evolve.journal import NAME, entries
from porter.evolve.lines import Line
from porter.evolve.proposer import Member
from porter.evolve.scored import Measure, Score
from porter.evolve.state import State


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate with its request, and its first outcome: None while it is being evaluated."""

    candidate: Candidate
    proposed: Proposed
    told: Told | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Completed:
    """A round that is complete: the best at its end, and what had been spent."""

    closed: Closed
    score: Score | None
    progress: Progress


class Course:
    """A search up to some line of its journal. `folder` is that of the run."""

    def __init__(self, folder: Path, opened: Opened) -> None:
        self.folder = folder
        self.state = State(opened.settings)
        self.trials: dict[str, Trial] = {}
        self.rounds: list[Completed] = []

    @property
    def about(self) -> Mapping[str, str]:
        """Returns what the search says of itself."""
        return self.state.settings.about

    @property
    def name(self) -> str:
        """The name of what is improved: the source's, else that of the run's folder."""
        return Path(self.about.get("source", "")).stem or self.folder.resolve().name

    @property
    def measure(self) -> Measure | None:
        """The measure of the scores; None while there is none."""
        scores = (member.scored.score for member in self.state.members.values())
        return next((score.measure for score in scores if score is not None), None)

    @property
    def champion(self) -> tuple[Member, Score] | None:
        """The best of all islands, and its score; None while nothing is verified."""
        best = self.state.best
        return None if best is None or best.scored.score is None else (best, best.scored.score)

    def member(self, digest: str) -> Member | None:
        """Returns a candidate with its last outcome; None where it was not evaluated, or is not of this search."""
        return self.state.members.get(digest)

    def take(self, line: Line) -> Event:
        """Applies the next line.

        Raises:
            InputError: it does not follow from those before it.
        """
        try:
            event = self.state.apply(line.event, line.seconds)
        except ValueError as error:
            raise InputError(f"does not follow from the lines before it: {error}") from error
        if event != line.event:
            raise InputError("does not follow from the lines before it", f"this follows: {event}")
        match event:
            case Proposed():
                self.trials |= {each.digest: Trial(each, event) for each in event.candidates}
            case Told(scored) if not event.again:
                known = self.trials[scored.digest]
                self.trials[scored.digest] = replace(known, told=event, seconds=line.seconds)
            case Closed():
                best = self.champion
                self.rounds.append(Completed(event, best[1] if best else None, self.state.progress))
        return event


def course(folder: Path) -> Course:
    """Returns the whole of the run in `folder`, as far as it has come.

    Raises:
        InputError: the folder holds no run, or a line does not follow from those before it.
    """
    numbered = ((entry.number, entry.line) for entry in entries(folder))
    found = begun(folder, numbered)
    for number, line in numbered:
        taken(found, number, line)
    return found


def following(folder: Path) -> Iterator[tuple[Course, tuple[Event, ...]]]:
    """Yields the run in `folder` as it grows: at each look its state, and what happened since the last look.

    Raises:
        InputError: as in `course`.
    """
    found, count, size = None, 0, -1
    while True:
        events: list[Event] = []
        grown = (folder / NAME).stat().st_size if is_run(folder) else 0
        if grown != size or found is None:
            size = grown
            numbered = ((entry.number, entry.line) for entry in islice(entries(folder), count, None))
            if found is None:
                found, count = begun(folder, numbered), 1
                events.append(Opened(found.state.settings))
            for number, line in numbered:
                events.append(taken(found, number, line))
                count = number
        yield found, tuple(events)


def begun(folder: Path, numbered: Iterable[tuple[int, Line]]) -> Course:
    """Returns the run in `folder` at its first line. Raises `InputError` where that is missing."""
    for _, line in numbered:
        if isinstance(line.event, Opened):
            return Course(folder, line.event)
    raise InputError(f"{folder}: the run ended before it was opened")


def taken(found: Course, number: int, line: Line) -> Event:
    """Applies line `number`. Raises `InputError`, which names it, where it does not follow."""
    try:
        return found.take(line)
    except InputError as error:
        raise InputError(f"{found.folder / NAME}:{number}: {error.message}", error.hint) from error


def is_run(folder: Path) -> bool:
    """Returns whether the folder is that of a search."""
    return (folder / NAME).is_file()
