"""The right answers at sizes that nobody emulates: the original itself, built by nvcc and run on the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from porter.contract.contract import Contract, Workload
from porter.contract.dtype import decode
from porter.evaluate.checking import compared
from porter.native.timed import Timed
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, outputs, widest
from porter.oracle.reference import Expected
from porter.simt.job import Run

# What is expected of a workload, or why nothing is known of it.
Answers = Callable[[Workload], Expected | str]
# What sums in another order lose, in ulps of the largest element: fewer where a type has few digits to lose.
_LEAST_ULPS, _NARROW_ULPS, _NARROW = 64.0, 8.0, 2.0**-11


@dataclass(frozen=True)
class NativeAnswers:
    """The `original` on the device, run twice: what differs between the runs is what it loses to the order of sums."""

    contract: Contract
    original: Timed

    def __call__(self, workload: Workload) -> Expected | str:
        """What it gives; the reason where it does not run."""
        runs = [self.original.run(job(self.contract, workload)) for _ in range(2)]
        if broken := next((fault_of(run) for run in runs if not run.finished), ""):
            return f"the original does not run on the device: {broken}"
        first, second = (outputs(self.contract, run) for run in runs)
        return Expected(workload, first, widest(first, [second]))


def fault_of(run: Run) -> str:
    """Why a run did not come to its end."""
    return next((f.message for f in run.faults if f.fatal), f"it ended with exit code {run.exit_code}")


def differs(contract: Contract, expected: Expected, run: Run) -> str:
    """Where the answer of `run` is wrong by more than the order of its sums explains; empty where it is right.

    Their length grows with the sizes, and with its root what their order costs: at these sizes nobody drew a tolerance.
    """
    got = outputs(contract, run)
    return next(
        (
            f"{name} {comparison.worst}"
            for name, comparison in compared(contract, expected, got)
            if not comparison.passed and not _is_rounding(got, expected.outputs, name)
        ),
        "",
    )


def _is_rounding(got: Outputs, want: Outputs, name: str) -> bool:
    a, b = dict(got.tensors).get(name), dict(want.tensors).get(name)
    if a is None or b is None or not b.dtype.is_float or (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    left, right = decode(a.storage, a.dtype), decode(b.storage, b.dtype)
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return False
    terms = max((value.storage.size for _, value in want.tensors), default=1)
    narrow = b.dtype.epsilon > _NARROW
    ulps = _NARROW_ULPS if narrow else max(_LEAST_ULPS, math.sqrt(terms))
    return float(np.abs(left - right).max(initial=0.0)) <= ulps * b.dtype.epsilon * float(
        np.abs(right).max(initial=0.0)
    )
