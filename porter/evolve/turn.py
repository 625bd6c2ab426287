"""Follows a round: which proposer is asked next, and which outcomes are still missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.evolve.candidate import Candidate
from porter.evolve.events import Proposed

_PATIENCE = 2  # requests without anything new, after which a proposer is not asked again for this island and round


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate to be evaluated: who proposed it, for which island (None: for all); `again` if it was evaluated.

    `to_beat` is the factor of the candidate to improve.
    """

    candidate: Candidate
    proposer: str
    island: int | None
    to_beat: float = 1.0
    again: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """The number of candidates wanted for an island, and the proposers that may be asked for them."""

    island: int
    count: int
    proposers: tuple[str, ...]


@dataclass(slots=True)
class Round:
    """The questions and answers between two looks at how the search goes.

    It closes once all outcomes were told. Where a search keeps candidates in flight it closes once enough were
    `offered`, and some of those `waiting` come from earlier rounds.
    """

    number: int
    island: int = 0
    filled: int = 0
    fruitless: Counter[str] = field(default_factory=Counter)
    waiting: dict[str, Waiting] = field(default_factory=dict)  # by digest, in their order
    offered: int = 0
    evaluated: int = 0
    questions: int = 0
    begun: bool = False
    migrated: bool = False

    def wanted(self, proposers: Sequence[str], islands: int, batch: int, left: int | None) -> Wanted | None:
        """Returns what to ask for next, where `left` more may be proposed; None when the round has its candidates."""
        island, filled, arms = self.island, self.filled, self._patient(proposers)
        if filled >= batch or not arms:
            island, filled, arms = island + 1, 0, tuple(proposers)
        count = batch - filled if left is None else min(batch - filled, left)
        return Wanted(island, count, arms) if island < islands and count else None

    def _patient(self, proposers: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in proposers if self.fruitless[name] < _PATIENCE)

    def asked(self, island: int, places: int) -> None:
        """Notes a request, for which `places` are kept: none where others can fill them meanwhile."""
        self._go_on_to(island)
        self.filled += places
        self.questions += 1

    def proposed(self, event: Proposed, to_beat: float, for_all: bool) -> None:
        """Takes in the answer to a request to improve a candidate with the factor `to_beat`."""
        self._go_on_to(event.island)
        self.filled += len(event.candidates)
        if not event.candidates:
            self.fruitless[event.proposer] += 1
        self.arrived(event, to_beat, for_all=for_all)

    def arrived(self, event: Proposed, to_beat: float, *, for_all: bool = False) -> None:
        """Takes in the candidates of an answer, which are evaluated in this round besides its own."""
        island = None if for_all else event.island
        self.offered += len(event.candidates)
        for candidate in event.candidates:
            self.wait_for(Waiting(candidate, event.proposer, island, to_beat))

    def wait_for(self, waiting: Waiting) -> None:
        """Puts a candidate to be evaluated behind all others."""
        self.waiting[waiting.candidate.digest] = waiting

    def take(self, waiting: Waiting) -> None:
        """Notes that a candidate's outcome was told."""
        del self.waiting[waiting.candidate.digest]

    def ask_again(self, islands: int, batch: int) -> None:
        """Lets proposers be asked again that had nothing to propose: there is news, but not from all islands."""
        is_at_end = self.island + 1 == islands and (self.fruitless or self.filled >= batch)
        if is_at_end and self.offered < islands * batch:
            self.island, self.filled = 0, 0
            self.fruitless.clear()

    def _go_on_to(self, island: int) -> None:
        if island != self.island:
            self.island, self.filled, self.fruitless = island, 0, Counter()
        self.begun = True
