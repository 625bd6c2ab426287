"""Tells which integers of a function are sums of digits of the thread's number, and which conditions fix digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

from porter.ir.simt.ops import Op, Value
from porter.ir.simt.types import Scalar
from porter_triton.thread_level.affine import UNBOUNDED, Affine, Digit, thread_digit

Pins = tuple[tuple[Digit, int], ...]  # digits with the value that they have
BlockExtents = tuple[int | None, int | None, int | None]  # None where the launches do not agree


@dataclass
class ThreadDigits:
    """Writes integers of one function as sums of digits of the thread's number, for blocks of these extents.

    `uniforms` has the value behind each name in the uniform part of an index.
    """

    makers: Mapping[Value, Op]
    varying: AbstractSet[Value]
    extents: BlockExtents
    uniforms: dict[str, Value] = field(default_factory=dict)
    _found: dict[Value, Affine | None] = field(default_factory=dict)

    def of(self, value: Value) -> Affine | None:
        """Returns an integer as a sum of digits; None where it is not one."""
        if value not in self._found:
            self._found[value] = self._told(value)
        return self._found[value]

    def pins(self, condition: Value) -> tuple[Pins, bool]:
        """Returns the digits that a condition fixes, and whether it says nothing else."""
        maker = self.makers.get(condition)
        if maker is not None and maker.kind == "and":
            (one, is_exact), (other, is_exact_too) = map(self.pins, maker.operands)
            return one + other, is_exact and is_exact_too
        if maker is None or maker.kind not in ("eq", "lt"):
            return (), False
        left, right = map(self.of, maker.operands)
        if maker.kind == "eq" and right is not None and right.digit is not None:
            left, right = right, left
        if left is None or left.digit is None or right is None or right.terms or right.rest:
            return (), False
        if maker.kind == "lt":  # below 1, a digit is 0
            return (((left.digit, 0),), True) if right.offset == 1 else ((), False)
        return ((left.digit, right.offset),), True

    def number(self, value: Value) -> int | None:
        """Returns the number that an integer is; None where it is not known."""
        found = self.of(value)
        return found.offset if found is not None and not found.terms and not found.rest else None

    def _told(self, value: Value) -> Affine | None:
        if not isinstance(value.type, Scalar) or not value.type.is_integer:
            return None
        maker = self.makers.get(value)
        found = self._made(maker) if maker is not None else None
        return self._uniform(value) if found is None and value not in self.varying else found

    def _uniform(self, value: Value) -> Affine:
        name = f"u{len(self.uniforms)}"
        self.uniforms[name] = value
        return Affine(rest=((name, 1),), multiple=1)

    def _made(self, op: Op) -> Affine | None:
        if op.kind == "constant":
            number = op.attribute("value")
            return Affine(offset=number) if isinstance(number, int) else None
        if op.kind in ("thread_index", "block_extent"):
            return self._coordinate(op)
        rule = _RULES.get(op.kind)
        operands = [self.of(operand) for operand in op.operands] if rule is not None else []
        if rule is None or None in operands:
            return None
        return rule(*operands)

    def _coordinate(self, op: Op) -> Affine | None:
        axis = op.attribute("axis")
        assert isinstance(axis, int)
        if op.kind == "block_extent":
            extent = self.extents[axis]
            return None if extent is None else Affine(offset=extent)
        divisor = 1
        for before in self.extents[:axis]:
            if before is None:
                return None
            divisor *= before
        is_last = all(extent == 1 for extent in self.extents[axis + 1 :])
        known = self.extents[axis]
        if known is None and not is_last:
            return None
        return thread_digit(divisor, UNBOUNDED if known is None else known, is_last)


def _number(value: Affine) -> int | None:
    return None if value.terms or value.rest else value.offset


def _product(one: Affine, other: Affine) -> Affine | None:
    for value, factor in ((one, _number(other)), (other, _number(one))):
        if factor is not None:
            return value.times(factor)
    return None


def _by_number(apply: Callable[[Affine, int], Affine | None], one: Affine, other: Affine) -> Affine | None:
    by = _number(other)
    return None if by is None or by <= 0 else apply(one, by)


def _quotient(value: Affine, by: int) -> Affine | None:
    return value if by == 1 else value.quotient(by)


def _remainder(value: Affine, by: int) -> Affine | None:
    return Affine() if by == 1 else value.remainder(by)


def _lowest_bits(value: Affine, mask: int) -> Affine | None:
    return value.remainder(mask + 1) if mask & (mask + 1) == 0 else None


def _shifted_up(one: Affine, other: Affine) -> Affine | None:
    bits = _number(other)
    return one.times(1 << bits) if bits is not None and 0 <= bits < UNBOUNDED.bit_length() else None


def _shifted_down(one: Affine, other: Affine) -> Affine | None:
    bits = _number(other)
    return _quotient(one, 1 << bits) if bits is not None and 0 <= bits < UNBOUNDED.bit_length() else None


_RULES: Mapping[str, Callable[..., Affine | None]] = {
    "cast": lambda value: value,
    "add": Affine.plus,
    "sub": lambda one, other: one.plus(other.times(-1)),
    "mul": _product,
    "div": partial(_by_number, _quotient),
    "rem": partial(_by_number, _remainder),
    "and": partial(_by_number, _lowest_bits),
    "shl": _shifted_up,
    "shr": _shifted_down,
}
