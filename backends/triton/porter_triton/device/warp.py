# ruff: noqa: ANN001, ANN201 - Triton reads annotations as its own
# mypy: ignore-errors
"""Exchanges values between the lanes of a warp of 32. A value is a tensor with an element a thread; 32 make a warp.

`active` says which threads take part. A block of fewer than 32 threads is one warp without the other lanes.
"""

import triton
import triton.language as tl


@triton.jit
def warp_lane(threads: tl.constexpr):
    """The lane of each thread, as rows of warps: [warps, lanes]."""
    lanes: tl.constexpr = 32 if threads > 32 else threads
    return tl.broadcast_to(tl.arange(0, lanes)[None, :], [threads // lanes, lanes])


@triton.jit
def warp_rows(value):
    """A value as [warps, lanes]."""
    threads: tl.constexpr = value.shape[0]
    lanes: tl.constexpr = 32 if threads > 32 else threads
    return tl.reshape(value, [threads // lanes, lanes])


@triton.jit
def warp_gather(value, source, valid):
    """The value of the lane `source` ([warps, lanes]); where that is not `valid`, the lane's own."""
    threads: tl.constexpr = value.shape[0]
    lane = warp_lane(threads)
    source = tl.where(valid & (source >= 0) & (source < lane.shape[1]), source, lane)
    return tl.reshape(tl.gather(warp_rows(value), source, 1), [threads])


@triton.jit
def warp_operand(operand, value):
    """A shuffle's lane, distance or mask, a scalar or one a thread, as [warps, lanes]."""
    return warp_rows((operand + tl.zeros(value.shape, tl.int32)).to(tl.int32))


@triton.jit
def shuffle(value, source, width: tl.constexpr = 32):
    """__shfl_sync."""
    lane = warp_lane(value.shape[0])
    source = (lane & -width) | (warp_operand(source, value) & (width - 1))
    return warp_gather(value, source, source >= 0)


@triton.jit
def shuffle_up(value, delta, width: tl.constexpr = 32):
    """__shfl_up_sync."""
    lane = warp_lane(value.shape[0])
    source = lane - warp_operand(delta, value)
    return warp_gather(value, source, source >= (lane & -width))


@triton.jit
def shuffle_down(value, delta, width: tl.constexpr = 32):
    """__shfl_down_sync."""
    lane = warp_lane(value.shape[0])
    source = lane + warp_operand(delta, value)
    return warp_gather(value, source, source < (lane & -width) + width)


@triton.jit
def shuffle_xor(value, mask, width: tl.constexpr = 32):
    """__shfl_xor_sync: a later segment keeps its own value, an earlier one may be read."""
    lane = warp_lane(value.shape[0])
    source = lane ^ warp_operand(mask, value)
    return warp_gather(value, source, source < (lane & -width) + width)


@triton.jit
def warp_any(predicate, active):
    """__any_sync, as int1."""
    votes = warp_rows((predicate & active).to(tl.int32))
    return tl.reshape(tl.broadcast_to(tl.max(votes, 1)[:, None], votes.shape), active.shape) != 0


@triton.jit
def warp_all(predicate, active):
    """__all_sync, as int1."""
    votes = warp_rows((predicate | ~active).to(tl.int32))
    return tl.reshape(tl.broadcast_to(tl.min(votes, 1)[:, None], votes.shape), active.shape) != 0


@triton.jit
def ballot(predicate, active):
    """__ballot_sync, as uint32: a bit for each lane that votes yes."""
    bits = warp_rows((predicate & active).to(tl.uint32)) << warp_lane(active.shape[0]).to(tl.uint32)
    return tl.reshape(tl.broadcast_to(tl.sum(bits, 1)[:, None], bits.shape), active.shape)


@triton.jit
def warp_match(value, active):
    """__match_any_sync, as uint32: a bit for each lane that takes part and holds the same number."""
    rows = warp_rows(value)
    same = (rows[:, :, None] == rows[:, None, :]) & (warp_rows(active.to(tl.int32)) != 0)[:, None, :]
    bits = same.to(tl.uint32) << warp_lane(active.shape[0]).to(tl.uint32)[:, None, :]
    return tl.reshape(tl.sum(bits, 2), active.shape)


@triton.jit
def named_lanes(mask, threads: tl.constexpr):
    """Returns the threads that a mask of lanes names, as int1."""
    lane = tl.reshape(warp_lane(threads), [threads])
    return ((mask >> lane.to(mask.dtype)) & 1) != 0


@triton.jit
def warp_spread(row, value):
    """One value a warp as one a thread, in the shape of `value`."""
    threads: tl.constexpr = value.shape[0]
    lanes: tl.constexpr = 32 if threads > 32 else threads
    return tl.reshape(tl.broadcast_to(row[:, None], [threads // lanes, lanes]), [threads])


@triton.jit
def warp_sum(value, active):
    """The sum over the lanes that take part, in each lane."""
    return warp_spread(tl.sum(warp_rows(tl.where(active, value, 0).to(value.dtype)), 1).to(value.dtype), value)


@triton.jit
def warp_max(value, active):
    """The maximum over the lanes that take part, in those lanes."""
    lowest = tl.min(warp_rows(value), 1)
    return warp_spread(tl.max(warp_rows(tl.where(active, value, warp_spread(lowest, value))), 1), value)


@triton.jit
def warp_min(value, active):
    """The minimum over the lanes that take part, in those lanes."""
    highest = tl.max(warp_rows(value), 1)
    return warp_spread(tl.min(warp_rows(tl.where(active, value, warp_spread(highest, value))), 1), value)
