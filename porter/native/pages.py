"""Chooses which bytes of a large tensor are looked at: pages drawn after all of it was written.

A tensor of up to 64 MiB comes back whole, of a larger one 2,048 pages: a candidate that leaves out one part in a
thousand is found with a probability of 87 %, one that leaves out one in a hundred always. The sizes at which everything
is compared were judged before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PAGE_BYTES = 4096  # a multiple of every element's size
MOST_WHOLE_BYTES = 64 << 20
_PAGES = 2048


def pages(count_bytes: int, seed: int) -> NDArray[np.int64] | None:
    """Returns the indices of the pages of a tensor of `count_bytes`, rising; None where all of it is looked at.

    The last pages are always among them: a candidate that leaves something out most often leaves out the end.
    """
    if count_bytes <= MOST_WHOLE_BYTES:
        return None
    there = -(-count_bytes // PAGE_BYTES)
    words = np.random.Philox(key=np.array([seed, count_bytes], dtype=np.uint64)).random_raw(_PAGES)
    drawn = (words % np.uint64(there)).astype(np.int64)
    return np.unique(np.append(drawn, [there - 2, there - 1]))


def sampled_bytes(count_bytes: int, seed: int) -> int:
    """Returns how many bytes the pages of a tensor have."""
    chosen = pages(count_bytes, seed)
    if chosen is None:
        return count_bytes
    last = count_bytes - (-(-count_bytes // PAGE_BYTES) - 1) * PAGE_BYTES
    return (len(chosen) - 1) * PAGE_BYTES + last
