"""Checks that most elements of an answer in 16 or 8 bits are rounded as the original's are.

A bound on each element cannot say that: it has to allow the few steps that one element of many may be off by, and a
number that was stored through bfloat16 lies within the four steps of float16 that are allowed, one that was cut off
within the one step that every rounding may differ by. Over many elements both show: a port that rounds once, as its
original does, is off by more than a step almost nowhere, and where it is off by one it is as often above as below.
An original that rounds on the way is off as often itself, which the yardstick shows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.dtype import DType, decode
from porter.execution.job import TensorValue

# The exponent of the smallest normal number: below it steps are as large as numbers, and some devices have zeros.
_LEAST_EXPONENT = {
    DType.FLOAT16: -14, DType.BFLOAT16: -126, DType.FLOAT8_E4M3FN: -6, DType.FLOAT8_E5M2: -14,
}  # fmt: skip
_FEWEST = 64  # different numbers: fewer say nothing of a distribution
# Of a store of float16 through bfloat16 five in eight are off by more than a step, which an unrolled kernel may do in
# one of eight places; of numbers that are cut off one in two is a step nearer to zero.
_MOST_OFF = 0.03
_MOST_ONE_WAY = 0.2
_OWN_FACTOR = 2.0

Floats = NDArray[np.float64]


def rounded_otherwise(got: TensorValue, want: TensorValue, yardstick: TensorValue | None) -> str:
    """Says how elements of `got` are rounded and those of `want` are not; empty where they are alike.

    `yardstick` is what the original gives where it rounds otherwise. Both are answers of one type and shape.
    """
    if want.dtype not in _LEAST_EXPONENT:
        return ""
    wanted = _numbers(want)
    told = np.isfinite(wanted) & (np.abs(wanted) >= 2.0 ** _LEAST_EXPONENT[want.dtype])
    if np.unique(wanted[told]).size < _FEWEST:
        return ""
    steps = _steps(_numbers(got)[told], wanted[told], want.dtype)
    own = _steps(_numbers(yardstick)[told], wanted[told], want.dtype) if _is_like(yardstick, want) else 0.0 * steps
    off, lean = _off(steps), _lean(steps, wanted[told])
    step = f"one step of {want.dtype.value}"
    if off > _MOST_OFF + _OWN_FACTOR * _off(own):
        return f"{off:.0%} of {steps.size} elements differ by more than {step}, as when they are stored in fewer bits"
    if lean > _MOST_ONE_WAY + _OWN_FACTOR * _lean(own, wanted[told]):
        return (
            f"most differences are {step} in one direction ({lean:.0%} of {steps.size} elements), as when it is cut off"
        )
    return ""


def _is_like(yardstick: TensorValue | None, want: TensorValue) -> bool:
    return yardstick is not None and yardstick.dtype.is_float and yardstick.shape == want.shape


def _numbers(tensor: TensorValue | None) -> Floats:
    assert tensor is not None
    return decode(tensor.storage.reshape(-1), tensor.dtype).astype(np.float64)


def _steps(numbers: Floats, wanted: Floats, dtype: DType) -> Floats:
    """Returns how many numbers of the type lie in between; values that are not finite are compared elsewhere."""
    exponents = np.frexp(wanted)[1] - 1
    return np.asarray(np.where(np.isfinite(numbers), numbers - wanted, 0.0) / np.ldexp(dtype.epsilon, exponents))


def _off(steps: Floats) -> float:
    """Returns the part of the elements that are off by more than one step."""
    return float(np.mean(np.abs(steps) > 1.0))


def _lean(steps: Floats, wanted: Floats) -> float:
    """Returns how much more often elements are off in one direction than the other: up or down, to zero or from it."""
    direction = np.sign(steps)
    return max(abs(float(direction.mean())), abs(float((direction * np.sign(wanted)).mean())))
