"""What a value is made of: which threads' contributions, put together by which operation."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from porter.syntax.nodes import Expression, Literal, TypeName
from porter_triton.lift.exact import InexactError, operated
from porter_triton.lower.types import BUILT_IN, Arithmetic

_DIGIT = 12  # bits that count how often one thread's contribution is in a sum
_COUNTING = frozenset({"sum", "product", "xor"})
COUNTED = _COUNTING | {"max", "min", "and", "or"}  # all operations
_LARGEST_FLOAT = 3.5e38
_NEUTRAL = {"sum": 0, "product": 1, "xor": 0, "or": 0}


class UnclearError(Exception):
    """Something that is not understood here."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that all threads share and that no number is known for."""

    text: Expression


@dataclass(frozen=True, slots=True)
class Parts:
    """`operation` of the contributions `elements` of `source`, and of `constants`; no operation for a single one.

    `elements` has a digit for each thread: how often it contributes. `type` is that of a contribution, if it is known.
    """

    source: str
    elements: int
    operation: str = ""
    constants: frozenset[Expression] = frozenset()
    type: Arithmetic | None = None


Value = int | float | Constant | Parts


def single(source: str, thread: int, type_: Arithmetic | None) -> Parts:
    """The contribution of one thread."""
    return Parts(source, 1 << (_DIGIT * thread), type=type_)


def width(made: Parts) -> int:
    """The number of threads from the first on of which a value has one contribution each; 0 where it has others."""
    count = made.elements.bit_length() // _DIGIT + 1
    return count if made.elements == sum(1 << (_DIGIT * thread) for thread in range(count)) else 0


def is_whole(made: Parts, source: str, threads: int) -> bool:
    """Returns whether a value has each thread's part in it once, and is made by an operation that has a word."""
    return made.operation in COUNTED and made.source == source and width(made) == threads


def further(made: Parts, threads: int) -> Parts:
    """The same of the threads that come so many later."""
    return replace(made, elements=made.elements << (_DIGIT * threads))


def combined(operation: str, left: Value, right: Value) -> Value:
    """`left operation right`; raises `UnclearError` for what no reduction of one source makes."""
    if left == right and operation in {"max", "min", "and", "or"}:
        return left
    if isinstance(left, int | float) and isinstance(right, int | float) and operation in _ON_NUMBERS:
        return _ON_NUMBERS[operation](left, right)
    if isinstance(left, Parts):
        return _onto(operation, left, right)
    return _onto(operation, right, left) if isinstance(right, Parts) else _unclear()


def _onto(operation: str, held: Parts, other: Value) -> Parts:
    if held.operation not in {"", operation}:
        raise UnclearError
    if not isinstance(other, Parts):
        if not isinstance(other, Constant) and other == _NEUTRAL.get(operation):
            return held
        if operation not in {"max", "min"}:
            raise UnclearError
        text = other.text if isinstance(other, Constant) else _literal(other)
        return replace(held, operation=operation, constants=held.constants | {text})
    if other.operation not in {"", operation} or other.source != held.source:
        raise UnclearError
    counts = operation in _COUNTING
    elements = held.elements + other.elements if counts else held.elements | other.elements
    return replace(held, operation=operation, elements=elements, constants=held.constants | other.constants)


def _literal(value: float) -> Literal:
    if isinstance(value, int):
        return Literal(int(value), "int")
    return Literal(value, "float" if abs(value) < _LARGEST_FLOAT else "double")


def as_type(value: Value, kind: TypeName) -> Value:
    """`value` as one of the type; one of a template's parameter is taken to be what it is."""
    type_ = BUILT_IN.get(kind.name)
    if not isinstance(type_, Arithmetic) or kind.pointers:
        return value
    if isinstance(value, int | float):
        return _number_as(value, type_)
    if not isinstance(value, Parts) or type_ == value.type:
        return value
    wide = type_.is_float and not type_.is_narrow
    if not wide or (value.type is not None and (value.type.is_narrow or not value.type.is_float)):
        raise UnclearError
    return value


def _number_as(value: float, type_: Arithmetic) -> int | float:
    """A number as one of the type; raises `UnclearError` where that would be another number."""
    if type_.is_float or not math.isfinite(value):
        return float(value)
    if type_.kind == "bool":
        return int(bool(value))
    if value != int(value) or (value < 0 and type_.kind == "uint"):
        raise UnclearError
    return int(value)


_ON_NATURALS: Mapping[str, Callable[[int, int], int]] = {
    "<": operator.lt, "/": operator.floordiv, "%": operator.mod, "&": operator.and_, ">>": operator.rshift,
    "+": operator.add, "*": operator.mul, "==": operator.eq,
}  # fmt: skip


def calculated(symbol: str, left: float, right: float) -> int | float:
    """`left symbol right`; raises `UnclearError` where that is not exact in 32 bits of a float."""
    try:
        if isinstance(left, int) and isinstance(right, int):
            quick = _ON_NATURALS.get(symbol) if left >= 0 and right > 0 else None
            return int(quick(left, right) if quick is not None else operated(symbol, left, right))
        made = operated(symbol, *(Fraction(n) if isinstance(n, float) else n for n in (left, right)))
        if isinstance(made, int) or struct.unpack("f", struct.pack("f", made)) == (made,):
            return made if isinstance(made, int) else float(made)
    except (InexactError, OverflowError, ValueError):  # of infinity and of what is no number
        pass
    raise UnclearError


_ON_NUMBERS: Mapping[str, Callable[[float, float], int | float]] = {
    "sum": partial(calculated, "+"),
    "product": partial(calculated, "*"),
    "max": max,
    "min": min,
}


def _unclear() -> Parts:
    raise UnclearError
