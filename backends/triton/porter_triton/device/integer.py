# ruff: noqa: ANN001, ANN201 - Triton reads annotations as its own
# mypy: ignore-errors
"""Integer intrinsics of CUDA that are no operators."""

import triton
import triton.language as tl


@triton.jit
def popc(x):
    """The number of bits set in a uint32 or uint64, as int32."""
    if x.dtype == tl.uint64:
        x = x - ((x >> 1) & 0x5555555555555555)
        x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
        x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
        x = (x * 0x0101010101010101) >> 56
    else:
        x = x - ((x >> 1) & 0x55555555)
        x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
        x = (x + (x >> 4)) & 0x0F0F0F0F
        x = (x * 0x01010101) >> 24
    return x.to(tl.int32)


@triton.jit
def clz(x):
    """The number of zeros above the highest bit set in a uint32 or uint64, as int32."""
    for step in tl.static_range(6):
        x = x | (x >> (1 << step)) if x.dtype.primitive_bitwidth > (1 << step) else x
    return popc(~x)


@triton.jit
def brev(x):
    """A uint32 or uint64 with its bits in the opposite order."""
    if x.dtype == tl.uint64:
        x = ((x >> 1) & 0x5555555555555555) | ((x & 0x5555555555555555) << 1)
        x = ((x >> 2) & 0x3333333333333333) | ((x & 0x3333333333333333) << 2)
        x = ((x >> 4) & 0x0F0F0F0F0F0F0F0F) | ((x & 0x0F0F0F0F0F0F0F0F) << 4)
        x = ((x >> 8) & 0x00FF00FF00FF00FF) | ((x & 0x00FF00FF00FF00FF) << 8)
        x = ((x >> 16) & 0x0000FFFF0000FFFF) | ((x & 0x0000FFFF0000FFFF) << 16)
        x = (x >> 32) | (x << 32)
    else:
        x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1)
        x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2)
        x = ((x >> 4) & 0x0F0F0F0F) | ((x & 0x0F0F0F0F) << 4)
        x = ((x >> 8) & 0x00FF00FF) | ((x & 0x00FF00FF) << 8)
        x = (x >> 16) | (x << 16)
    return x


@triton.jit
def mulhi(x, y):
    """The upper half of the product of two int32 or two int64."""
    if x.dtype == tl.int64:
        high = tl.umulhi(x.to(tl.uint64, bitcast=True), y.to(tl.uint64, bitcast=True)).to(tl.int64, bitcast=True)
        high = high - tl.where(x < 0, y, 0) - tl.where(y < 0, x, 0)
    else:
        high = ((x.to(tl.int64) * y.to(tl.int64)) >> 32).to(tl.int32)
    return high
