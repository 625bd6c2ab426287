# ruff: noqa: ANN001, ANN201, PLR0124, SIM108 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""Floats by their bits and rounding to whole numbers."""

import triton
import triton.language as tl


@triton.jit
def signbit(x):
    """Whether the sign bit of a float is set."""
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
def fraction(x):
    """What trunc leaves, with the sign of x; 0 of infinity."""
    return copysign(tl.where(tl.abs(x) == float("inf"), 0.0, x - trunc(x)), x)


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


@triton.jit
def power_of_two(n):
    """2.0**n as a float64, for n from -1022 to 1023."""
    return ((n.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)


@triton.jit
def ldexp(x, n):
    """x * 2**n for an int32 n; in three steps, for 2**n need not be a float64 where the result is."""
    n = tl.minimum(tl.maximum(n, -2200), 2200)
    third = power_of_two(n // 3)
    return (x.to(tl.float64) * third * third * power_of_two(n - 2 * (n // 3))).to(x.dtype)


@triton.jit
def exponent(x):
    """The n of x = m * 2**n with 0.5 <= |m| < 1, as int32; 0 for 0, and for what is not finite."""
    y = x.to(tl.float64) * tl.where(tl.abs(x) < 1e-30, 18014398509481984.0, 1.0)
    n = ((y.to(tl.int64, bitcast=True) >> 52) & 0x7FF).to(tl.int32) - tl.where(tl.abs(x) < 1e-30, 1076, 1022)
    return tl.where((x == 0.0) | (tl.abs(x) == float("inf")) | (x != x), 0, n)


@triton.jit
def mantissa(x):
    """The m of x = m * 2**n with 0.5 <= |m| < 1; x where it is 0 or not finite."""
    return ldexp(x, -exponent(x))


@triton.jit
def half_below(x):
    """The greatest half that is not above a float32."""
    h = x.to(tl.float16)
    bits = h.to(tl.int16, bitcast=True)
    below = tl.where(bits < 0, bits + 1, bits - 1).to(tl.int16).to(tl.float16, bitcast=True)
    return tl.where(h.to(tl.float32) > x, below, h)


@triton.jit
def half_above(x):
    """The least half that is not below a float32."""
    h = x.to(tl.float16)
    bits = h.to(tl.int16, bitcast=True)
    above = tl.where(bits < 0, bits - 1, bits + 1).to(tl.int16).to(tl.float16, bitcast=True)
    return tl.where(h.to(tl.float32) < x, above, h)


@triton.jit
def half_towards_zero(x):
    """The half next to a float32 on the side of zero, or the float itself if it is one."""
    return tl.where(x < 0.0, half_above(x), half_below(x))
