"""Chooses how many threads of the source a lane of a device holds: several for wide accesses, one to hide a wait.

That follows from what the threads of the printed kernel load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from porter.ir.simt.ops import Block, Op, Value
from porter.ir.simt.types import Pointer, Space, Vector
from porter_triton.device.source import helpers, with_callees

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Printer


# They take a tile for rows of warps, which is how it lies where a lane is a thread; else it goes through shared memory.
_BY_WARP = frozenset({"warp_rows", "segments"})
_LANE_BITS = 128  # that a lane should have on their way, and what a device moves at once


@dataclass(frozen=True, slots=True)
class Loads:
    """The loads of a thread: how many `bits` they have in all, and whether it waits for one after another.

    `streams`: it waits in loops that each thread goes through on its own; `gathers`: in loops that hand something on.
    """

    bits: int
    streams: bool
    gathers: bool


def lanes_of(p: Printer) -> int:
    """Returns one where a thread waits for one load after another, has many loads at once, or speaks to its warp.

    It returns four where lanes never wait.

    An H200 reaches full speed with 16 bytes of loads at a time for each lane, nine tenths of it with 8, two thirds with
    4.
    """
    loads, called = loads_of(p), with_callees(call.name for call in p.helpers)
    if loads.streams or not _BY_WARP.isdisjoint(called):
        return 1
    if loads.gathers or p.meet or any(helpers()[name].lanes_meet for name in called):
        return 2
    return 4 if 4 * loads.bits <= _LANE_BITS else 2


def loads_of(p: Printer) -> Loads:
    """Returns what a thread of the function loads from the memory of the device."""
    walk = _Walk(p)
    walk.block(p.function.body, on_its_own=False, hands_on=False)
    return Loads(walk.bits, walk.streams, walk.gathers)


@dataclass
class _Walk:
    p: Printer
    bits: int = 0
    streams: bool = False
    gathers: bool = False

    def block(self, block: Block, *, on_its_own: bool, hands_on: bool) -> None:
        for op in block.ops:
            if op.kind == "load":
                self._load(op, on_its_own=on_its_own, hands_on=hands_on)
            loops = op.kind in ("for", "while")
            hands = hands_on or (loops and len(op.operands) > (3 if op.kind == "for" else 1))
            own = on_its_own or (op.kind == "for" and not self.p.uniformity.diverges(op))
            own = own and not (op.kind == "for" and self._is_shared(op))
            for region in op.regions:
                self.block(region, on_its_own=own, hands_on=hands)

    def _load(self, op: Op, *, on_its_own: bool, hands_on: bool) -> None:
        pointer = op.operands[0].type
        if not isinstance(pointer, Pointer) or pointer.space is not Space.GLOBAL:
            return
        if op.result not in self.p.uniformity.varying:
            return
        self.bits += 8 * pointer.element.bytes
        if isinstance(pointer.element, Vector):
            return
        self.gathers |= hands_on
        self.streams |= on_its_own and (hands_on or not self._is_side_by_side(op))

    def _is_shared(self, op: Op) -> bool:
        """Returns whether threads share a loop among them: its step is the number of threads along some axis."""
        step = op.operands[2]
        number = self.p.arrays.digits.number(step)
        if number is None:
            return self._is_of_launch(step)
        return any(extent is not None and extent > 1 and number % extent == 0 for extent in self.p.sizes)

    def _is_of_launch(self, value: Value) -> bool:
        maker = self.p.makers.get(value)
        return maker is not None and (
            maker.kind in ("block_extent", "grid_extent") or any(map(self._is_of_launch, maker.operands))
        )

    def _is_side_by_side(self, op: Op) -> bool:
        """Returns whether neighbouring threads load neighbouring elements."""
        steps, address = [op.operands[1]], op.operands[0]
        while (maker := self.p.makers.get(address)) is not None and maker.kind == "offset":
            steps.append(maker.operands[1])
            address = maker.operands[0]
        found = [self.p.arrays.digits.of(step) for step in steps]
        return any(d.divisor == 1 and c == 1 for index in found if index is not None for d, c in index.terms)
