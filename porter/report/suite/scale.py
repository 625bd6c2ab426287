"""Draws speedups as lengths: bars on one scale, where twice as fast is as long as half as fast, and a histogram."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NOISE = 0.03  # two medians that differ by less are as fast as each other, as `porter regress` counts it
_BINS_PER_DOUBLING = 2


@dataclass(frozen=True, slots=True)
class Bar:
    """A speedup, where its bar begins and how long it is, in percent of the scale, and its kind."""

    speedup: float
    left: float
    width: float
    kind: str


@dataclass(frozen=True, slots=True)
class Bin:
    """A range of the distribution, and the number of speedups in it."""

    label: str
    count: int
    percent: float
    kind: str


@dataclass(frozen=True, slots=True)
class Scale:
    """The logarithms of the least and the greatest speedup; 1.0 always lies between them."""

    low: float
    high: float

    def at(self, speedup: float) -> float:
        """Returns where a speedup lies, in percent from the left."""
        return 100 * (math.log(speedup) - self.low) / (self.high - self.low)

    def bar(self, speedup: float) -> Bar:
        """Returns the bar from 1.0 to `speedup`."""
        one, there = self.at(1.0), self.at(speedup)
        return Bar(speedup, min(one, there), abs(there - one), kind(speedup))


def scale(speedups: Sequence[float]) -> Scale:
    """Returns the scale of these speedups, with a margin on both sides."""
    logs = [0.0, *map(math.log, speedups)]
    margin = 0.05 * (max(logs) - min(logs)) or 0.1
    return Scale(min(logs) - margin, max(logs) + margin)


def kind(speedup: float) -> str:
    """Returns `fast`, `slow`, or `even` where the difference is within noise."""
    return "even" if abs(math.log(speedup)) <= math.log1p(NOISE) else "fast" if speedup > 1 else "slow"


def distribution(speedups: Sequence[float]) -> Iterator[Bin]:
    """Yields how many speedups lie in each half of a doubling, from the least to the greatest."""
    counts = Counter(math.floor(math.log2(speedup) * _BINS_PER_DOUBLING) for speedup in speedups)
    if not counts:
        return
    most = max(counts.values())
    for step in range(min(counts), max(counts) + 1):
        low, high = (2 ** (bound / _BINS_PER_DOUBLING) for bound in (step, step + 1))
        yield Bin(f"{low:.2f} to {high:.2f}", counts[step], 100 * counts[step] / most, "slow" if step < 0 else "fast")


def mean_interval(speedups: Sequence[float]) -> tuple[float, float] | None:
    """Returns the 95 % interval of the geometric mean, were the operators drawn at random; None below three."""
    if len(speedups) < 3:
        return None
    logs = [math.log(speedup) for speedup in speedups]
    mean = sum(logs) / len(logs)
    deviation = math.sqrt(sum((log - mean) ** 2 for log in logs) / (len(logs) - 1) / len(logs))
    return math.exp(mean - 1.96 * deviation), math.exp(mean + 1.96 * deviation)
