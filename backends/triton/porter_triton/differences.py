"""Measures how far the answers of two runs lie apart."""

from __future__ import annotations

import math

import numpy as np

from porter.contract.model.dtype import decode
from porter.execution.job import Run, TensorValue


def same(one: TensorValue, other: TensorValue) -> bool:
    """Returns True for equal shapes and bytes."""
    return one.shape == other.shape and one.storage.tobytes() == other.storage.tobytes()


def is_other_everywhere(left: TensorValue, given: TensorValue) -> bool:
    """Returns True where no element of `left` is as in `given`, and there is one."""
    pair = (np.ascontiguousarray(v.storage).reshape(-1).view(np.uint8).reshape(v.count, -1) for v in (left, given))
    return left.count > 0 and bool(np.not_equal(*pair).any(axis=1).all())


def distance(one: Run, other: Run) -> float:
    """Returns the largest difference between two elements of the answers: infinite where one is not a number."""
    if len(one.results) != len(other.results):
        return math.inf
    pairs = (*zip(one.outputs, other.outputs, strict=True), *zip(one.results, other.results, strict=True))
    return max((_apart(a, b) for a, b in pairs if not same(a, b)), default=0.0)


def _apart(one: TensorValue, other: TensorValue) -> float:
    if one.shape != other.shape or one.dtype != other.dtype:
        return math.inf
    a, b = (decode(value.storage, value.dtype).astype(np.float64) for value in (one, other))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))
