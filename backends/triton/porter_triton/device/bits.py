# ruff: noqa: ANN001, ANN201, SIM108 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""Floats by their bits and rounding to whole numbers."""

import triton
import triton.language as tl


@triton.jit
def signbit(x):
    """Returns whether the sign bit of a float is set."""
    if x.dtype == tl.float64:
        sign = x.to(tl.int64, bitcast=True) < 0
    else:
        sign = x.to(tl.int32, bitcast=True) < 0
    return sign


@triton.jit
def copysign(x, y):
    """The magnitude of x with the sign of y; by bits, for Triton's -x is 0 - x, which makes 0 of 0."""
    if x.dtype == tl.float64:
        sign = y.to(tl.int64, bitcast=True) & -9223372036854775808
        z = (tl.abs(x).to(tl.int64, bitcast=True) | sign).to(tl.float64, bitcast=True)
    else:
        sign = y.to(tl.int32, bitcast=True) & -2147483648
        z = (tl.abs(x).to(tl.int32, bitcast=True) | sign).to(tl.float32, bitcast=True)
    return z


@triton.jit
def trunc(x):
    """Towards zero."""
    return tl.where(x < 0.0, tl.ceil(x), tl.floor(x))


@triton.jit
def round_away(x):
    """To the nearest whole number, halves away from zero."""
    a = tl.abs(x)
    whole = tl.floor(a)
    return copysign(tl.where(a - whole >= 0.5, whole + 1.0, whole), x)


@triton.jit
def rint(x):
    """To the nearest whole number, halves to the even one: what an addition leaves where its result has no fraction."""
    a = tl.abs(x)
    if x.dtype == tl.float64:
        whole = tl.where(a < 4503599627370496.0, (a + 4503599627370496.0) - 4503599627370496.0, a)
    else:
        whole = tl.where(a < 8388608.0, (a + 8388608.0) - 8388608.0, a)
    return copysign(whole, x)
