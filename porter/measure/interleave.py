"""Times several arms in turn, so that any drift affects all of them.

A block is an order and its mirror image, A B B A: a linear drift weighs on both alike, and so does each neighbour. The
order is drawn anew for every block. Two arms are compared by the ratio within a block, never across the whole.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from porter.measure.timing import Timing, disturbed, median_interval, relative_width

# The times of one call of each of a sequence of arms, in microseconds, taken in that order.
Sample = Callable[[Sequence[int]], Sequence[float]]
Clock = Callable[[], float]

_LEAST_FOR_A_LOOK, _BY_FAR = 2, 1.15  # two blocks, of two samples each, never differ by 15 % without a reason
_LEAST_FOR_AN_INTERVAL = 6  # of fewer samples none has 95 %


class Stopped(StrEnum):
    """The reasons for which sampling ended."""

    NARROW = "the intervals are narrow enough"
    SLOW = "it is certainly slower than is of interest"
    BUDGET = "the time for it is used up"


@dataclass(frozen=True, slots=True)
class StopRule:
    """The rule by which sampling ends: every interval lies within `half_width` of its median, or `budget_s` is over.

    `half_width` is a share: 0.0025 for a quarter of a percent. `warm_blocks` are sampled first and do not count. No
    block is begun after `most_blocks`. Sampling ends early where the first arm takes certainly more than `slowest`
    times as long as the second.
    """

    half_width: float = 0.0025
    budget_s: float = 2.0
    warm_blocks: int = 5
    least_blocks: int = 16
    most_blocks: int = 400
    slowest: float = math.inf


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two times: how many times as long one takes as the other, with its 95 % interval."""

    median: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Interleaved:
    """All arms, sampled in turn. `blocks_us[b][a]` is the mean of the two samples of arm `a` in block `b`.

    `left_out` counts the blocks that were disturbed and do not count.
    """

    timings: tuple[Timing, ...]
    blocks_us: tuple[tuple[float, ...], ...]
    stopped: Stopped
    left_out: int
    seconds: float

    def ratio(self, arm: int, to: int) -> Ratio:
        """Returns the time of `arm` over that of the arm `to`."""
        ratios = [block[arm] / block[to] for block in self.blocks_us]
        return Ratio(statistics.median(ratios), median_interval(ratios))


def interleaved(arms: int, sample: Sample, rule: StopRule, clock: Clock, seed: int = 0) -> Interleaved:
    """Samples blocks of all `arms` until `rule` is met; `clock` counts seconds, `seed` draws the orders."""
    draw = Random(seed)
    begin = clock()
    blocks: list[list[tuple[float, float]]] = []
    while True:
        blocks.append(_block(arms, sample, draw))
        kept = _undisturbed(blocks)
        if stopped := _stop(kept, len(blocks), rule, clock() - begin):
            break
    return Interleaved(
        timings=tuple(Timing(tuple(s for block in kept for s in block[arm])) for arm in range(arms)),
        blocks_us=tuple(tuple(statistics.fmean(pair) for pair in block) for block in kept),
        stopped=stopped,
        left_out=len(blocks) - len(kept),
        seconds=clock() - begin,
    )


def _block(arms: int, sample: Sample, draw: Random) -> list[tuple[float, float]]:
    """Takes two samples of each arm."""
    order = draw.sample(range(arms), arms)
    times = sample([*order, *reversed(order)])
    first, second = times[:arms], times[: arms - 1 : -1]
    by_arm = dict(zip(order, zip(first, second, strict=True), strict=True))
    return [by_arm[arm] for arm in range(arms)]


def _undisturbed(blocks: Sequence[list[tuple[float, float]]]) -> list[list[tuple[float, float]]]:
    """Returns the blocks in which no arm had an outlier: what disturbed one sample also disturbed its neighbours."""
    bad: set[int] = set()
    for arm in range(len(blocks[0])):
        flat = [sample for block in blocks for sample in block[arm]]
        bad |= {position // 2 for position in disturbed(flat)}
    return [block for index, block in enumerate(blocks) if index not in bad] or list(blocks)


def _stop(kept: Sequence[list[tuple[float, float]]], begun: int, rule: StopRule, seconds: float) -> Stopped | None:
    if _is_slow(kept, rule.slowest):
        return Stopped.SLOW
    if len(kept) >= rule.least_blocks and _widest(kept) <= rule.half_width:
        return Stopped.NARROW
    enough = len(kept) >= rule.least_blocks or begun >= 2 * rule.least_blocks
    return Stopped.BUDGET if begun >= rule.most_blocks or (enough and seconds >= rule.budget_s) else None


def _is_slow(kept: Sequence[list[tuple[float, float]]], slowest: float) -> bool:
    """Returns whether the first arm is too slow beside the second, by the interval of the ratio, or else by far."""
    if math.isinf(slowest) or len(kept) < _LEAST_FOR_A_LOOK:
        return False
    low, _ = median_interval([statistics.fmean(block[0]) / statistics.fmean(block[1]) for block in kept])
    return low > slowest * (1.0 if len(kept) >= _LEAST_FOR_AN_INTERVAL else _BY_FAR)


def _widest(kept: Sequence[list[tuple[float, float]]]) -> float:
    """Returns the widest interval, as a share: of each arm, and of each ratio to the first."""
    means = [[statistics.fmean(pair) for pair in block] for block in kept]
    arms = range(len(means[0]))
    times = [relative_width([s for block in kept for s in block[arm]]) for arm in arms]
    ratios = [relative_width([block[arm] / block[0] for block in means]) for arm in arms[1:]]
    return max((*times, *ratios))
