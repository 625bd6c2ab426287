"""Decides when two tensors are the same answer. This is the one place where tolerance, NaN and infinity are decided.

- Integers and booleans are equal or wrong.
- A NaN is right where the wanted value is NaN, and nowhere else; its sign and payload mean nothing.
- An infinity is right where the wanted value is the same infinity. -0.0 equals 0.0.
- Any other difference is allowed up to
      atol' + rtol * |want| + own error of the original + 2 ulps of the element type + the smallest normal number
  `atol'` is `atol` shrunk with the tensor when all of it is below 1: outputs around 1e-6 are not "close to zero".
  The own error of the original is what a run that rounds otherwise (the yardstick) shows it to lose, doubled: a port
  that adds in another order errs as much in another direction. It is taken over all elements no larger than four times
  this one, and over the next hundredth of all at least, so that neither a lucky element is held to exactness nor a
  small one excused by a large one. It never exceeds the root of the type's epsilon times the largest element, or the
  largest term where sums may cancel: a run further away than that computed something else (bit tricks on floats do)
  and says nothing about rounding.
  What is smaller than the smallest normal number of float32 and bfloat16 some devices take for zero, others do not.
- The type is that of the elements, or the coarser one that they were computed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Tolerance
from porter.contract.model.dtype import DType, decode
from porter.execution.job import TensorValue

# rtol is about 100 ulps of float32 and float64, which holds sums of 1e5 signed terms added in another order (error
# grows with the root of the count) after an exp or a division; half types lose an ulp at each of a few stores: 4.
DEFAULT_TOLERANCE: Mapping[DType, Tolerance] = {
    DType.FLOAT64: Tolerance(rtol=2e-14, atol=2e-15),
    DType.FLOAT32: Tolerance(rtol=1e-5, atol=1e-6),
    DType.FLOAT16: Tolerance(rtol=4e-3, atol=1e-3),
    DType.BFLOAT16: Tolerance(rtol=3.2e-2, atol=8e-3),
    DType.FLOAT8_E4M3FN: Tolerance(rtol=1.25e-1, atol=2e-3),
    DType.FLOAT8_E5M2: Tolerance(rtol=2.5e-1, atol=2e-5),
}
SMALLEST_NORMAL: Mapping[DType, float] = {
    DType.FLOAT16: 2.0**-14, DType.BFLOAT16: 2.0**-126, DType.FLOAT32: 2.0**-126, DType.FLOAT64: 2.0**-1022,
}  # fmt: skip
_FLUSHED = {DType.FLOAT32: 2.0**-126, DType.BFLOAT16: 2.0**-126}
# A sixteenth of what is too large for a type: from here on an order of operations may go beyond it on the way.
_NEAR_OVERFLOW = {DType.FLOAT16: 2.0**12, DType.BFLOAT16: 2.0**124, DType.FLOAT32: 2.0**124, DType.FLOAT64: 2.0**1020}
_OWN_ERROR_FACTOR = 2.0
_NEIGHBOURHOOD = 4.0
_FEWEST_NEIGHBOURS = 100  # no fewer than a hundredth of all: where sums cancel, hardly any is as small
_ULPS = 2.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The largest finite errors over all elements, and the element furthest outside its bound, if any.

    `is_extreme` where the wanted value of every such element is no number, or smaller than the smallest normal one.
    """

    max_abs_error: float
    max_rel_error: float
    passed: bool
    worst: str = ""
    is_extreme: bool = False


def compare(
    got: TensorValue,
    want: TensorValue,
    tolerance: Tolerance | None,
    yardstick: TensorValue | None = None,
    *,
    computed_in: DType | None = None,
    largest_term: float = 0.0,
) -> Comparison:
    """Returns whether `got` is as good an answer as `want`; `yardstick` is the original's when it rounds otherwise.

    `tolerance` None means the default of `want`'s element type. `computed_in` is the type of the original's arithmetic
    where that is coarser: then its default tolerance holds as well. `largest_term` is the largest number that may be
    part of a sum that cancelled.
    """
    if got.dtype is not want.dtype or got.shape != want.shape:
        worst = f"got {got.dtype.value}{list(got.shape)}, want {want.dtype.value}{list(want.shape)}"
        return Comparison(float("inf"), float("inf"), False, worst)
    if not want.dtype.is_float:
        return _compare_exactly(got, want)
    got_values, want_values = _floats(got), _floats(want)
    bound = tolerance or DEFAULT_TOLERANCE[want.dtype]
    epsilon = want.dtype.epsilon
    if computed_in is not None:
        coarse, epsilon = DEFAULT_TOLERANCE[computed_in], max(epsilon, computed_in.epsilon)
        bound = Tolerance(max(bound.rtol, coarse.rtol), max(bound.atol, coarse.atol))
    allowed = _allowed(want_values, bound, epsilon) + _FLUSHED.get(want.dtype, 0.0)
    beyond = _overflowed(got_values, want_values, _NEAR_OVERFLOW.get(want.dtype, np.inf))
    got_values = np.where(beyond, want_values, got_values)
    low = SMALLEST_NORMAL.get(want.dtype, 0.0)
    found = _compare_floats(got_values, want_values, allowed, want.shape, low)
    if found.passed or yardstick is None or yardstick.shape != want.shape or not yardstick.dtype.is_float:
        return found
    # What the original loses itself takes sorting, and only adds to what is allowed: most answers do not need it.
    most = epsilon**0.5 * max(_peak(want_values), largest_term)
    allowed = allowed + np.minimum(_own_error(want_values, _floats(yardstick)), most)
    return _compare_floats(got_values, want_values, allowed, want.shape, low)


def _floats(tensor: TensorValue) -> NDArray[np.float64]:
    return decode(tensor.storage.reshape(-1), tensor.dtype).astype(np.float64)


def _overflowed(got: NDArray[np.float64], want: NDArray[np.float64], near: float) -> NDArray[np.bool_]:
    """Returns the elements of at least `near` that are infinities of the same sign in `got`, where `want` has some.

    A running product is infinite from some place on, which depends on the order of its factors.
    """
    finite = np.isfinite(want)
    alike = finite & (np.abs(want) >= near) & np.isinf(got) & (np.sign(got) == np.sign(want))
    return np.asarray(alike & bool(np.isinf(want).any()))


def _compare_exactly(got: TensorValue, want: TensorValue) -> Comparison:
    got_raw, want_raw = got.storage.reshape(-1), want.storage.reshape(-1)
    different = np.flatnonzero(got_raw != want_raw)
    if different.size == 0:
        return Comparison(0.0, 0.0, True)
    first = int(different[0])
    errors = np.abs(got_raw[different].astype(np.float64) - want_raw[different].astype(np.float64))
    relative = errors / np.maximum(np.abs(want_raw[different].astype(np.float64)), 1.0)
    place = _place(first, want.shape)
    worst = f"at {place} got {got_raw[first]}, want {want_raw[first]} ({different.size} of {want_raw.size} differ)"
    return Comparison(float(errors.max()), float(relative.max()), False, worst)


def _allowed(want: NDArray[np.float64], tolerance: Tolerance, epsilon: float) -> NDArray[np.float64]:
    """Returns the absolute error each element may have, before the original's own."""
    magnitude = np.where(np.isfinite(want), np.abs(want), 0.0)
    return tolerance.atol * min(1.0, _peak(want)) + (tolerance.rtol + _ULPS * epsilon) * magnitude


def _own_error(want: NDArray[np.float64], yardstick: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns what the original itself loses at elements of this size or smaller, doubled."""
    finite = np.isfinite(want) & np.isfinite(yardstick)
    magnitude = np.abs(np.where(finite, want, 0.0))
    error = np.abs(np.where(finite, want, 0.0) - np.where(finite, yardstick, 0.0))
    order = np.argsort(magnitude, kind="stable")
    envelope = np.maximum.accumulate(error[order]) if error.size else error
    reach = np.searchsorted(magnitude[order], magnitude * _NEIGHBOURHOOD, side="right") - 1
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    reach = np.maximum(reach, np.minimum(rank + order.size // _FEWEST_NEIGHBOURS, order.size - 1))
    return np.asarray(_OWN_ERROR_FACTOR * np.where(finite, envelope[reach] if error.size else error, 0.0))


def _peak(values: NDArray[np.float64]) -> float:
    """Returns the largest finite magnitude."""
    return float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))


def _compare_floats(
    got: NDArray[np.float64],
    want: NDArray[np.float64],
    allowed: NDArray[np.float64],
    shape: tuple[int, ...],
    low: float,
) -> Comparison:
    both_finite = np.isfinite(got) & np.isfinite(want)
    error = np.abs(np.where(both_finite, got, 0.0) - np.where(both_finite, want, 0.0))
    # Of what is not finite, only NaN for NaN and an infinity for the same infinity are right.
    alike = both_finite | (np.isnan(got) & np.isnan(want)) | (got == want)
    relative = _ratio(error, np.abs(np.where(both_finite, want, 1.0)))
    max_abs = float(error.max(initial=0.0)) if bool(alike.all()) else float("inf")
    max_rel = float(relative.max(initial=0.0)) if bool(alike.all()) else float("inf")
    wrong = ~alike | (error > allowed)
    if not wrong.any():
        return Comparison(max_abs, max_rel, True)
    excess = np.where(alike, _ratio(error, allowed), np.inf)
    first = int(np.argmax(np.where(wrong, excess, -1.0)))
    worst = (
        f"at {_place(first, shape)} got {got[first]:.9g}, want {want[first]:.9g}, allowed error {allowed[first]:.3g} "
        f"({int(wrong.sum())} of {want.size} outside)"
    )
    is_extreme = not (wrong & np.isfinite(want) & (np.abs(want) >= low)).any()
    return Comparison(max_abs, max_rel, False, worst, is_extreme)


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.asarray(part / np.maximum(whole, np.finfo(np.float64).tiny))


def _place(flat: int, shape: tuple[int, ...]) -> str:
    return str([int(i) for i in np.unravel_index(flat, shape)]) if shape else "[]"
