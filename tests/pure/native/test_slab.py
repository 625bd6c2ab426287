"""Pages of their own for the buffers of what is timed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from porter.native.slab import Slabs, aligned

PAGE = 2 << 20


class Memory:
    """Addresses as a device gives them: one allocation behind the other, each at a page."""

    def __init__(self):
        self.taken: dict[int, int] = {}

    def allocate(self, count):
        address = max((at + size for at, size in self.taken.items()), default=PAGE)
        self.taken[address] = count
        return address

    def free(self, address):
        del self.taken[address]


@pytest.mark.parametrize(
    ("set_bytes", "most_sharing", "pages"),
    [
        (24_576, 32, [0] * 10),
        (24_576, 4, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]),
        (24_576, 1, [*range(10)]),
        (PAGE // 3, 8, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]),
        (PAGE, 8, [*range(10)]),
    ],
)
def test_so_many_sets_share_a_page(set_bytes, most_sharing, pages):
    slabs = Slabs(Memory(), set_bytes, most_sharing)
    taken = [slabs.next().take(set_bytes) for _ in range(10)]
    assert [address // PAGE - 1 for address in taken] == pages


@pytest.mark.parametrize("tensor_bytes", [1, 511, 4_096, PAGE - 512, PAGE + 1, 5 * PAGE])
def test_what_is_handed_out_lies_within_and_apart(tensor_bytes):
    memory = Memory()
    slabs = Slabs(memory, 3 * aligned(tensor_bytes), 4)
    given = sorted(slab.take(tensor_bytes) for slab in [slabs.next() for _ in range(9)] for _ in range(3))
    assert all(first + tensor_bytes <= second for first, second in pairwise(given))
    assert all(address % 512 == 0 for address in given)
    assert all(
        any(at <= address and address + tensor_bytes <= at + size for at, size in memory.taken.items())
        for address in given
    )
    assert all(size % PAGE == 0 for size in memory.taken.values())


def test_all_is_given_back():
    memory = Memory()
    slabs = Slabs(memory, PAGE // 2, 2)
    for _ in range(5):
        slabs.next()
    assert len(memory.taken) == 3
    slabs.free()
    assert not memory.taken
