"""Which proposer is asked: the one that seems to pay, as often as it may be the best (Thompson sampling)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

# What was learned counts by half after about 34 candidates: what pays early in a run may not pay late.
_FADING = 0.98


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known of a proposer before the run: candidates that paid, and that did not, in runs of the category."""

    proposer: str
    paid: float
    unpaid: float


class Bandit:
    """Learns from each outcome whether a proposer's candidate paid: was taken, and better than what it was made of."""

    def __init__(self, arms: Iterable[str], priors: Iterable[Prior] = ()) -> None:
        self._paid = dict.fromkeys(arms, 1.0)
        self._unpaid = dict(self._paid)
        for prior in priors:
            if prior.proposer in self._paid:
                self._paid[prior.proposer] += prior.paid
                self._unpaid[prior.proposer] += prior.unpaid

    def choose(self, arms: Sequence[str], draw: Random) -> str:
        """One of `arms`; each is drawn for, so that the streams of equal requests stay equal."""
        drawn = {arm: draw.betavariate(self._paid[arm], self._unpaid[arm]) for arm in arms}
        return max(arms, key=drawn.__getitem__)

    def learn(self, arm: str, paid: bool) -> None:
        """Take in one outcome; all older ones fade a little, down to knowing nothing."""
        for counts in (self._paid, self._unpaid):
            for name, count in counts.items():
                counts[name] = 1 + (count - 1) * _FADING
        counts = self._paid if paid else self._unpaid
        counts[arm] += 1
