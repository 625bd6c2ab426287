"""Which bytes of a large tensor are looked at."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from porter.native.memory import host_bytes
from porter.native.pages import MOST_WHOLE_BYTES, PAGE_BYTES, pages, sampled_bytes


@pytest.mark.parametrize("count", [0, 1, PAGE_BYTES, MOST_WHOLE_BYTES])
def test_what_is_small_is_looked_at_whole(count):
    assert pages(count, 7) is None
    assert sampled_bytes(count, 7) == count


@pytest.mark.parametrize("rest", [0, 4, PAGE_BYTES - 4])
def test_of_a_large_tensor_the_last_bytes_are_always_among_them(rest):
    count = MOST_WHOLE_BYTES + PAGE_BYTES + rest
    chosen = pages(count, 7)
    assert chosen[-1] == (count - 1) // PAGE_BYTES
    assert len(np.unique(chosen)) == len(chosen)


def test_another_seed_looks_elsewhere():
    count = 100 * MOST_WHOLE_BYTES
    assert np.array_equal(pages(count, 7), pages(count, 7))
    assert len(np.intersect1d(pages(count, 7), pages(count, 8))) < 100


@pytest.mark.parametrize("rest", [0, 3])
def test_the_bytes_are_those_of_the_pages(rest):
    words = MOST_WHOLE_BYTES // 8 + 3 * PAGE_BYTES // 8 + rest
    tensor = torch.arange(words)
    raw = tensor.numpy().view(np.uint8)
    chosen = pages(raw.size, 5)
    wanted = b"".join(raw[page * PAGE_BYTES : (page + 1) * PAGE_BYTES].tobytes() for page in chosen)
    assert host_bytes(tensor, 5) == wanted
    assert len(wanted) == sampled_bytes(raw.size, 5)
