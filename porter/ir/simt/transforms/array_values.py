"""Scalar replacement of arrays: a thread's own array whose indices are all numbers becomes values.

Each element is a variable that is followed through control: a branch yields it, a loop carries it. An array that is
indexed otherwise, or whose address goes elsewhere, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.types import Array, Space

_MOST_ELEMENTS = 64
Cell = tuple[Value, int]  # an array and the number of an element
_Cells = dict[Cell, Value]


def arrays_as_values(function: Function) -> Function:
    """Returns `function` with values in place of the arrays that can be."""
    arrays = _replaceable(function)
    if not arrays:
        return function
    replacing = _Replacing(arrays, _constants(function))
    body = Block((), tuple(replacing.block(function.body.ops, {})))
    return without_dead_code(replace(function, body=body), replacing.replaced)


def _constants(function: Function) -> dict[Value, int]:
    found = ((op.result, op.attribute("value")) for op in walk(function.body) if op.kind == "constant")
    return {value: number for value, number in found if isinstance(number, int)}


def _replaceable(function: Function) -> frozenset[Value]:
    """The arrays that are only loaded from and stored to, at numbers."""
    constants, arrays, others = _constants(function), set[Value](), set[Value]()
    for op in walk(function.body):
        array = op.result.type if op.kind == "array" else None
        if isinstance(array, Array) and array.space is Space.LOCAL and array.count <= _MOST_ELEMENTS:
            arrays.add(op.result)
        others.update(operand for operand in op.operands if not _is_plain(op, operand, constants))
    return frozenset(arrays - others)


def _is_plain(op: Op, operand: Value, constants: dict[Value, int]) -> bool:
    """Returns whether an operation loads from an array, or stores to it, at a number inside it."""
    if op.kind not in ("load", "store") or not isinstance(array := operand.type, Array):
        return False
    index = constants.get(op.operands[1])
    return op.operands[0] is operand and index is not None and 0 <= index < array.count


@dataclass
class _Replacing:
    """Follows the elements of `arrays`. `replaced` has what stands for the results of loads."""

    arrays: frozenset[Value]
    constants: dict[Value, int]

    def __post_init__(self) -> None:
        self.replaced: dict[Value, Value] = {}

    def block(self, ops: Iterable[Op], cells: _Cells) -> list[Op]:
        """Returns operations without the accesses; `cells` are the elements' values before, and then behind."""
        found: list[Op] = []
        for op in ops:
            if op.kind == "array" and op.result in self.arrays:
                found += self._begun(op.result, cells)
            elif op.kind in ("load", "store") and op.operands[0] in self.arrays:
                cell = op.operands[0], self.constants[op.operands[1]]
                if op.kind == "store":
                    cells[cell] = op.operands[2]
                else:
                    self.replaced[op.result] = cells[cell]
            elif op.regions:
                found.append(self._control(op, cells))
            else:
                found.append(op)
        return found

    @staticmethod
    def _begun(array: Value, cells: _Cells) -> list[Op]:
        assert isinstance(array.type, Array)
        made = [Op("undefined", (), (Value(array.type.element, array.name),)) for _ in range(array.type.count)]
        cells.update({(array, number): op.result for number, op in enumerate(made)})
        return made

    def _control(self, op: Op, cells: _Cells) -> Op:
        """Returns control that hands on the elements that a region of it stores to."""
        stored = [cell for cell in self._stored(op) if cell in cells]
        if op.kind == "if":
            regions = [self._branch(region, cells, stored) for region in op.regions]
        else:
            regions = [self._iteration(region, cells, stored) for region in op.regions]
        begin = () if op.kind == "if" else tuple(cells[cell] for cell in stored)
        results = tuple(Value(cells[cell].type, cell[0].name) for cell in stored)
        cells.update(zip(stored, results, strict=True))
        return replace(op, operands=(*op.operands, *begin), results=(*op.results, *results), regions=tuple(regions))

    def _branch(self, region: Block, cells: _Cells, stored: list[Cell]) -> Block:
        return Block(region.arguments, self._ended(region, dict(cells), stored))

    def _iteration(self, region: Block, cells: _Cells, stored: list[Cell]) -> Block:
        arguments = tuple(Value(cells[cell].type, cell[0].name) for cell in stored)
        inner = {**cells, **dict(zip(stored, arguments, strict=True))}
        return Block((*region.arguments, *arguments), self._ended(region, inner, stored))

    def _ended(self, region: Block, cells: _Cells, stored: list[Cell]) -> tuple[Op, ...]:
        *ops, last = self.block(region.ops, cells)
        return (*ops, replace(last, operands=(*last.operands, *(cells[cell] for cell in stored))))

    def _stored(self, op: Op) -> list[Cell]:
        stores = (inner for region in op.regions for inner in walk(region) if inner.kind == "store")
        found = ((s.operands[0], self.constants[s.operands[1]]) for s in stores if s.operands[0] in self.arrays)
        return list(dict.fromkeys(found))
