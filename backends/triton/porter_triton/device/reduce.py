# ruff: noqa: ANN001, ANN201, PLR0917 - Triton reads annotations as its own, and hands on what is merged in order
# mypy: ignore-errors
"""Reductions and scans over segments of `width` neighbouring lanes, a power of two up to 32, for each lane of them."""

import triton
import triton.language as tl

from porter_triton.device.warp import bits_and, bits_or


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
def segment_sum(value, width: tl.constexpr = 32):
    """The sum of each segment."""
    return spread(tl.sum(segments(value, width), 1), value, width)


@triton.jit
def halved(rows):
    """The sums of the first and second half of each row, in the rows' own type."""
    count: tl.constexpr = rows.shape[0]
    half: tl.constexpr = rows.shape[1] // 2
    return tl.sum(tl.reshape(rows, [count, 2, half]).to(tl.float32), 1).to(rows.dtype)


@triton.jit
def segment_sum_in_steps(value, width: tl.constexpr = 32):
    """The sum of each segment, rounded after each step as lanes do that add what lies half a segment away."""
    rows = segments(value, width)
    shape: tl.constexpr = rows.shape
    if shape[1] > 16:
        rows = halved(rows)
    if shape[1] > 8:
        rows = halved(rows)
    if shape[1] > 4:
        rows = halved(rows)
    if shape[1] > 2:
        rows = halved(rows)
    if shape[1] > 1:
        rows = halved(rows)
    return tl.reshape(tl.broadcast_to(rows, [shape[0], shape[1]]), value.shape)


@triton.jit
def multiplied(a, b):
    """a * b."""
    return a * b


@triton.jit
def segment_product(value, width: tl.constexpr = 32):
    """The product of each segment."""
    return spread(tl.reduce(segments(value, width), 1, multiplied), value, width)


@triton.jit
def segment_max(value, width: tl.constexpr = 32):
    """The maximum of each segment."""
    return spread(tl.max(segments(value, width), 1), value, width)


@triton.jit
def segment_min(value, width: tl.constexpr = 32):
    """The minimum of each segment."""
    return spread(tl.min(segments(value, width), 1), value, width)


@triton.jit
def segment_and(value, width: tl.constexpr = 32):
    """The bits set in all lanes of each segment."""
    return spread(tl.reduce(segments(value, width), 1, bits_and), value, width)


@triton.jit
def segment_or(value, width: tl.constexpr = 32):
    """The bits set in some lane of each segment."""
    return spread(tl.reduce(segments(value, width), 1, bits_or), value, width)


@triton.jit
def segment_xor(value, width: tl.constexpr = 32):
    """The bits set in an odd number of lanes of each segment."""
    return spread(tl.xor_sum(segments(value, width), 1), value, width)


@triton.jit
def larger(a, b):
    """The larger one; a number rather than NaN."""
    return tl.maximum(a, b)


@triton.jit
def smaller(a, b):
    """The smaller one; a number rather than NaN."""
    return tl.minimum(a, b)


@triton.jit
def larger_first(a, i, b, j):
    """The larger of a and b with its index; of equals the smaller index."""
    other = (b > a) | ((b == a) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def smaller_first(a, i, b, j):
    """The smaller of a and b with its index; of equals the smaller index."""
    other = (b < a) | ((b == a) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def larger_last(a, i, b, j):
    """The larger of a and b with its index; of equals the larger index."""
    other = (b > a) | ((b == a) & (j > i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def smaller_last(a, i, b, j):
    """The smaller of a and b with its index; of equals the larger index."""
    other = (b < a) | ((b == a) & (j > i))
    return tl.where(other, b, a), tl.where(other, j, i)


@triton.jit
def moments_merged(mean, m2, count, mean_b, m2_b, count_b):
    """Chan's merge of means, sums of squared deviations and counts."""
    whole = count + count_b
    share = tl.where(whole == 0, 0.0, count_b.to(mean.dtype) / tl.where(whole == 0, 1, whole).to(mean.dtype))
    delta = mean_b - mean
    return mean + delta * share, m2 + m2_b + delta * delta * count.to(mean.dtype) * share, whole


@triton.jit
def segment_argmax(value, index, width: tl.constexpr = 32):
    """The maximum of each segment and the smallest index that has it."""
    best, place = tl.reduce((segments(value, width), segments(index, width)), 1, larger_first)
    return spread(best, value, width), spread(place, index, width)


@triton.jit
def segment_argmin(value, index, width: tl.constexpr = 32):
    """The minimum of each segment and the smallest index that has it."""
    best, place = tl.reduce((segments(value, width), segments(index, width)), 1, smaller_first)
    return spread(best, value, width), spread(place, index, width)


@triton.jit
def segment_argmax_last(value, index, width: tl.constexpr = 32):
    """The maximum of each segment and the largest index that has it."""
    best, place = tl.reduce((segments(value, width), segments(index, width)), 1, larger_last)
    return spread(best, value, width), spread(place, index, width)


@triton.jit
def segment_argmin_last(value, index, width: tl.constexpr = 32):
    """The minimum of each segment and the largest index that has it."""
    best, place = tl.reduce((segments(value, width), segments(index, width)), 1, smaller_last)
    return spread(best, value, width), spread(place, index, width)


@triton.jit
def segment_welford(mean, m2, count, width: tl.constexpr = 32):
    """Mean, sum of squared deviations and count of each segment, of those of its lanes."""
    rows = (segments(mean, width), segments(m2, width), segments(count, width))
    mean_row, m2_row, count_row = tl.reduce(rows, 1, moments_merged)
    return spread(mean_row, mean, width), spread(m2_row, m2, width), spread(count_row, count, width)


@triton.jit
def rescaled(total, largest, found):
    """A sum of exponentials below `largest` as one below `found`: without a NaN where both are -inf."""
    return tl.where(largest == found, total, total * tl.exp(largest - found))


@triton.jit
def segment_rescaled(largest, total, width: tl.constexpr = 32):
    """The largest of each segment, and the sum of its lanes' totals brought to it."""
    found = segment_max(largest, width)
    return found, segment_sum(rescaled(total, largest, found), width)


@triton.jit
def block_rescaled(largest, total):
    """The largest of all threads, and the sum of their totals brought to it."""
    found = tl.max(largest, axis=0)
    return found, tl.sum(rescaled(total, largest, found), axis=0)


@triton.jit
def block_argmax(value, index):
    """The maximum over all threads and the smallest index that has it."""
    return tl.reduce((value, index), 0, larger_first)


@triton.jit
def block_argmin(value, index):
    """The minimum over all threads and the smallest index that has it."""
    return tl.reduce((value, index), 0, smaller_first)


@triton.jit
def block_argmax_last(value, index):
    """The maximum over all threads and the largest index that has it."""
    return tl.reduce((value, index), 0, larger_last)


@triton.jit
def block_argmin_last(value, index):
    """The minimum over all threads and the largest index that has it."""
    return tl.reduce((value, index), 0, smaller_last)


@triton.jit
def block_welford(mean, m2, count):
    """Mean, sum of squared deviations and count of all threads, of those of each."""
    return tl.reduce((mean, m2, count), 0, moments_merged)


@triton.jit
def segment_scan_sum(value, width: tl.constexpr = 32):
    """The sum of the lanes of a segment up to each one."""
    return tl.reshape(tl.cumsum(segments(value, width), 1), value.shape)


@triton.jit
def segment_scan_max(value, width: tl.constexpr = 32):
    """The maximum of the lanes of a segment up to each one."""
    return tl.reshape(tl.associative_scan(segments(value, width), 1, larger), value.shape)


@triton.jit
def segment_scan_min(value, width: tl.constexpr = 32):
    """The minimum of the lanes of a segment up to each one."""
    return tl.reshape(tl.associative_scan(segments(value, width), 1, smaller), value.shape)


@triton.jit
def scanned(values):
    """The sum of the elements up to each one."""
    return tl.cumsum(values, 0).to(values.dtype)


@triton.jit
def scanned_before(values):
    """The sum of the elements before each one."""
    index = tl.arange(0, values.shape[0])
    return tl.where(index == 0, 0, tl.gather(scanned(values), tl.maximum(index - 1, 0), 0)).to(values.dtype)


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
