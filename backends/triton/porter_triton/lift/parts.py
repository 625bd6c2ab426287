"""What a value is made of: which threads' contributions, put together by which operation."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import Expression, Literal, TypeName
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


def _whole(threads: int) -> int:
    """The elements of all threads, each once."""
    return sum(1 << (_DIGIT * thread) for thread in range(threads))


def is_whole(made: Parts, source: str, threads: int) -> bool:
    """Whether a value has each thread's part in it once, and is made by an operation that has a word."""
    return made.operation in COUNTED and made.source == source and made.elements == _whole(threads)


def combined(operation: str, left: Value, right: Value) -> Value:
    """`left operation right`; raises `UnclearError` for what no reduction of one source makes."""
    if left == right and operation in {"max", "min", "and", "or"}:
        return left
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
    if not isinstance(value, Parts) or not isinstance(type_, Arithmetic) or kind.pointers or type_ == value.type:
        return value
    wide = type_.is_float and not type_.is_narrow
    if not wide or (value.type is not None and (value.type.is_narrow or not value.type.is_float)):
        raise UnclearError
    return value


def _unclear() -> Parts:
    raise UnclearError
