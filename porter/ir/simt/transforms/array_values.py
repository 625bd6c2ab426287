"""Scalar replacement of arrays: a thread's own array that is only accessed at known bytes becomes values.

Each cell is a variable that is followed through control: a branch yields it, a loop carries it. What is seen as numbers
of several types is the same bits; where a wide number lies over narrow ones, it is put together of them. An array that
is indexed otherwise, or whose address goes elsewhere, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.array_places import Cell, Cells, Piece, accessed, cells, unsigned
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.types import Scalar, Vector

_Held = dict[Cell, Value]


def arrays_as_values(function: Function) -> Function:
    """Returns `function` with values in place of the arrays that can be."""
    found = cells(function)
    if not found.pieces:
        return function
    replacing = _Replacing(found)
    body = Block((), tuple(replacing.block(function.body.ops, {})))
    return without_dead_code(replace(function, body=body), replacing.replaced)


@dataclass
class _Replacing:
    """Follows the cells of arrays. `replaced` has what stands for the results of loads."""

    cells: Cells

    def __post_init__(self) -> None:
        self.replaced: dict[Value, Value] = {}
        self._arrays = accessed(self.cells)

    def block(self, ops: Iterable[Op], held: _Held) -> list[Op]:
        """Returns operations without the accesses; `held` are the cells' values before, and then behind."""
        found: list[Op] = []
        for op in ops:
            if op.kind == "array" and op.result in self._arrays:
                found += self._begun(op.result, held)
            elif op in self.cells.pieces:
                (self._stored if op.kind == "store" else self._loaded)(op, held, found)
            elif op.regions:
                found.append(self._control(op, held))
            else:
                found.append(op)
        return found

    def _begun(self, array: Value, held: _Held) -> list[Op]:
        own = [(cell, type_) for cell, type_ in self.cells.types.items() if cell[0] is array]
        made = [Op("undefined", (), (Value(type_, array.name),)) for _, type_ in own]
        held.update({cell: op.result for (cell, _), op in zip(own, made, strict=True)})
        return made

    def _loaded(self, op: Op, held: _Held, found: list[Op]) -> None:
        parts = tuple(self._read(piece, held, found) for piece in self.cells.pieces[op])
        if isinstance(op.result.type, Vector):
            found.append(Op("pack", parts, op.results, (), (), op.location))
        else:
            self.replaced[op.result] = parts[0]

    def _read(self, piece: Piece, held: _Held, found: list[Op]) -> Value:
        own = self.cells.of(piece)
        if len(own) == 1:
            return _seen_as(held[own[0]], piece.type, found)
        whole, unit = unsigned(piece.type), self.cells.types[own[0]]
        total: Value | None = None
        for number, cell in enumerate(own):
            part = _emitted("cast", (held[cell],), whole, found)
            if number:
                by = _known(number * unit.bits, whole, found)
                part = _emitted("shl", (part, by), whole, found)
            total = part if total is None else _emitted("or", (total, part), whole, found)
        assert total is not None
        return _seen_as(total, piece.type, found)

    def _stored(self, op: Op, held: _Held, found: list[Op]) -> None:
        value = op.operands[2]
        for number, piece in enumerate(self.cells.pieces[op]):
            part = value
            if isinstance(value.type, Vector):
                part = Value(piece.type)
                found.append(Op("extract", (value,), (part,), (("index", number),)))
            self._write(piece, part, held, found)

    def _write(self, piece: Piece, value: Value, held: _Held, found: list[Op]) -> None:
        own = self.cells.of(piece)
        if len(own) == 1:
            held[own[0]] = _seen_as(value, self.cells.types[own[0]], found)
            return
        whole = unsigned(piece.type)
        bits = _seen_as(value, whole, found)
        for number, cell in enumerate(own):
            unit = self.cells.types[cell]
            part = bits
            if number:
                part = _emitted("shr", (bits, _known(number * unit.bits, whole, found)), whole, found)
            held[cell] = _emitted("cast", (part,), unit, found)

    def _control(self, op: Op, held: _Held) -> Op:
        """Returns control that hands on the cells that a region of it stores to."""
        stored = [cell for cell in self._stored_in(op) if cell in held]
        if op.kind == "if":
            regions = [Block(r.arguments, self._ended(r, dict(held), stored)) for r in op.regions]
        else:
            regions = [self._iteration(region, held, stored) for region in op.regions]
        begin = () if op.kind == "if" else tuple(held[cell] for cell in stored)
        results = tuple(Value(held[cell].type, cell[0].name) for cell in stored)
        held.update(zip(stored, results, strict=True))
        return replace(op, operands=(*op.operands, *begin), results=(*op.results, *results), regions=tuple(regions))

    def _iteration(self, region: Block, held: _Held, stored: list[Cell]) -> Block:
        arguments = tuple(Value(held[cell].type, cell[0].name) for cell in stored)
        inner = {**held, **dict(zip(stored, arguments, strict=True))}
        return Block((*region.arguments, *arguments), self._ended(region, inner, stored))

    def _ended(self, region: Block, held: _Held, stored: list[Cell]) -> tuple[Op, ...]:
        *ops, last = self.block(region.ops, held)
        return (*ops, replace(last, operands=(*last.operands, *(held[cell] for cell in stored))))

    def _stored_in(self, op: Op) -> list[Cell]:
        stores = (inner for region in op.regions for inner in walk(region) if inner.kind == "store")
        pieces = (piece for store in stores for piece in self.cells.pieces.get(store, ()))
        return list(dict.fromkeys(cell for piece in pieces for cell in self.cells.of(piece)))


def _emitted(kind: str, operands: tuple[Value, ...], type_: Scalar, found: list[Op]) -> Value:
    found.append(Op(kind, operands, (Value(type_),)))
    return found[-1].result


def _known(value: int, type_: Scalar, found: list[Op]) -> Value:
    found.append(constant(type_, value))
    return found[-1].result


def _seen_as(value: Value, type_: Scalar, found: list[Op]) -> Value:
    """Returns the same bits as another type."""
    return value if value.type is type_ else _emitted("bitcast", (value,), type_, found)
