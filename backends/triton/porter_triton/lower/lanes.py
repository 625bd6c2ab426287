"""How many threads of the source a lane of a device holds: for wide accesses several, to hide a wait one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porter_triton.device.source import helpers, with_callees
from porter_triton.lower.context import Context
from porter_triton.lower.types import Arithmetic, Pointer
from porter_triton.lower.values import Scalar

# They take a tile for rows of warps, which is how it lies where a lane is a thread; else it goes through shared memory.
_BY_WARP = frozenset({"warp_rows", "segments"})
# What makes lanes wait for each other, or for what another one does to memory.
_TOGETHER = re.compile(
    r"tl\.(sum|xor_sum|max|min|argmax|argmin|reduce|associative_scan|cumsum|cumprod|gather|sort|histogram|dot"
    r"|atomic_\w+|debug_barrier)\("
)
_LANE_BITS = 128  # that a lane should have on their way, and what a device moves at once


@dataclass(frozen=True, slots=True)
class Loads:
    """The loads of a thread: how many `bits` they have in all, and whether it waits for one after another.

    `streams`: it waits in loops that each thread goes through on its own; `gathers`: in loops that hand something on.
    """

    bits: int
    streams: bool
    gathers: bool


def threads_per_lane(cx: Context, body: str, helpers_used: Iterable[str]) -> int:
    """Returns how many threads of the kernel that is lowered a lane should hold."""
    return lanes_of(Loads(cx.loaded_bits, cx.streams or cx.ahead, cx.gathers), body, helpers_used)


def lanes_of(loads: Loads, body: str, helpers_used: Iterable[str]) -> int:
    """One where a thread waits for one load after another, has many on their way or speaks to its warp.

    Four where lanes never wait.

    An H200 moves at full speed what is on its way in 16 bytes a lane, nine tenths of that in 8, two thirds in 4.
    """
    called = with_callees(helpers_used)
    if loads.streams or not _BY_WARP.isdisjoint(called):
        return 1
    texts = (body, *(helpers()[name].text for name in called))
    if loads.gathers or any(_TOGETHER.search(text) for text in texts):
        return 2
    return 4 if 4 * loads.bits <= _LANE_BITS else 2


def loaded(cx: Context, pointer: Scalar) -> None:
    """Note a load of one number a thread."""
    if pointer.varying and isinstance(pointer.type, Pointer) and isinstance(pointer.type.element, Arithmetic):
        cx.loaded_bits += pointer.type.element.bits
        cx.gathers |= cx.carrying > 0
        cx.streams |= cx.alike > 0 and not (cx.carrying == 0 and side_by_side(pointer))


def side_by_side(pointer: Scalar) -> bool:
    """Returns whether neighbouring threads have neighbouring elements."""
    return pointer.affine is not None and any(d.divisor == 1 and c == 1 for d, c in pointer.affine.terms)
