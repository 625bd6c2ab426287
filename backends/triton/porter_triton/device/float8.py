# ruff: noqa: ANN001, ANN201, PLR0124 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""8-bit floats by their bits: E4M3 and E5M2 kept in bytes."""

import triton
import triton.language as tl


@triton.jit
def e4m3_to_half(bits):
    """The number of 4 exponent bits and 3 of the mantissa; it has no infinity."""
    magnitude = bits & 0x7F
    half = (magnitude.to(tl.uint16) << 7).to(tl.float16, bitcast=True).to(tl.float32) * 256.0
    whole = tl.where(magnitude == 0x7F, float("nan"), half).to(tl.float16).to(tl.uint16, bitcast=True)
    return (whole | ((bits & 0x80).to(tl.uint16) << 8)).to(tl.float16, bitcast=True)


@triton.jit
def e5m2_to_half(bits):
    """The number of 5 exponent bits and 2 of the mantissa: the upper half of a half."""
    return (bits.to(tl.uint16) << 8).to(tl.float16, bitcast=True)


@triton.jit
def double_to_odd_float(x):
    """A float that rounds on to fewer digits as x does: cut off, with the last digit set where digits were lost."""
    near = x.to(tl.float32)
    bits = near.to(tl.int32, bitcast=True)
    odd = (bits - (tl.abs(near).to(tl.float64) > tl.abs(x))) | 1
    return tl.where(near.to(tl.float64) == x, bits, odd).to(tl.float32, bitcast=True)


@triton.jit
def float_to_float8(x, digits: tl.constexpr, least: tl.constexpr, largest: tl.constexpr, overflow: tl.constexpr):
    """The byte nearest to x, with `digits` of the mantissa; `least` is the smallest exponent, `overflow` the byte for
    what is beyond `largest`."""
    magnitude = tl.minimum(tl.abs(x), 131072.0)
    bits = magnitude.to(tl.int32, bitcast=True)
    cut: tl.constexpr = 23 - digits
    half: tl.constexpr = (1 << (cut - 1)) - 1 - ((126 + least) << 23)
    regular = (bits + half + ((bits >> cut) & 1)) >> cut
    # Added to this number, a smaller one is rounded to multiples of the smallest.
    anchor: tl.constexpr = (127 + cut + least) << 23
    small = (magnitude + tl.cast(anchor, tl.int32).to(tl.float32, bitcast=True)).to(tl.int32, bitcast=True) - anchor
    byte = tl.where(bits < ((127 + least) << 23), small, regular)
    byte = tl.where(byte > largest, overflow, byte) | ((x.to(tl.int32, bitcast=True) >> 24) & 0x80)
    return tl.where(x != x, 0x7F, byte).to(tl.uint8)
