"""Operators on numbers that are known now."""

from __future__ import annotations

import math
from collections.abc import Callable

from porter_triton.lower.types import Arithmetic
from porter_triton.lower.values import Scalar, number


def holds(operator: str, left: float, right: float, type_: Arithmetic) -> bool:
    """Returns whether a comparison in `type_` is true."""
    if not type_.is_float:
        left, right = type_.wrap(int(left)), type_.wrap(int(right))
    table: dict[str, Callable[[float, float], bool]] = {
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
        "<=": lambda a, b: a <= b,
        ">=": lambda a, b: a >= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
    }
    return table[operator](left, right)


def fold(operator: str, left: Scalar, right: Scalar, type_: Arithmetic) -> Scalar | None:
    """`left operator right` in `type_` as a number; None where it is not known, or not defined."""
    a, b = left.constant, right.constant
    if a is None or b is None or type_.is_narrow:
        return None
    if type_.is_float:
        return number(_on_floats(operator, a, b), type_)
    found = _on_integers(operator, type_.wrap(int(a)), type_.wrap(int(b)))
    return None if found is None else number(found, type_)


def _on_floats(operator: str, a: float, b: float) -> float:
    if operator == "/" and b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
    if operator == "/":
        return a / b
    return {"+": a + b, "-": a - b, "*": a * b}[operator]


def _on_integers(operator: str, x: int, y: int) -> int | None:
    if operator in {"/", "%"}:
        if y == 0:
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if operator == "/" else x - quotient * y
    return {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[operator]
