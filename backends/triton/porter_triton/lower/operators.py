"""Operators on values of any kind: numbers, pointers to memory and to variables, structs."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower import access, calls, memory, views
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.types import LONG, Pointer
from porter_triton.lower.values import Address, Bits, Fields, Scalar, Value, number
from porter_triton.refusal import Refusal


def add(operator: str, left: Value, right: Scalar, line: int) -> Value:
    """`left + right` or `left - right`, where left may be a pointer of any kind."""
    if isinstance(left, Address):
        distance = binary("*", right, number(views.step(left)), line)
        return replace(left, offset=binary(operator, left.offset, distance, line))
    held = access.scalar(left, line)
    if isinstance(held.type, Pointer):
        return memory.step(held, right, operator, line)
    return binary(operator, held, right, line)


def operate(cx: Context, operator: str, left: Value, right: Value, line: int) -> Value:
    """`left operator right` for values of any kind."""
    left, right = computed(left, line), computed(right, line)
    if isinstance(left, Fields) or isinstance(right, Fields):
        return calls.operator(cx, operator, (left, right), line)
    if operator in {"+", "-"} and (_points(left) or _points(right)):
        if _points(left) and _points(right):
            return _difference(left, right, line)
        if _points(right):
            left, right = right, left
        return add(operator, left, access.scalar(right, line), line)
    return binary(operator, access.scalar(left, line), access.scalar(right, line), line)


def computed(held: Value, line: int) -> Value:
    """A value one can compute with."""
    return views.interpreted(held, line) if isinstance(held, Bits) else held


def _points(held: Value) -> bool:
    return isinstance(held, Address) or (isinstance(held, Scalar) and isinstance(held.type, Pointer))


def _difference(left: Value, right: Value, line: int) -> Scalar:
    if isinstance(left, Address) and isinstance(right, Address) and left.place is right.place:
        return convert(binary("-", left.offset, right.offset, line), LONG)
    raise Refusal(line, "two pointers are subtracted")
