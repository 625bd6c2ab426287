"""Says how fast an entry is, beside its baselines; only a correct run has a time."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from porter.contract.model.contract import Workload
from porter.evaluate.model.outcome import Fidelity
from porter.measure.environment import Environment
from porter.measure.interleave import Ratio, Stopped
from porter.measure.timing import Timing


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline timed beside a candidate: `cuda` is the original under nvcc, `pytorch` a reference as it stands.

    `ratio` is the candidate's time over the baseline's, block by block.
    """

    name: str
    timing: Timing
    ratio: Ratio

    @property
    def speedup(self) -> float:
        """Returns how many times as fast the candidate is."""
        return 1 / self.ratio.median


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of one workload on a device. `by_calls` says why calls were timed, and not captured graphs.

    `bytes` has every tensor that is read once, and every one that is written; a copy within the device's memory moves
    `copy_bytes_per_s`. `without` names baselines that it was not timed beside, and says why; `left_out` counts
    disturbed blocks of samples.
    """

    workload: Workload
    fidelity: Fidelity
    timing: Timing
    baselines: tuple[Baseline, ...]
    without: tuple[str, ...]
    by_calls: str
    stopped: Stopped
    left_out: int
    bytes: int
    copy_bytes_per_s: float
    environment: Environment

    @property
    def bytes_per_s(self) -> float:
        """The bandwidth that it would take to move every tensor once."""
        return self.bytes / self.timing.median_us * 1e6

    @property
    def share_of_limit(self) -> float:
        """That bandwidth as a share of what a copy reaches: 1 where nothing but moving the tensors takes time."""
        return self.bytes_per_s / self.copy_bytes_per_s


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """An entry without a time, and the reason."""

    workload: Workload | None
    fidelity: Fidelity
    because: str


Speed = Measured | NotMeasured


def speedup(speeds: Iterable[Speed]) -> float | None:
    """Returns the geometric mean over all workloads of how many times as fast the candidate is as its first baseline.

    None where that is not the same for all: a mean over different ones says nothing.
    """
    firsts = [s.baselines[0] if s.baselines else None for s in speeds if isinstance(s, Measured)]
    found = [first for first in firsts if first is not None]
    if len(found) < len(firsts) or len({first.name for first in found}) != 1:
        return None
    return 1 / statistics.geometric_mean([first.ratio.median for first in found])
