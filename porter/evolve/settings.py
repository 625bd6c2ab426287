"""Defines the settings of a search: declared before it, they hold to its end and are the first line of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from porter.evolve.axis import Axis
from porter.evolve.bandit import Prior

SEED = "seed"  # the proposer of round 0


@dataclass(frozen=True, slots=True)
class Settings:
    """The same settings, seed, proposals and outcomes make the same search.

    Each round asks for `batch` candidates for each of `islands`. Every `migrate_every` rounds the top `migrate_share`
    of an island is shown to the next. A request holds `parents` candidates and `failures` failures; `exploit` is the
    probability that the first parent is one of the top. `priors` are what runs for operators of this `category` have
    taught. A champion is measured a second time when it has stood for `measure_after` rounds, and before the search
    ends, where its score is a measurement; never, if that is 0. Proposers in `slow` answer when they can, and have at
    most that many requests out at once: the round goes on without them. Where `in_flight` is not 0, that many
    candidates are kept in evaluation, and outcomes count as they come; else those of a round count in the order of
    proposals. `about` says what the search is for: it is kept for readers of the journal, and not used.
    """

    seed: int
    axes: tuple[Axis, ...]
    proposers: tuple[str, ...]
    islands: int = 3
    batch: int = 2
    migrate_every: int = 5
    migrate_share: float = 0.1
    exploit: float = 0.7
    parents: int = 4
    failures: int = 3
    measure_after: int = 5
    category: str = ""
    priors: tuple[Prior, ...] = ()
    slow: Mapping[str, int] = field(default_factory=dict)
    in_flight: int = 0
    about: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if min(self.islands, self.batch, self.migrate_every, self.parents) < 1:
            raise ValueError("islands, batch, migrate_every and parents are at least 1")
        if SEED in self.proposers or len(set(self.proposers)) != len(self.proposers) or not self.proposers:
            raise ValueError(f"proposers have names of their own, of which none is {SEED!r}: {self.proposers}")
        if not self.slow.keys() <= set(self.proposers) or min(self.slow.values(), default=1) < 1:
            raise ValueError("slow proposers are some of the proposers, and have at least one request out at once")
        if not (
            0 <= self.exploit <= 1
            and 0 < self.migrate_share <= 1
            and min(self.failures, self.measure_after, self.in_flight) >= 0
        ):
            raise ValueError("exploit and migrate_share are shares, failures, measure_after and in_flight numbers")
