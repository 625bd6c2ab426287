"""How fast an entry is, beside what it is compared with; there is a time only where a correct run is."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from porter.contract.contract import Workload
from porter.evaluate.outcome import Fidelity
from porter.measure.environment import Environment
from porter.measure.interleave import Ratio, Stopped
from porter.measure.timing import Timing


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a candidate was timed beside: `cuda` is the original under nvcc, `pytorch` a reference as it stands.

    `ratio` is the candidate's time over the baseline's, block by block.
    """

    name: str
    timing: Timing
    ratio: Ratio

    @property
    def speedup(self) -> float:
        """How many times as fast the candidate is."""
        return 1 / self.ratio.median


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of one workload on a device. `by_calls` says why they are those of calls, and not of captured graphs.

    `bytes` is what all tensors hold; `left_out` how many blocks of samples were disturbed.
    """

    workload: Workload
    fidelity: Fidelity
    timing: Timing
    baselines: tuple[Baseline, ...]
    by_calls: str
    stopped: Stopped
    left_out: int
    bytes: int
    environment: Environment

    @property
    def bytes_per_s(self) -> float:
        """The bandwidth that it would take to move every tensor once."""
        return self.bytes / self.timing.median_us * 1e6


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """No time, and why."""

    workload: Workload | None
    fidelity: Fidelity
    because: str


Speed = Measured | NotMeasured


def speedup(speeds: Iterable[Speed]) -> float | None:
    """The geometric mean over all workloads of how many times as fast the candidate is as its first baseline."""
    ratios = [s.baselines[0].ratio.median for s in speeds if isinstance(s, Measured) and s.baselines]
    return 1 / statistics.geometric_mean(ratios) if ratios else None
