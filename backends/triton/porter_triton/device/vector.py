# ruff: noqa: ANN001, ANN201, PLR0917 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""Two or four neighbouring elements a thread in one access, as a tile [threads, elements] that memory holds in order.

`pointer` is a tensor with the address of each thread's first element, `mask` one of the threads that take part.
"""

import triton
import triton.language as tl


@triton.jit
def load2(pointer, mask):
    """The two elements at each thread's pointer; 0 where it takes no part."""
    tile = pointer[:, None] + tl.arange(0, 2)[None, :]
    return tl.split(tl.load(tile, mask=mask[:, None], other=0))


@triton.jit
def load4(pointer, mask):
    """The four elements at each thread's pointer; 0 where it takes no part."""
    tile = pointer[:, None] + tl.arange(0, 4)[None, :]
    pairs = tl.reshape(tl.load(tile, mask=mask[:, None], other=0), [pointer.shape[0], 2, 2])
    even, odd = tl.split(pairs)
    x, z = tl.split(even)
    y, w = tl.split(odd)
    return x, y, z, w


@triton.jit
def store2(pointer, x, y, mask):
    """Write two elements at each thread's pointer."""
    tl.store(pointer[:, None] + tl.arange(0, 2)[None, :], tl.join(x, y), mask=mask[:, None])


@triton.jit
def store4(pointer, x, y, z, w, mask):
    """Write four elements at each thread's pointer."""
    tile = tl.reshape(tl.join(tl.join(x, z), tl.join(y, w)), [pointer.shape[0], 4])
    tl.store(pointer[:, None] + tl.arange(0, 4)[None, :], tile, mask=mask[:, None])
