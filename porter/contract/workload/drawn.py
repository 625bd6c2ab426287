"""Fills a large tensor with a pool of elements, and behind it elements drawn from the pool, each by itself.

Making all of a tensor of gigabytes takes minutes, and a pool that repeats can be read once and its answer written many
times. Here nothing repeats: a candidate has to read all of the tensor. Knowing what was drawn is useless, since
fetching scattered elements takes longer than reading a tensor in order. On devices `native/draw.cu` does the same.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)
_AT_ONCE = 1 << 20
_STEP, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def key_of(pool: bytes) -> int:
    """Returns the 64 bits that decide what is drawn from a pool of these bytes: equal pools give equal draws."""
    return int.from_bytes(blake2b(pool, digest_size=8).digest(), "little")


def drawn(pool: int, begin: int, end: int, key: int) -> NDArray[np.int64]:
    """Returns which of `pool` elements, fewer than 2^32, lie at the places from `begin` to `end` behind them.

    They are mixed by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    """
    mixed = np.arange(begin, end, dtype=np.uint64) * _STEP + np.uint64(key)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    mixed ^= mixed >> np.uint64(31)
    return ((mixed >> np.uint64(32)) * np.uint64(pool) >> np.uint64(32)).astype(np.int64)


def extended(pool: NDArray[Number], count: int) -> NDArray[Number]:
    """Returns `count` elements, the first of which are `pool`."""
    key = key_of(pool.tobytes())
    whole = np.empty(count, pool.dtype)
    whole[: pool.size] = pool
    for begin in range(pool.size, count, _AT_ONCE):
        end = min(count, begin + _AT_ONCE)
        whole[begin:end] = pool[drawn(pool.size, begin, end, key)]
    return whole
