"""Evaluates samples of a time: their median, and the interval of its true value."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb

CONFIDENCE = 0.95
# A sample further from the median than this many standard deviations, estimated robustly, was disturbed.
_OUTLYING = 6.0
_MAD_TO_DEVIATION = 1.4826
# Clocks tick: where most samples are equal, those a few ticks away are no outliers.
_LEAST_SPREAD = 0.002


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of one call: every sample, in microseconds, in the order in which they were taken."""

    samples_us: tuple[float, ...]

    @property
    def median_us(self) -> float:
        """The middle of all samples."""
        return statistics.median(self.samples_us)

    @property
    def interval_us(self) -> tuple[float, float]:
        """The interval of the true median with a confidence of 95 %."""
        return median_interval(self.samples_us)


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Returns the order statistics between which the median lies with at least `confidence`, whatever the distribution.

    Of fewer than six samples, which cannot give 95 %, the least and the greatest.
    """
    ordered = sorted(samples)
    below = _ranks_left_out(len(ordered), confidence)
    return ordered[below], ordered[-1 - below]


@cache
def _ranks_left_out(count: int, confidence: float) -> int:
    """Returns how many samples may be left out at either end: how many lie below the median is binomial."""
    allowed = (1.0 - confidence) / 2 * 2**count
    cumulated = 0
    for rank in range(count // 2):
        cumulated += comb(count, rank)
        if cumulated > allowed:
            return max(0, rank - 1)
    return 0


def relative_width(samples: Sequence[float]) -> float:
    """Returns half the width of the median's interval, as a share of the median."""
    low, high = median_interval(samples)
    return (high - low) / 2 / statistics.median(samples)


def disturbed(samples: Sequence[float]) -> frozenset[int]:
    """Returns the positions of outliers: more than six robust deviations from the median.

    The deviation is that of a normal distribution with the same median absolute deviation, at least 0.2 %.
    """
    middle = statistics.median(samples)
    spread = statistics.median(abs(s - middle) for s in samples) * _MAD_TO_DEVIATION
    limit = _OUTLYING * max(spread, _LEAST_SPREAD * abs(middle))
    return frozenset(i for i, s in enumerate(samples) if abs(s - middle) > limit)
