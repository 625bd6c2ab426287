"""Layer normalisation of few, very long rows, written from porter's prompt for it and nothing else.

Two launches. `slice_moments` reads x once: a row is cut into slices, and each lane keeps a running mean and sum of squared
deviations, merged once behind the loop. `normalise` first merges the slices of all rows in one tile, then writes tiles
of several rows by neighbouring columns, so that weight and bias are read once. It walks each slice backwards: what was
read last is still in L2 and does not come from memory again.
"""
# ruff: noqa: N803, PLR0917, RUF059, E501 - a kernel's constants are in capitals, and it takes what it is launched with

import torch
import triton
import triton.language as tl

SLICES = 64  # of a row at most; a power of two, since their moments are one tile
TILE = 4096  # elements that a program of `slice_moments` has on their way at once
ROWS, COLUMNS = 16, 256  # of a tile of `normalise`


@triton.jit
def merged(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    """The moments of two sets together (Chan)."""
    count = count_a + count_b
    share = count_b / tl.maximum(count, 1.0)
    apart = mean_b - mean_a
    return count, mean_a + apart * share, m2_a + m2_b + apart * apart * count_a * share


@triton.jit
def slice_moments(x, means, m2s, length, slice_length, SLICES: tl.constexpr, TILE: tl.constexpr):
    piece = tl.program_id(0)
    row = tl.program_id(1).to(tl.int64)
    begin = piece * slice_length
    end = tl.minimum(begin + slice_length, length)
    lane = tl.arange(0, TILE)
    count = tl.zeros([TILE], tl.float32)
    mean = tl.zeros([TILE], tl.float32)
    m2 = tl.zeros([TILE], tl.float32)
    x += row * length
    turn = 0.0
    for start in range(begin, end, TILE):
        inside = start + lane < end
        value = tl.load(x + start + lane, mask=inside, other=0.0)
        turn += 1.0
        apart = value - mean
        mean = tl.where(inside, mean + apart * (1.0 / turn), mean)
        m2 = tl.where(inside, m2 + apart * (value - mean), m2)
        count = tl.where(inside, turn, count)
    count, mean, m2 = tl.reduce((count, mean, m2), 0, merged)
    tl.store(means + row * SLICES + piece, mean)
    tl.store(m2s + row * SLICES + piece, m2)


@triton.jit
def normalise(
    x, weight, bias, means, m2s, y, rows, length, pieces, slice_length, eps,
    SLICES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    piece = tl.arange(0, SLICES)
    at = row[:, None] * SLICES + piece[None, :]
    known = (row < rows)[:, None] & (piece < pieces)[None, :]
    part_mean = tl.load(means + at, mask=known, other=0.0)
    part_m2 = tl.load(m2s + at, mask=known, other=0.0)
    sizes = tl.minimum(tl.maximum(length - piece * slice_length, 0), slice_length).to(tl.float32)
    counts = tl.broadcast_to(sizes[None, :], [ROWS, SLICES])
    count, mean, m2 = tl.reduce((counts, part_mean, part_m2), 1, merged)
    scale = 1.0 / tl.sqrt_rn(m2 / length + eps)

    mine, back = tl.program_id(0) % pieces, tl.program_id(0) // pieces
    first = mine * slice_length + slice_length - (back + 1) * COLUMNS
    column = first + tl.arange(0, COLUMNS)
    inside = column < length
    w = tl.load(weight + column, mask=inside)[None, :]
    b = tl.load(bias + column, mask=inside)[None, :]
    place = row.to(tl.int64)[:, None] * length + column[None, :]
    mask = (row < rows)[:, None] & inside[None, :]
    value = tl.load(x + place, mask=mask, eviction_policy="evict_first")
    result = (value - mean[:, None]) * scale[:, None] * w + b
    tl.store(y + place, result, mask=mask, eviction_policy="evict_first")


def forward(x, weight, bias, eps):
    if not x.is_contiguous():
        raise RuntimeError("x must be a contiguous CUDA tensor")
    if not (weight.is_contiguous() and bias.is_contiguous()):
        raise RuntimeError("weight and bias must be contiguous")
    length = weight.numel()
    if not (length > 0 and x.numel() % length == 0):
        raise RuntimeError("weight does not have the shape of the last dimensions of x")
    for tensor in (x, weight, bias):
        if tensor.dtype != torch.float32:
            raise RuntimeError(f"expected torch.float32 but found {tensor.dtype}")
    rows = x.numel() // length
    y = torch.empty_like(x)
    if rows == 0:
        return y
    pieces = min(SLICES, triton.cdiv(length, TILE))
    slice_length = triton.cdiv(triton.cdiv(length, pieces), TILE) * TILE
    means = torch.empty((rows, SLICES), dtype=x.dtype, device=x.device)
    m2s = torch.empty((rows, SLICES), dtype=x.dtype, device=x.device)
    slice_moments[(pieces, rows)](x, means, m2s, length, slice_length, SLICES=SLICES, TILE=TILE, num_warps=8)
    tiles = pieces * (slice_length // COLUMNS)
    normalise[(tiles, triton.cdiv(rows, ROWS))](
        x, weight, bias, means, m2s, y, rows, length, pieces, slice_length, eps,
        SLICES=SLICES, ROWS=ROWS, COLUMNS=COLUMNS, num_warps=8,
    )  # fmt: skip
    return y
