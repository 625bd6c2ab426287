# ruff: noqa: ANN001, ANN201 - Triton reads annotations as its own, and hands on what is merged in order
# mypy: ignore-errors
"""Reductions and scans over segments of `width` neighbouring lanes, a power of two up to 32, for each lane of them."""

import triton
import triton.language as tl


@triton.jit
def by_thread(value):
    """One number a thread in Triton's own layout, in which a lane has one of them or two neighbours.

    What is reduced over a tile's rows has the tile's: as many in a lane as one access moves, and the same in all warps.
    """
    return tl.gather(value, tl.arange(0, value.shape[0]), 0)


@triton.jit
def segments(value, width: tl.constexpr):
    """A value as [segments, lanes]."""
    threads: tl.constexpr = value.shape[0]
    lanes: tl.constexpr = width if threads > width else threads
    return tl.reshape(value, [threads // lanes, lanes])


@triton.jit
def spread(row, value, width: tl.constexpr):
    """One value a segment as one a thread, in the shape and type of `value`."""
    rows = segments(value, width)
    return tl.reshape(tl.broadcast_to(row[:, None], rows.shape), value.shape).to(value.dtype)


@triton.jit
def multiplied(a, b):
    """a * b."""
    return a * b


@triton.jit
def segment_product(value, width: tl.constexpr = 32):
    """The product of each segment."""
    return spread(tl.reduce(segments(value, width), 1, multiplied), value, width)


@triton.jit
def larger(a, b):
    """The larger one; a number rather than NaN."""
    return tl.maximum(a, b)


@triton.jit
def smaller(a, b):
    """The smaller one; a number rather than NaN."""
    return tl.minimum(a, b)


@triton.jit
def block_product(value):
    """The product over all threads."""
    return tl.reduce(value, 0, multiplied)


@triton.jit
def block_scan_sum(value, backward: tl.constexpr):
    """The sum of the threads up to each one, from the last one where `backward`."""
    return tl.cumsum(value, 0, backward).to(value.dtype)


@triton.jit
def block_scan_product(value, backward: tl.constexpr):
    """The product of the threads up to each one, from the last one where `backward`."""
    return tl.associative_scan(value, 0, multiplied, backward)


@triton.jit
def block_scan_max(value, backward: tl.constexpr):
    """The maximum of the threads up to each one, from the last one where `backward`."""
    return tl.associative_scan(value, 0, larger, backward)


@triton.jit
def block_scan_min(value, backward: tl.constexpr):
    """The minimum of the threads up to each one, from the last one where `backward`."""
    return tl.associative_scan(value, 0, smaller, backward)


@triton.jit
def scan_sum(value, width: tl.constexpr, backward: tl.constexpr):
    """The sum of the threads of a segment up to each one, from its end where `backward`."""
    return tl.reshape(tl.cumsum(segments(value, width), 1, backward), value.shape).to(value.dtype)


@triton.jit
def scan_product(value, width: tl.constexpr, backward: tl.constexpr):
    """The product of the threads of a segment up to each one, from its end where `backward`."""
    return tl.reshape(tl.associative_scan(segments(value, width), 1, multiplied, backward), value.shape)


@triton.jit
def scan_max(value, width: tl.constexpr, backward: tl.constexpr):
    """The maximum of the threads of a segment up to each one, from its end where `backward`."""
    return tl.reshape(tl.associative_scan(segments(value, width), 1, larger, backward), value.shape)


@triton.jit
def scan_min(value, width: tl.constexpr, backward: tl.constexpr):
    """The minimum of the threads of a segment up to each one, from its end where `backward`."""
    return tl.reshape(tl.associative_scan(segments(value, width), 1, smaller, backward), value.shape)


@triton.jit
def scan_before(scan, first, width: tl.constexpr, backward: tl.constexpr):
    """Returns for each thread what the scan has in the one before it, `first` where a segment begins."""
    index = tl.arange(0, scan.shape[0])
    step: tl.constexpr = 1 if backward else -1
    begins = index % width == (width - 1 if backward else 0)
    return tl.where(begins, first, tl.gather(scan, tl.where(begins, index, index + step), 0)).to(scan.dtype)
