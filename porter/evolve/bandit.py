"""Chooses the proposer to ask: each as often as it is likely to be the best (Thompson sampling)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

# What was learned counts by half after about 34 candidates: what pays early in a run may not pay late.
_FADING = 0.98


@dataclass(frozen=True, slots=True)
class Prior:
    """The knowledge of a proposer beforehand: how many candidates paid, and how many did not, in runs of the category.

    Each of these counts as a request that brought a candidate.
    """

    proposer: str
    paid: float
    unpaid: float


class Bandit:
    """Learns how often a request to a proposer brings a candidate, and how often such a candidate pays.

    A candidate pays if it was taken, and is better than what it was made of. A request is worth the product.
    """

    def __init__(self, arms: Iterable[str], priors: Iterable[Prior] = ()) -> None:
        names = tuple(arms)
        self._pays = _Odds(names)
        self._brings = _Odds(names)
        for prior in priors:
            if prior.proposer in names:
                self._pays.know(prior.proposer, prior.paid, prior.unpaid)
                self._brings.know(prior.proposer, prior.paid + prior.unpaid, 0.0)

    def choose(self, arms: Sequence[str], draw: Random) -> str:
        """Returns one of `arms`; a number is drawn for each, so that the streams of equal requests stay equal."""
        drawn = {arm: self._pays.drawn(arm, draw) * self._brings.drawn(arm, draw) for arm in arms}
        return max(arms, key=drawn.__getitem__)

    def learn(self, arm: str, paid: bool) -> None:
        """Learns from the outcome of a candidate."""
        self._pays.learn(arm, paid)

    def learn_request(self, arm: str, brought: bool) -> None:
        """Learns whether a request brought a candidate at all."""
        self._brings.learn(arm, brought)


class _Odds:
    """Counts successes and failures of each arm, starting with one of both; older ones fade away."""

    def __init__(self, arms: Sequence[str]) -> None:
        self._yes = dict.fromkeys(arms, 1.0)
        self._no = dict.fromkeys(arms, 1.0)

    def know(self, arm: str, yes: float, no: float) -> None:
        self._yes[arm] += yes
        self._no[arm] += no

    def drawn(self, arm: str, draw: Random) -> float:
        return draw.betavariate(self._yes[arm], self._no[arm])

    def learn(self, arm: str, is_yes: bool) -> None:
        for counts in (self._yes, self._no):
            for name, count in counts.items():
                counts[name] = 1 + (count - 1) * _FADING
        (self._yes if is_yes else self._no)[arm] += 1
