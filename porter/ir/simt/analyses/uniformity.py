"""Uniformity: which values all threads of a block agree on, and which loops and branches they take together.

A value varies where it is made of one that does, where threads reach it by different ways, or where it comes from a
thread's own memory. A load is uniform where its address is: threads that load from one place find the same there.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Array, Pointer, Space, Type

_WARP_SIZE = 32
_VARYING = frozenset({"thread_index", "atomic", "vote", "match", "scan"})


@dataclass(frozen=True, slots=True)
class Uniformity:
    """`varying` are values that threads of a block may not agree on.

    `doubtful` are uniform values made of what was loaded where perhaps no thread ran: nothing may depend on them there.
    """

    varying: AbstractSet[Value]
    doubtful: AbstractSet[Value]

    def diverges(self, op: Op) -> bool:
        """Returns whether threads of a block may take different ways through an `if` or loop."""
        if op.kind == "while":
            return op.regions[0].ops[-1].operands[0] in self.varying
        return any(operand in self.varying for operand in op.operands[: 1 if op.kind == "if" else 3])


def uniformity(function: Function, *, of_warps: bool = False) -> Uniformity:
    """Returns what varies in `function`, by iterating until nothing more does.

    `of_warps`: among the threads of a warp, in blocks whose rows are whole warps, in place of those of a block.
    """
    walk = _Walk(of_warps=of_warps)
    while walk.changed:
        walk.changed = False
        walk.block(function.body, diverged=False)
    return Uniformity(frozenset(walk.varying), frozenset(walk.doubtful))


class _Walk:
    def __init__(self, *, of_warps: bool) -> None:
        self._of_warps = of_warps
        self._makers: dict[Value, Op] = {}
        self.varying: set[Value] = set()
        self.doubtful: set[Value] = set()
        self.changed = True

    def block(self, block: Block, *, diverged: bool) -> None:
        for op in block.ops:
            if op.regions:
                self._control(op, diverged=diverged)
            else:
                self._simple(op, diverged=diverged)

    def _simple(self, op: Op, *, diverged: bool) -> None:
        self._makers.update(dict.fromkeys(op.results, op))
        if op.kind == "reduce" and (self._of_warps or op.attribute("scope") == "block"):
            return
        if self._of_warps and self._is_of_warp(op):
            return
        if op.kind in _VARYING or self._any(op.operands) or any(_is_own(value.type) for value in op.operands):
            self._mark(op.results)
        if op.kind in ("array", "dynamic_shared") and _is_own(op.result.type):
            self._mark(op.results)
        if (diverged and op.kind in ("load", "shuffle")) or any(value in self.doubtful for value in op.operands):
            self._doubt(op.results)

    def _is_of_warp(self, op: Op) -> bool:
        """Returns whether an operation gives all threads of a warp one value, whatever else varies."""
        if op.kind == "vote":
            return True
        if op.kind == "thread_index":
            return op.attribute("axis") != 0
        if op.kind not in ("div", "shr"):
            return False
        by = self._makers.get(op.operands[1])
        value = by.attribute("value") if by is not None and by.kind == "constant" else None
        if not isinstance(value, int) or not self._is_thread(op.operands[0]):
            return False
        return value > 0 and (value % _WARP_SIZE == 0 if op.kind == "div" else 1 << value >= _WARP_SIZE)

    def _is_thread(self, value: Value) -> bool:
        maker = self._makers.get(value)
        if maker is not None and maker.kind == "cast":
            return self._is_thread(maker.operands[0])
        return maker is not None and maker.kind == "thread_index" and maker.attribute("axis") == 0

    def _control(self, op: Op, *, diverged: bool) -> None:
        apart = Uniformity(self.varying, self.doubtful).diverges(op)
        inside = diverged or apart
        for region in op.regions:
            self.block(region, diverged=inside)
        if op.kind == "if":
            self._joined(op.results, [region.ops[-1].operands for region in op.regions])
            self._mark(op.results if apart else ())
            return
        self._loop(op, apart=apart)

    def _loop(self, op: Op, *, apart: bool) -> None:
        begin = op.operands[3:] if op.kind == "for" else op.operands
        ends = [r.ops[-1].operands[1 if op.kind == "while" and n == 0 else 0 :] for n, r in enumerate(op.regions)]
        for region in op.regions:
            arguments = region.arguments[1:] if op.kind == "for" else region.arguments
            self._joined(arguments, [begin, *ends])
            if apart:  # some threads are still at an earlier value
                self._mark(arguments)
        if op.kind == "for" and self._any(op.operands[:3]):
            self._mark(op.regions[0].arguments[:1])
        self._joined(op.results, [begin, *ends])
        self._mark(op.results if apart else ())

    def _joined(self, values: Iterable[Value], sources: list[tuple[Value, ...]]) -> None:
        for number, value in enumerate(values):
            if self._any(source[number] for source in sources):
                self._mark((value,))
            if any(source[number] in self.doubtful for source in sources):
                self._doubt((value,))

    def _any(self, values: Iterable[Value]) -> bool:
        return any(value in self.varying for value in values)

    def _mark(self, values: Iterable[Value]) -> None:
        before = len(self.varying)
        self.varying.update(values)
        self.changed |= len(self.varying) != before

    def _doubt(self, values: Iterable[Value]) -> None:
        before = len(self.doubtful)
        self.doubtful.update(values)
        self.changed |= len(self.doubtful) != before


def _is_own(type_: Type) -> bool:
    """Returns whether a value is memory of the thread, or leads there."""
    return isinstance(type_, Pointer | Array) and type_.space is Space.LOCAL
