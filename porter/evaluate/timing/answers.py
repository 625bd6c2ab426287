"""Gives the right answers at sizes that are not emulated: the original itself, built by nvcc and run on the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract, Workload
from porter.contract.model.dtype import DType, decode
from porter.evaluate.judge.checking import compared
from porter.execution.job import Construction, Job, Run, TensorValue
from porter.native.timed import Timed
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, outputs
from porter.oracle.reference import Expected


class Answers(Protocol):
    """Whoever knows what is right."""

    def given(self, workload: Workload) -> Job:
        """Returns the call that it answers."""

    def __call__(self, workload: Workload) -> Expected | str:
        """Returns what is expected of a workload, or why nothing is known of it."""


# What sums in another order lose, in ulps of the largest element: fewer where a type has few digits to lose.
_LEAST_ULPS, _NARROW_ULPS, _NARROW = 64.0, 8.0, 2.0**-11


def _none(_sizes: Mapping[str, int]) -> None:
    """Returns None: something that is not a class is not built."""


@dataclass(frozen=True)
class NativeAnswers:
    """The `original` on the device; `construction` says how its class is built at some sizes."""

    contract: Contract
    original: Timed
    construction: Callable[[Mapping[str, int]], Construction | None] = _none

    def given(self, workload: Workload) -> Job:
        """Returns the call that the original gets."""
        return replace(job(self.contract, workload), construction=self.construction(workload.sizes))

    def __call__(self, workload: Workload) -> Expected | str:
        """Returns the original's answer, or the reason why it does not run."""
        run = self.original.run(job(self.contract, workload))
        if not run.finished:
            return f"the original does not run on the device: {fault_of(run)}"
        return Expected(workload, outputs(self.contract, run), None, construction=self.construction(workload.sizes))


def fault_of(run: Run) -> str:
    """Returns why a run did not come to its end."""
    return next((f.message for f in run.faults if f.fatal), f"it ended with exit code {run.exit_code}")


def differs(contract: Contract, expected: Expected, run: Run) -> str:
    """Returns where the answer of `run` is wrong by more than the order of its sums explains; empty where it is right.

    There is no measured tolerance at these sizes. What an element loses grows with the root of how many inputs there
    are to each; an error larger than that is compared as everywhere else, which takes a hundred times as long.
    """
    got, want = outputs(contract, run), expected.outputs
    if [(n, v.dtype, v.shape) for n, v in got.tensors] == [(n, v.dtype, v.shape) for n, v in want.tensors]:
        terms = sum(value.count for _, value in want.tensors)
        pairs = zip(got.tensors, want.tensors, strict=True)
        if all(_is_rounding(a, b, terms / max(1, b.count)) for (_, a), (_, b) in pairs):
            return ""
        got, expected = _looked_at(got), replace(expected, outputs=_looked_at(want))
    return next((f"{n} {c.worst}" for n, c in compared(contract, expected, got) if not c.passed), "")


def _looked_at(answer: Outputs) -> Outputs:
    """Returns `answer` with a list of the compared elements for each tensor of which only some came back."""
    tensors = ((n, v if v.is_whole else replace(v, shape=(v.storage.size,))) for n, v in answer.tensors)
    return replace(answer, tensors=tuple(tensors))


def _is_rounding(got: TensorValue, want: TensorValue, terms: float) -> bool:
    if not want.dtype.is_float:
        return bool(np.array_equal(got.storage, want.storage))
    left, right = _floats(got), _floats(want)
    largest = float(np.abs(right).max(initial=0.0, where=np.isfinite(right)))
    ulps = _NARROW_ULPS if want.dtype.epsilon > _NARROW else max(_LEAST_ULPS, math.sqrt(terms))
    with np.errstate(invalid="ignore"):
        far = ~(np.abs(left - right) <= ulps * want.dtype.epsilon * largest)
    left, right = left[far], right[far]  # NaN, too
    return bool(((left == right) | (np.isnan(left) & np.isnan(right))).all())


def _floats(tensor: TensorValue) -> NDArray[Any]:
    """Returns the elements in a type that numpy computes with."""
    native = tensor.dtype in (DType.FLOAT32, DType.FLOAT64)
    return tensor.storage if native else decode(tensor.storage, tensor.dtype).astype(np.float64)
