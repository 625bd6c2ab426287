"""Defines what an evaluation tells a search: whether a candidate is right, how good it is, its place in the archive."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Measure(StrEnum):
    """The quantity that a score measures. Scores of different measures are never compared."""

    NATIVE = "native"  # time on the target's own device
    PROXY = "proxy"  # time of a port for another device
    MODELLED = "modelled"  # a static cost, which ranks candidates and is not a time


@dataclass(frozen=True, slots=True)
class Score:
    """A factor over the seed, with its interval: the seed's time, or modelled cost, over the candidate's.

    For a time the interval holds the true factor with 95 %; a modelled cost has none: `low == factor == high`.
    """

    measure: Measure
    factor: float
    low: float
    high: float

    def beats(self, other: Score) -> bool:
        """Returns whether it is better beyond what noise explains."""
        return self.low > other.high

    @property
    def sound(self) -> bool:
        """Returns whether the score is sound: positive finite numbers, the factor within its interval."""
        return 0 < self.low <= self.factor <= self.high < math.inf

    @property
    def rank(self) -> tuple[float, float]:
        """The key that orders scores where one must come first: the lower bound, then the factor."""
        return self.low, self.factor


@dataclass(frozen=True, slots=True)
class Scored:
    """The result of evaluating the candidate `digest`.

    `outcome` is one of the labels of `porter.evaluate.model.outcome` (`verified`, `wrong`, ...), `because` its reason.
    Only a verified candidate has a `score`, and a `cell`: its coordinate on each axis of the archive. `feedback` is
    what a proposer is told: the first error and its place, the worst mismatch, times and resources. `built` is the
    digest of what the compiler made, where that is known: other files with the same binary are the same candidate.
    """

    digest: str
    outcome: str
    because: str
    score: Score | None = None
    cell: tuple[int, ...] = ()
    feedback: str = ""
    built: str = ""
