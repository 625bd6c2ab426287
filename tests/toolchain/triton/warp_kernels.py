"""Every warp, vector and atomic helper on blocks of several sizes: `python warp_kernels.py OUT.npz` interprets them."""

import os
import sys

if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch
import triton
import triton.language as tl

from porter_triton.device.vector import load2, load4, load8, store2, store4, store8
from porter_triton.device.warp import (
    ballot,
    named_lanes,
    shuffle,
    shuffle_down,
    shuffle_up,
    shuffle_xor,
    warp_all,
    warp_any,
    warp_max,
    warp_min,
    warp_sum,
)


@triton.jit
def shuffles(values, operands, out, width: tl.constexpr, threads: tl.constexpr):
    i = tl.arange(0, threads)
    value = tl.load(values + i)
    operand = tl.load(operands + i)
    tl.store(out + i, shuffle(value, operand, width))
    tl.store(out + threads + i, shuffle_up(value, operand, width))
    tl.store(out + 2 * threads + i, shuffle_down(value, operand, width))
    tl.store(out + 3 * threads + i, shuffle_xor(value, operand, width))
    tl.store(out + 4 * threads + i, shuffle_xor(value, 1, width))


@triton.jit
def votes(values, actives, out, threads: tl.constexpr):
    i = tl.arange(0, threads)
    value = tl.load(values + i)
    active = (tl.load(actives + i) != 0) & named_lanes(tl.cast(0x7FFFFFFF, tl.uint32), threads)
    yes = value > 0
    tl.store(out + i, ballot(yes, active).to(tl.int64))
    tl.store(out + threads + i, warp_any(yes, active).to(tl.int64))
    tl.store(out + 2 * threads + i, warp_all(yes, active).to(tl.int64))
    tl.store(out + 3 * threads + i, warp_sum(value, active).to(tl.int64))
    tl.store(out + 4 * threads + i, warp_max(value, active).to(tl.int64))
    tl.store(out + 5 * threads + i, warp_min(value, active).to(tl.int64))


@triton.jit
def wide(values, out, threads: tl.constexpr):
    i = tl.arange(0, threads)
    x, y, z, w = load4(values + 4 * i, i != 1)
    store4(out + 4 * i, w, z, y, x, i != 2)
    x, y = load2(values + 2 * i, i != 1)
    store2(out + 4 * threads + 2 * i, y, x, i != 2)


@triton.jit
def reversed_eights(values, out, threads: tl.constexpr):
    i = tl.arange(0, threads)
    v = load8(values + 8 * i)
    store8(out + 8 * i, v[7], v[6], v[5], v[4], v[3], v[2], v[1], v[0])


SIZES = (16, 32, 64, 128)
WIDTHS = (2, 8, 16, 32)


def inputs(threads):
    """Values, operands of shuffles and which threads are active."""
    rng = np.random.default_rng(threads)
    values = rng.integers(-5, 6, threads).astype(np.int32)
    return values, rng.integers(0, 40, threads).astype(np.int32), rng.integers(0, 2, threads).astype(np.int32)


def main():
    """Writes what each kernel stores for each size and width."""
    results = {}
    for threads in SIZES:
        values, operands, active = (torch.from_numpy(x) for x in inputs(threads))
        for width in WIDTHS:
            if width <= threads:
                out = torch.zeros(5 * threads, dtype=torch.int32)
                shuffles[(1,)](values, operands, out, width, threads)
                results[f"shuffles_{threads}_{width}"] = out.numpy()
        out = torch.zeros(6 * threads, dtype=torch.int64)
        votes[(1,)](values, active, out, threads)
        results[f"votes_{threads}"] = out.numpy()
        out = torch.full((6 * threads,), -1.0)
        wide[(1,)](torch.arange(4.0 * threads), out, threads)
        results[f"wide_{threads}"] = out.numpy()
        out = torch.zeros(8 * threads, dtype=torch.float16)
        reversed_eights[(1,)](torch.arange(8 * threads, dtype=torch.float16), out, threads)
        results[f"eights_{threads}"] = out.numpy()
    np.savez(sys.argv[1], **results)


if __name__ == "__main__":
    main()
