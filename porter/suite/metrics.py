"""Measures how well a suite was brought up; the formulas are in docs/metrics.md.

With n operators, of which operator i has the speedup s_i over the baseline, 0 where its port is not verified:
    corr     the share that is verified
    fast_p   the share with s_i > p (KernelBench, arXiv 2502.10517, section 3)
    amsr     the mean of s_i, where a speedup below 1 counts as 0 (Kernel-Smith, arXiv 2603.28342)
    geomean  the geometric mean of s_i over the verified ones alone
    limit    the geometric mean over these of the least time that moving their tensors takes over that of the port
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from porter.suite.result import Result


@dataclass(frozen=True, slots=True)
class Metrics:
    """Counts and means over some operators. What needs times is None where no port was timed against the baseline.

    `timed` counts the operators that have a speedup; the others count as 0 in `fast` and `amsr`.
    """

    operators: int
    ported: int
    verified: int
    timed: int
    corr: float
    fast: float | None
    amsr: float | None
    geomean: float | None
    limit: float | None


def metrics(results: Sequence[Result], baseline: str, p: float = 1.0) -> Metrics:
    """The metrics of `results` against `baseline`; `p` is that of fast_p."""
    speedups = [speedup_of(result, baseline) for result in results]
    timed = [speedup for speedup in speedups if speedup is not None]
    measured = [speedup or 0.0 for speedup in speedups] if timed else []
    verified = sum(result.is_verified for result in results)
    return Metrics(
        operators=len(results),
        ported=sum(result.is_ported for result in results),
        verified=verified,
        timed=len(timed),
        corr=verified / len(results) if results else 0.0,
        fast=_mean([float(speedup > p) for speedup in measured]),
        amsr=_mean([speedup if speedup >= 1 else 0.0 for speedup in measured]),
        geomean=geometric_mean(timed),
        limit=geometric_mean([r.share_of_limit for r in results if r.is_verified and r.share_of_limit]),
    )


def speedup_of(result: Result, baseline: str) -> float | None:
    """The speedup over `baseline`: there is one only where a right port was timed."""
    return result.speedups.get(baseline) if result.is_verified else None


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of no values."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
