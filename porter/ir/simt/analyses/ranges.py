"""Ranges: between which numbers integers lie, both included, forward from what the launch allows.

A value that a loop carries may be anything of its type; what the loop counts lies between its limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Scalar, Type

Range = tuple[int, int]
Extents = tuple[Range, Range, Range]
ANY_BLOCK: Extents = ((1, 1024), (1, 1024), (1, 64))
_GRID = (2**31 - 1, 65535, 65535)  # the blocks of a grid along an axis, as CUDA allows them


def limits(type_: Type) -> Range | None:
    """Returns the least and the greatest number of a type of integers; None for other types."""
    if type_ is Scalar.BOOL:
        return 0, 1
    if not isinstance(type_, Scalar) or not type_.is_integer:
        return None
    least = -(1 << type_.bits - 1) if type_.is_signed else 0
    return least, least + (1 << type_.bits) - 1


def ranges(function: Function, block: Extents = ANY_BLOCK) -> Mapping[Value, Range]:
    """Returns the range of each integer of `function` in blocks of these extents."""
    walk = _Walk(block)
    walk.block(function.body)
    return walk.found


class _Walk:
    def __init__(self, extents: Extents) -> None:
        self._extents = extents
        self.found: dict[Value, Range] = {}

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.kind == "for":
                self._counter(op)
            for region in op.regions:
                self.block(region)
            if op.kind == "if":
                self._joined(op)
            elif not op.regions and op.results and (whole := limits(op.result.type)) is not None:
                made = self._made(op)
                fits = made is not None and whole[0] <= made[0] and made[1] <= whole[1]
                self.found[op.result] = made if made is not None and fits else whole

    def of(self, value: Value) -> Range | None:
        return self.found.get(value) or limits(value.type)

    def _counter(self, op: Op) -> None:
        lower, upper, step = (self.of(operand) for operand in op.operands[:3])
        whole = limits(op.operands[0].type)
        if lower is None or upper is None or step is None or whole is None:
            return
        found = whole
        match op.attribute("compare"):
            case "lt" if step[0] > 0:
                found = lower[0], max(upper[1] - 1, lower[0])
            case "le" if step[0] > 0:
                found = lower[0], max(upper[1], lower[0])
            case "gt" if step[1] < 0:
                found = min(upper[0] + 1, lower[1]), lower[1]
            case "ge" if step[1] < 0:
                found = min(upper[0], lower[1]), lower[1]
        self.found[op.regions[0].arguments[0]] = found

    def _joined(self, op: Op) -> None:
        for number, result in enumerate(op.results):
            sides = [self.of(region.ops[-1].operands[number]) for region in op.regions]
            known = [side for side in sides if side is not None]
            if len(known) == len(sides):
                self.found[result] = min(k[0] for k in known), max(k[1] for k in known)

    def _made(self, op: Op) -> Range | None:
        """Returns the exact range of a result; None where it is not known."""
        if (place := self._place(op)) is not None:
            return place
        if op.kind == "constant":
            value = op.attribute("value")
            return (value, value) if isinstance(value, int) else None
        given = [self.of(operand) for operand in op.operands]
        if op.kind == "select":
            given = given[1:]
        if any(one is None for one in given):
            return None
        return _computed(op.kind, [one for one in given if one is not None])

    def _place(self, op: Op) -> Range | None:
        if op.kind not in ("thread_index", "block_index", "block_extent", "grid_extent"):
            return None
        axis = op.attribute("axis")
        assert isinstance(axis, int)
        match op.kind:
            case "thread_index":
                return 0, self._extents[axis][1] - 1
            case "block_extent":
                return self._extents[axis]
            case "block_index":
                return 0, _GRID[axis] - 1
        return 1, _GRID[axis]


def _computed(kind: str, given: Sequence[Range]) -> Range | None:
    """Returns the exact range of what an operation makes of numbers in these ranges; None where it is not known."""
    if len(given) == 1:
        (low, high) = given[0]
        return (low, high) if kind == "cast" or (kind == "abs" and low >= 0) else None
    if len(given) != 2:
        return None
    one, other = given
    if kind in _ANY_SIGN:
        return _ANY_SIGN[kind](one, other)
    is_positive = one[0] >= 0 and other[0] >= 0
    return _POSITIVE[kind](one, other) if kind in _POSITIVE and is_positive else None


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _common_bits(a: Range, b: Range) -> Range | None:
    highest = [high for low, high in (a, b) if low >= 0]
    return (0, min(highest)) if highest else None


def _quotient(a: Range, b: Range) -> Range | None:
    return (a[0] // b[1], a[1] // b[0]) if b[0] > 0 else None


def _remainder(a: Range, b: Range) -> Range | None:
    return (0, min(a[1], b[1] - 1)) if b[0] > 0 else None


def _all_bits(a: Range, b: Range) -> Range:
    return 0, (1 << max(a[1], b[1]).bit_length()) - 1


def _shifted_up(a: Range, b: Range) -> Range | None:
    return (a[0] << b[0], a[1] << b[1]) if b[1] < _MOST_BITS else None


_MOST_BITS = 64
_ANY_SIGN: Mapping[str, Callable[[Range, Range], Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "and": _common_bits,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "select": lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
}
_POSITIVE: Mapping[str, Callable[[Range, Range], Range | None]] = {
    "div": _quotient,
    "rem": _remainder,
    "shr": lambda a, b: (a[0] >> min(b[1], _MOST_BITS), a[1] >> b[0]),
    "shl": _shifted_up,
    "or": _all_bits,
    "xor": _all_bits,
}
