"""Finds where accesses to a thread's own arrays lie, in bytes, and of which cells such an array is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from porter.ir.simt.ops import Function, Op, Value, walk
from porter.ir.simt.types import Array, Element, Pointer, Scalar, Space, Vector

_MOST_CELLS = 64
_WHOLE = {1: Scalar.U8, 2: Scalar.U16, 4: Scalar.U32, 8: Scalar.U64}


@dataclass(frozen=True, slots=True)
class Piece:
    """A number at a byte of an array."""

    array: Value
    byte: int
    type: Scalar

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.byte + self.type.bytes


Cell = tuple[Value, int]  # an array and the byte at which a cell of it begins


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of all arrays that can be values, with their types, and the pieces that each access touches."""

    types: Mapping[Cell, Scalar]
    pieces: Mapping[Op, tuple[Piece, ...]]

    def of(self, piece: Piece) -> list[Cell]:
        """Returns the cells that a piece is made of, the lowest first."""
        inside = [cell for cell in self.types if cell[0] is piece.array and piece.byte <= cell[1] < piece.end]
        return sorted(inside, key=lambda cell: cell[1])


def unsigned(type_: Scalar) -> Scalar:
    """Returns the unsigned integer of the same size."""
    return _WHOLE[type_.bytes]


def cells(function: Function) -> Cells:
    """Returns the cells of the arrays that are only accessed at known bytes."""
    places = _Places(function)
    pieces = {op: found for op, found in places.pieces.items() if found[0].array not in places.others}
    types: dict[Cell, Scalar] = {}
    refused: set[Value] = set()
    for array in places.arrays - places.others:
        own = [piece for found in pieces.values() for piece in found if piece.array is array]
        made = _apart(array, own) or _of_one_size(array, own)
        if made is None or len(made) > _MOST_CELLS:
            refused.add(array)
        else:
            types |= made
    return Cells(types, {op: found for op, found in pieces.items() if found[0].array not in refused})


def _apart(array: Value, pieces: Iterable[Piece]) -> dict[Cell, Scalar] | None:
    """Returns a cell for each piece where no two overlap but those at one place; None where some do."""
    found: dict[int, Piece] = {}
    for piece in sorted(pieces, key=lambda one: (one.byte, not one.type.is_float)):
        known = found.setdefault(piece.byte, piece)
        if known.end != piece.end or (Scalar.BOOL in (known.type, piece.type) and known.type is not piece.type):
            return None
    ordered = sorted(found.values(), key=lambda one: one.byte)
    if any(one.end > other.byte for one, other in pairwise(ordered)):
        return None
    return {(array, piece.byte): piece.type for piece in ordered}


def _of_one_size(array: Value, pieces: list[Piece]) -> dict[Cell, Scalar] | None:
    """Returns cells as large as the smallest piece, of which all others are whole numbers; None where they are not."""
    unit = min(piece.type.bytes for piece in pieces)
    if any(piece.byte % unit or piece.type is Scalar.BOOL for piece in pieces):
        return None
    return {(array, byte): _WHOLE[unit] for piece in pieces for byte in range(piece.byte, piece.end, unit)}


class _Places:
    """The arrays of threads, those of them that are used otherwise than at known bytes, and what accesses touch."""

    def __init__(self, function: Function) -> None:
        self.arrays: set[Value] = set()
        self.others: set[Value] = set()
        self.pieces: dict[Op, tuple[Piece, ...]] = {}
        self._at: dict[Value, tuple[Value, int]] = {}
        self._numbers: dict[Value, int] = {}
        for op in walk(function.body):
            self._note(op)

    def _note(self, op: Op) -> None:
        if op.kind == "constant" and isinstance(value := op.attribute("value"), int):
            self._numbers[op.result] = value
        if op.kind == "array" and isinstance(array := op.result.type, Array) and array.space is Space.LOCAL:
            self.arrays.add(op.result)
            self._at[op.result] = op.result, 0
        for number, operand in enumerate(op.operands):
            if operand in self._at and (number > 0 or not self._is_followed(op)):
                self.others.add(self._at[operand][0])

    def _is_followed(self, op: Op) -> bool:
        """Follows the use of an address; returns whether that is at a known byte, and inside the array."""
        array, byte = self._at[op.operands[0]]
        pointer = op.operands[0].type
        assert isinstance(pointer, Array | Pointer)
        if op.kind == "bitcast" and isinstance(op.result.type, Pointer):
            self._at[op.result] = array, byte
            return True
        index = self._numbers.get(op.operands[1]) if len(op.operands) > 1 else None
        if index is None or op.kind not in ("offset", "load", "store"):
            return False
        byte += index * pointer.element.bytes
        if op.kind == "offset":
            self._at[op.result] = array, byte
            return True
        self.pieces[op] = tuple(_pieces(array, byte, pointer.element))
        assert isinstance(array.type, Array)
        return byte >= 0 and byte + pointer.element.bytes <= array.type.element.bytes * array.type.count


def _pieces(array: Value, byte: int, element: Element) -> Iterable[Piece]:
    if isinstance(element, Scalar):
        return [Piece(array, byte, element)]
    assert isinstance(element, Vector)
    return [Piece(array, byte + number * element.element.bytes, element.element) for number in range(element.count)]


def accessed(found: Cells) -> AbstractSet[Value]:
    """Returns the arrays that become values."""
    return frozenset(piece.array for pieces in found.pieces.values() for piece in pieces)
