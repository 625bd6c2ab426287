# ruff: noqa: ANN001, ANN201, PLR0917 - Triton reads annotations as its own, and x != x is NaN
# mypy: ignore-errors
"""Two, four or eight neighbouring elements a thread in one access: a tile [threads, elements] as it lies in memory.

`pointer` is a tensor with the address of each thread's first element, `mask` one of the threads that take part, if not
all do. The elements lie as CUDA's vectors of them do, at multiples of their size.
"""

import triton
import triton.language as tl


@triton.jit
def row_of(pointer, width: tl.constexpr):
    """The addresses of the elements from each thread's pointer on."""
    bytes_: tl.constexpr = width * pointer.dtype.element_ty.primitive_bitwidth // 8
    return tl.multiple_of(pointer[:, None] + tl.arange(0, width)[None, :], (1, bytes_))


@triton.jit
def load_tile(pointer, width: tl.constexpr, mask=None):
    """The elements at each thread's pointer as a row; 0 where it takes no part."""
    tile = row_of(pointer, width)
    if mask is None:
        return tl.load(tile)
    else:  # noqa: RET505 - Triton would go on to what follows
        return tl.load(tile, mask=mask[:, None], other=0)


@triton.jit
def store_tile(pointer, tile, mask=None):
    """Write a row of elements at each thread's pointer."""
    target = row_of(pointer, tile.shape[1])
    if mask is None:
        tl.store(target, tile)
    else:
        tl.store(target, tile, mask=mask[:, None])


@triton.jit
def halves(tile):
    """The even and the odd columns of a tile."""
    return tl.split(tl.reshape(tile, [tile.shape[0], tile.shape[1] // 2, 2]))


@triton.jit
def interleaved(even, odd):
    """A tile of the even and the odd columns."""
    return tl.reshape(tl.join(even, odd), [even.shape[0], 2 * even.shape[1]])


@triton.jit
def load2(pointer, mask=None):
    """The two elements at each thread's pointer."""
    return tl.split(load_tile(pointer, 2, mask))


@triton.jit
def load4(pointer, mask=None):
    """The four elements at each thread's pointer."""
    even, odd = halves(load_tile(pointer, 4, mask))
    x, z = tl.split(even)
    y, w = tl.split(odd)
    return x, y, z, w


@triton.jit
def load8(pointer, mask=None):
    """The eight elements at each thread's pointer."""
    even, odd = halves(load_tile(pointer, 8, mask))
    even_0, even_1 = halves(even)
    odd_0, odd_1 = halves(odd)
    v0, v4 = tl.split(even_0)
    v2, v6 = tl.split(even_1)
    v1, v5 = tl.split(odd_0)
    v3, v7 = tl.split(odd_1)
    return v0, v1, v2, v3, v4, v5, v6, v7


@triton.jit
def store2(pointer, x, y, mask=None):
    """Write two elements at each thread's pointer."""
    store_tile(pointer, tl.join(x, y), mask)


@triton.jit
def store4(pointer, x, y, z, w, mask=None):
    """Write four elements at each thread's pointer."""
    store_tile(pointer, interleaved(tl.join(x, z), tl.join(y, w)), mask)


@triton.jit
def store8(pointer, v0, v1, v2, v3, v4, v5, v6, v7, mask=None):
    """Write eight elements at each thread's pointer."""
    even = interleaved(tl.join(v0, v4), tl.join(v2, v6))
    odd = interleaved(tl.join(v1, v5), tl.join(v3, v7))
    store_tile(pointer, interleaved(even, odd), mask)
