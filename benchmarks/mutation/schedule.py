"""Chooses which mutant is judged next, and judges several at once in processes."""

from __future__ import annotations

import heapq
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing.pool import AsyncResult, Pool

from benchmarks.mutation import journal
from benchmarks.mutation.journal import Entry
from benchmarks.mutation.mutation import chosen
from benchmarks.mutation.trial import Trial, trial
from porter.cache_folder import cache_folder
from porter.errors import PorterError
from porter.suite.operators import Operator

_PAUSE_S = 0.1  # between two looks at what is being judged


@dataclass(frozen=True, slots=True)
class Settings:
    """The seed, how many mutants of each port are judged, by which commit, and whether only earlier survivors are."""

    seed: int
    each: int
    commit: str
    survivors: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """An operator and what it is ported to."""

    operator: Operator
    target: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that is to be judged: of a port that was changed in one place, or, as kind `journal.PORT`, of the port."""

    pair: Pair
    kind: str
    shown: str
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Returns the key of its entry in a journal."""
        return self.pair.operator.key, self.pair.target, journal.digest_of(self.text)


@dataclass(frozen=True, slots=True)
class Ported:
    """A port and the mutants that were chosen of it. `refused` says why there is none."""

    port: Mutant | None
    mutants: tuple[Mutant, ...] = ()
    refused: str = ""


@dataclass(slots=True)
class Schedule:
    """Keeps what is still to be done: ports are made, then judged, the first mutant of each, then the second.

    `known` are the judgements of earlier runs: none is asked for again, but for a port by another commit.
    """

    settings: Settings
    known: dict[tuple[str, str, str], Entry]
    _waiting: list[tuple[int, int, Pair | Mutant]] = field(default_factory=list)
    _mutants: dict[tuple[str, str, str], tuple[Mutant, ...]] = field(default_factory=dict)
    _added: int = 0

    def add(self, turn: int, work: Pair | Mutant) -> None:
        """Has `work` done behind all of an earlier turn."""
        self._added += 1
        heapq.heappush(self._waiting, (turn, self._added, work))

    def next(self) -> Pair | Mutant | None:
        """Takes out what is to be done now; None where that is nothing."""
        return heapq.heappop(self._waiting)[2] if self._waiting else None

    def is_ported(self, ported: Ported) -> None:
        """Has the port judged, or where that is known and verified its mutants."""
        if ported.port is None:
            return
        self._mutants[ported.port.key] = ported.mutants
        judged = self.known.get(ported.port.key)
        if judged is None or judged.porter != self.settings.commit:
            self.add(1, ported.port)
        else:
            self.is_judged(judged)

    def is_judged(self, entry: Entry) -> None:
        """Has the mutants of a port judged once it is verified."""
        if entry.kind != journal.PORT or not entry.is_verified:
            return
        for turn, mutant in enumerate(self._mutants.pop(entry.key, ()), 2):
            before = self.known.get(mutant.key)
            if (before is not None and before.is_survivor) if self.settings.survivors else before is None:
                self.add(turn, mutant)


def judged_at_once(
    pairs: Sequence[Pair], known: Sequence[Entry], settings: Settings, jobs: int, deadline: float
) -> Iterator[Entry]:
    """Judges ports and mutants, `jobs` at once, and gives each as it is done; ends at `deadline` whatever runs then."""
    schedule = Schedule(settings, {one.key: one for one in known})
    for pair in pairs:
        schedule.add(0, pair)
    running: list[AsyncResult[Ported | Entry]] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, _processes(jobs, folder) as pool:
        while time.monotonic() < deadline:
            while len(running) < jobs and (work := schedule.next()):
                running.append(pool.apply_async(_done, (work, settings)))
            if not running:
                return
            for one in [one for one in running if one.ready()]:
                running.remove(one)
                match one.get():
                    case Entry() as entry:
                        schedule.is_judged(entry)
                        yield entry
                    case Ported() as ported:
                        schedule.is_ported(ported)
                        if ported.refused:
                            print(f"not ported: {ported.refused}", flush=True)
            time.sleep(_PAUSE_S)


def _processes(jobs: int, folder: str) -> Pool:
    """Processes that leave nothing behind outside of `folder` when they are ended while they judge."""
    os.environ["OMP_NUM_THREADS"] = "1"  # which they inherit: there is one for each core
    return multiprocessing.get_context("spawn").Pool(jobs, _lives_in, (folder,))


def _lives_in(folder: str) -> None:
    tempfile.tempdir = folder


def _done(work: Pair | Mutant, settings: Settings) -> Ported | Entry:
    """Ports the pair, or judges the mutant."""
    return _judged(work, settings) if isinstance(work, Mutant) else _ported(work, settings)


def _ported(pair: Pair, settings: Settings) -> Ported:
    try:
        begun = _trial(pair, settings.seed)
    except PorterError as error:
        return Ported(None, refused=f"{pair.operator.key} for {pair.target}: {error.message}")
    drawn = chosen(begun.mutations(), f"{settings.seed} {pair.operator.key} {pair.target}", settings.each)
    mutants = (Mutant(pair, one.kind, one.shown(begun.text), one.applied(begun.text)) for one in drawn)
    return Ported(Mutant(pair, journal.PORT, "", begun.text), tuple(mutants))


def _judged(mutant: Mutant, settings: Settings) -> Entry:
    said = _trial(mutant.pair, settings.seed).judge(mutant.text)
    operator, target, digest = mutant.key
    return Entry(
        operator, target, str(mutant.kind), digest, mutant.shown, said.outcome, said.because[:300], said.caveat,
        round(said.seconds, 1), settings.commit, settings.seed,
    )  # fmt: skip


@lru_cache(maxsize=16)
def _trial(pair: Pair, seed: int) -> Trial:
    """The port of the pair, which each of the processes makes for itself."""
    return trial(pair.operator, pair.target, cache_folder(), seed)
