"""Answers that their own type could not hold: what they are computed from under- or overflows on the way.

Another order of operations does so elsewhere, or nowhere, so such an answer says nothing of a candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from porter.comparison.compare import SMALLEST_NORMAL
from porter.contract.model.contract import Contract, Distribution
from porter.execution.job import Execute, TensorValue
from porter.oracle.jobs import job
from porter.oracle.outputs import Outputs, numbers_in, outputs
from porter.oracle.reference import Expected, Reference

_MOST_LOST = 1 / 8  # of the largest number of an answer
_BARELY_HELD = 2.0**-960  # in double precision: what is a little smaller is zero there, too
_SAID = "not compared, since the original under- or overflows there in its own type: {}"

Mask = NDArray[np.bool_]


def without_lost(
    reference: Reference, workload: str, twin: Callable[[], Execute | None], *, is_extreme: bool
) -> Reference:
    """Returns `reference` in which elements of a workload are known that are lost to an under- or overflow which the
    original's `twin`, in double precision, does not have; near the lowest numbers such an answer does not decide.

    It is `reference` itself where that excuses nothing. Unless what is wrong `is_extreme` it cannot: no twin is made.
    """
    at = next((i for i, e in enumerate(reference.expected) if e.workload.name == workload), None)
    if at is None:
        return reference
    expected = reference.expected[at]
    is_lowest = expected.workload.distribution is Distribution.LOWEST
    if expected.wider or not (is_lowest or is_extreme) or (execute := twin()) is None:
        return reference
    known = _known(reference.contract, expected, execute)
    others = reference.expected
    return reference if known is expected else replace(reference, expected=(*others[:at], known, *others[at + 1 :]))


def without_lost_elements(got: TensorValue, own: TensorValue, wider: TensorValue) -> TensorValue:
    """Returns an answer that has the original's `own` elements where these are lost, and it may have what it has: any
    number where they overflow, no number or a small one where they are too small.
    """
    if not own.dtype.is_float or (got.dtype, got.shape) != (own.dtype, own.shape):
        return got
    numbers, right = numbers_in(got), numbers_in(wider)
    small = 2 * np.abs(right) + SMALLEST_NORMAL.get(own.dtype, 0.0)
    is_as_small = ~np.isfinite(numbers) | (np.abs(numbers) <= small)
    excused = _overflown(own, wider) | (_underflown(own, wider) & is_as_small)
    return replace(got, storage=np.where(excused.reshape(got.storage.shape), own.storage, got.storage))


def lost_elements(reference: Reference) -> str:
    """Returns what is said of elements that were not compared; empty where all were."""
    said = []
    for expected in reference.expected:
        if expected.wider:
            pairs = zip(expected.outputs.tensors, expected.wider.tensors, strict=True)
            masks = [_overflown(own, wider) | _underflown(own, wider) for (_, own), (_, wider) in pairs]
            count, whole = (sum(map(function, masks)) for function in (np.count_nonzero, np.size))
            said.append(f"{count} of {whole} elements of {expected.workload.name}")
    return _SAID.format(", ".join(said)) if said else ""


def is_lost(own: Outputs, right: Outputs) -> bool:
    """Returns whether an answer is nothing like the right one."""
    pairs = [(numbers_in(o), numbers_in(r)) for (_, o), (_, r) in zip(own.tensors, right.tensors, strict=True)]
    finite = [(o[np.isfinite(r)], r[np.isfinite(r)]) for o, r in pairs]
    return any(r.size and not np.abs(o - r).max() <= _MOST_LOST * np.abs(r).max() for o, r in finite)


def _known(contract: Contract, expected: Expected, twin: Execute) -> Expected:
    """Returns what is expected, with what double precision shows of it; `expected` itself where that is nothing."""
    run = twin(job(contract, expected.workload, given=expected.arguments))
    if not run.finished:
        return expected
    own, right = expected.outputs, outputs(contract, run)
    if expected.workload.distribution is Distribution.LOWEST:
        return replace(expected, decides=False) if expected.decides and is_lost(own, right) else expected
    pairs = zip(own.tensors, right.tensors, strict=True)
    is_any = any((_overflown(o, r) | _underflown(o, r)).any() for (_, o), (_, r) in pairs if o.dtype.is_float)
    return replace(expected, wider=right) if is_any else expected


def _overflown(own: TensorValue, wider: TensorValue) -> Mask:
    """Returns where there is no number in the place of one that double precision has."""
    return np.asarray(np.isfinite(numbers_in(wider)) & ~np.isfinite(numbers_in(own)))


def _underflown(own: TensorValue, wider: TensorValue) -> Mask:
    """Returns where there is zero, or next to it, in the place of another number that double precision has; it has none
    any more where others are about to be zero in it, too.
    """
    here, there = numbers_in(own), numbers_in(wider)
    ends = (there != 0) & (np.abs(there) < _BARELY_HELD)
    is_small = np.abs(here) < SMALLEST_NORMAL.get(own.dtype, 0.0)
    is_another = (here != there) | (bool(ends.any()) & (here == 0))
    return np.asarray(is_small & np.isfinite(there) & is_another)
