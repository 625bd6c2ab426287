"""Dead-code elimination: takes away operations, results and carried values that nobody uses.

An operation lives if it has an effect, or if a result of it is used by one that lives. A value that a loop carries
lives as one: what it begins with, the argument of each region, what each region yields, and the result. (Liveness by
marking, as in Cytron et al., "Efficiently computing static single assignment form", section 7.1, over structured
control.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.ir.simt.operations import OPERATIONS, Effect
from porter.ir.simt.ops import Block, Function, Op, Region, Value

_REMOVABLE = (Effect.NONE, Effect.READ, Effect.EXCHANGE, Effect.CONTROL)
_NOTHING: Mapping[Value, Value] = {}
_OWN = {"if": 1, "for": 3, "while": 0}  # operands before those that are carried
_COUNTERS = {"if": 0, "for": 1, "while": 0}  # arguments of regions before those that are carried


def without_dead_code(function: Function, replaced: Mapping[Value, Value] = _NOTHING) -> Function:
    """Returns `function` without what nobody uses; values that are `replaced` stand for others, if need be by steps.

    Values are the same, and so are operations in which nothing is replaced or taken away.
    """
    resolved = Block((), _with(function.body, replaced)) if replaced else function.body
    live = _Liveness(resolved)
    return replace(function, body=Block((), live.kept(resolved)))


def _with(block: Block, replaced: Mapping[Value, Value]) -> tuple[Op, ...]:
    """Returns the operations of a block with values replaced."""

    def meant(value: Value) -> Value:
        while value in replaced:
            value = replaced[value]
        return value

    return tuple(
        changed(
            op,
            tuple(map(meant, op.operands)),
            tuple(Block(region.arguments, _with(region, replaced)) for region in op.regions),
        )
        for op in block.ops
    )


def changed(op: Op, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Op:
    """Returns an operation with other operands and regions; itself where it has no region, and these operands."""
    return op if not regions and operands == op.operands else replace(op, operands=operands, regions=regions)


class _Liveness:
    """The operations that live, and which of the values that control hands on: (operation, number of the value)."""

    def __init__(self, body: Block) -> None:
        self._makers: dict[Value, tuple[Op, int | None]] = {}  # None: not handed on by control
        self._parents: dict[Op, Op | None] = {}
        self._values: set[Value] = set()
        self._ops: set[Op] = set()
        self._carried: set[tuple[Op, int]] = set()
        self._waiting: list[Value] = []
        roots: list[Op] = []
        self._index(body, None, roots)
        for root in roots:
            self._live(root)
        while self._waiting:
            self._used(self._waiting.pop())

    def _index(self, block: Block, parent: Op | None, roots: list[Op]) -> None:
        for op in block.ops:
            self._parents[op] = parent
            for number, result in enumerate(op.results):
                self._makers[result] = op, number if op.regions else None
            for region in op.regions:
                for number, argument in enumerate(region.arguments):
                    place = number - _COUNTERS[op.kind]
                    self._makers[argument] = op, place if place >= 0 else None
                self._index(region, op, roots)
            if OPERATIONS[op.kind].effect not in _REMOVABLE or op.kind == "return":
                roots.append(op)

    def _live(self, op: Op) -> None:
        """Marks an operation, those around it, and what they need whatever they hand on."""
        current: Op | None = op
        while current is not None and current not in self._ops:
            self._ops.add(current)
            own = _OWN.get(current.kind, len(current.operands))
            self._waiting.extend(current.operands[:own])
            if current.kind == "while":
                self._waiting.append(current.regions[0].ops[-1].operands[0])
            current = self._parents[current]

    def _used(self, value: Value) -> None:
        if value in self._values:
            return
        self._values.add(value)
        op, number = self._makers.get(value, (None, None))
        if op is None:
            return
        self._live(op)
        if number is not None and (op, number) not in self._carried:
            self._carried.add((op, number))
            self._waiting.extend(self._handed(op, number))

    @staticmethod
    def _handed(op: Op, number: int) -> list[Value]:
        """Returns what a value that control hands on is, wherever it comes from."""
        ends = [region.ops[-1].operands for region in op.regions]
        if op.kind == "while":
            return [op.operands[number], ends[0][number + 1], ends[1][number]]
        return [operands[number] for operands in ends] + ([op.operands[3 + number]] if op.kind == "for" else [])

    def kept(self, block: Block) -> tuple[Op, ...]:
        """Returns the operations of a block that live, with what lives of them."""
        return tuple(self._reduced(op) for op in block.ops if op in self._ops or op.kind == "yield")

    def _reduced(self, op: Op) -> Op:
        if not op.regions:
            return op
        live = [number for number in range(len(op.results)) if (op, number) in self._carried]
        own, counters = _OWN[op.kind], _COUNTERS[op.kind]
        regions = []
        for place, region in enumerate(op.regions):
            arguments = region.arguments[:counters]
            arguments += tuple(region.arguments[counters + n] for n in live if region.arguments)
            *inner, last = self.kept(region)
            before = int(op.kind == "while" and place == 0)  # the condition
            handed = last.operands[:before] + tuple(last.operands[before + n] for n in live)
            regions.append(Block(arguments, (*inner, replace(last, operands=handed))))
        operands = op.operands[:own] + tuple(op.operands[own + n] for n in live if op.kind != "if")
        return replace(op, operands=operands, results=tuple(op.results[n] for n in live), regions=tuple(regions))
