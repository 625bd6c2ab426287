"""Defines expressions of Triton: a text with its precedence, and what Triton knows of its value."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from enum import IntEnum

from porter.ir.simt.types import Pointer, Scalar, Vector

_TRITON = {
    Scalar.BOOL: "int1", Scalar.I8: "int8", Scalar.I16: "int16", Scalar.I32: "int32", Scalar.I64: "int64",
    Scalar.U8: "uint8", Scalar.U16: "uint16", Scalar.U32: "uint32", Scalar.U64: "uint64", Scalar.F16: "float16",
    Scalar.BF16: "bfloat16", Scalar.F32: "float32", Scalar.F64: "float64",
}  # fmt: skip
_LARGEST_FLOAT = 3.4028234663852886e38  # beyond, Triton takes a literal for a double
_SIGNED = {Scalar.U8: Scalar.I8, Scalar.U16: Scalar.I16, Scalar.U32: Scalar.I32, Scalar.U64: Scalar.I64}


class Level(IntEnum):
    """The precedence of a text in Python; a looser one within a tighter one needs brackets."""

    COMPARISON = 1
    OR = 2
    XOR = 3
    AND = 4
    SHIFT = 5
    SUM = 6
    PRODUCT = 7
    SIGN = 8
    ATOM = 9


@dataclass(frozen=True, slots=True)
class Expression:
    """The text of a value, of the type that Triton sees.

    `varying`: a tensor with an element a thread, else a scalar. `turns`: with a row for each of several iterations
    (`tiles.py`), which has one element where it does not vary. `number` is the value of a literal. `loose`: it may be a
    number of Python, which takes the type of the other operand. `reads` are the variables that the text reads.
    """

    text: str
    type: Scalar | Pointer
    varying: bool = False
    level: Level = Level.ATOM
    number: float | None = None
    loose: bool = False
    reads: frozenset[str] = frozenset()
    turns: bool = False

    def within(self, level: Level) -> str:
        """Returns the text as it may stand where the level is needed."""
        return self.text if self.level >= level else f"({self.text})"

    def reading(self, *others: Expression) -> Expression:
        """Returns the expression where its text reads what others do, too."""
        return replace(self, reads=self.reads.union(*(other.reads for other in others)))

    @property
    def is_atom(self) -> bool:
        """Returns whether the text may be repeated: it is a name or a number."""
        return self.number is not None or self.text.isidentifier()


def variable(
    name: str, type_: Scalar | Pointer, *, varying: bool = False, turns: bool = False, loose: bool = False
) -> Expression:
    """Returns a variable that a line of the text sets."""
    return Expression(name, type_, varying, turns=turns, loose=loose, reads=frozenset({name}))


def dtype_name(type_: Scalar) -> str:
    """Returns the name that Triton and PyTorch share; that of a truth value is Triton's."""
    return _TRITON[type_]


def type_text(type_: Scalar) -> str:
    """Returns a type as Triton's text names it."""
    return f"tl.{_TRITON[type_]}"


def element_type(pointer: Pointer) -> Scalar:
    """Returns the number that Triton's pointer to the same memory leads to."""
    return pointer.element.element if isinstance(pointer.element, Vector) else pointer.element


def signed(type_: Scalar) -> Scalar:
    """Returns the type with a sign of the same size; any other type itself."""
    return _SIGNED.get(type_, type_)


def literal(value: float, type_: Scalar) -> Expression:
    """Returns a number as Python writes it; Triton gives it the type of the other operand."""
    if type_ is Scalar.BOOL:
        return Expression(str(bool(value)), type_, number=value, loose=True)
    text = _float(value, type_) if type_.is_float else str(value)
    level = Level.SIGN if text.startswith("-") else Level.ATOM
    return Expression(text, type_, level=level, number=value, loose=True)


def _float(value: float, type_: Scalar) -> str:
    if math.isnan(value):
        return 'float("nan")'
    if math.isinf(value):
        return 'float("inf")' if value > 0 else '-float("inf")'
    if type_ is not Scalar.F64 and _single(value) is not None:  # no more digits than the type needs
        shortest = (float(f"{value:.{digits}g}") for digits in range(1, 10))
        value = next((x for x in shortest if _single(x) == _single(value) and abs(x) <= _LARGEST_FLOAT), value)
    return repr(value).replace("e+", "e")


def _single(value: float) -> bytes | None:
    try:
        return struct.pack("f", value)
    except OverflowError:
        return None


def infix(symbol: str, level: Level, left: Expression, right: Expression, type_: Scalar | Pointer) -> Expression:
    """Returns both with an operator between; the second binds tighter, and so do both sides of a comparison."""
    first = left.within(Level(level + 1) if level is Level.COMPARISON else level)
    text = f"{first} {symbol} {right.within(Level(level + 1))}"
    return combined(text, type_, left, right, level=level)


def call(name: str, type_: Scalar | Pointer, *operands: Expression) -> Expression:
    """Returns a call of a function whose result depends on its operands only."""
    return combined(f"{name}({', '.join(operand.text for operand in operands)})", type_, *operands)


def combined(text: str, type_: Scalar | Pointer, *parts: Expression, level: Level = Level.ATOM) -> Expression:
    """Returns a text made of the texts of `parts`."""
    is_loose = bool(parts) and level is not Level.ATOM and all(part.loose for part in parts)
    reads = frozenset[str]().union(*(part.reads for part in parts))
    varying, turns = any(part.varying for part in parts), any(part.turns for part in parts)
    return Expression(text, type_, varying, level, loose=is_loose, reads=reads, turns=turns)


def to_type(value: Expression, type_: Scalar) -> Expression:
    """Returns a number converted as Triton converts it; integers of the same size keep their bits."""
    if value.number is not None:
        return literal(_wrapped(value.number, type_), type_)
    if value.type is type_ and not value.loose:
        return value
    if value.loose:
        text = f"tl.cast({value.text}, {type_text(type_)})"
    else:
        text = f"{value.within(Level.ATOM)}.to({type_text(type_)})"
    return replace(value, text=text, type=type_, level=Level.ATOM, loose=False)


def _wrapped(value: float, type_: Scalar) -> float:
    if type_ is Scalar.BOOL:
        return bool(value)
    if type_.is_float:
        return float(value)
    whole = int(value) & (1 << type_.bits) - 1
    return whole - (1 << type_.bits) if type_.is_signed and whole >> type_.bits - 1 else whole


def settled(value: Expression) -> Expression:
    """Returns what Triton holds as a value of its own, where it may be a number of Python."""
    if not value.loose:
        return value
    assert isinstance(value.type, Scalar)
    text = f"tl.cast({value.text}, {type_text(value.type)})"
    if value.type is Scalar.F64 and value.number is not None and not _is_single(value.number):
        text = f"tl.full([], {value.text}, {type_text(value.type)})"
    return replace(value, text=text, level=Level.ATOM, number=None, loose=False)


def alone(value: Expression) -> Expression:
    """Returns a value without another operand: Triton then takes a float for one of 32 bits."""
    is_cut = value.type is Scalar.F64 and value.number is not None and not _is_single(value.number)
    return settled(value) if is_cut else value


def _is_single(value: float) -> bool:
    """Returns whether a float has 32 bits; whole numbers keep their size."""
    if not isinstance(value, float) or not math.isfinite(value):
        return True
    bits = _single(value)
    return bits is not None and struct.unpack("f", bits)[0] == value


def part_name(number: int, count: int) -> str:
    """Returns what a number of a vector of so many is called."""
    return "xyzw"[number] if count <= len("xyzw") else str(number)
