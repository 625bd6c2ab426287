"""Writes values of the tile IR as C++ expressions, for one element of a tile or for the whole block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from fractions import Fraction
from math import inf

from porter.contract.model.dtype import DType
from porter.ir.tile.expressions import Cast, Compute, Filled, Lanes, Literal, Load, Name, Program, Value
from porter_maca.tiles.types import SINGLE, Types, UnprintableError, type_name


class Level(IntEnum):
    """The precedence of a text in C++; a looser one within a tighter one needs parentheses."""

    CHOICE = 1
    OR = 2
    AND = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    ATOM = 8


_INFIX = {
    "add": (" + ", Level.SUM),
    "subtract": (" - ", Level.SUM),
    "multiply": (" * ", Level.PRODUCT),
    "divide": (" / ", Level.PRODUCT),
    "divide_rn": (" / ", Level.PRODUCT),
    "multiply_rn": (" * ", Level.PRODUCT),
    "floor_divide": (" / ", Level.PRODUCT),
    "quotient": (" / ", Level.PRODUCT),
    "modulo": (" % ", Level.PRODUCT),
    "remainder": (" % ", Level.PRODUCT),
    "less": (" < ", Level.COMPARISON),
    "equal": (" == ", Level.COMPARISON),
    "and": (" && ", Level.AND),
    "or": (" || ", Level.OR),
}
_NEGATED = {"less": " >= ", "equal": " != "}
_SUFFIXED = (
    *("exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("asin", "acos", "atan", "erf", "erfc", "lgamma", "floor", "ceil"),
)
# Names of single precision; those of double precision lack the f.
_FUNCTIONS = {
    "power": "powf",
    "round": "rintf",
    "atan2": "atan2f",
    **{name: f"{name}f" for name in _SUFFIXED},
}
_OF_COUNTS = {"floor_divide": "quotient", "modulo": "rest"}
CONSTANTS = {"BLOCK_ROWS": "kRows", "BLOCK_COLUMNS": "kColumns", "PARTS": "kParts"}


def literal(value: Fraction | float, dtype: DType | None) -> str:
    """Returns a number as C++ writes it in the type `dtype`; whole numbers stay whole where that is None."""
    if isinstance(value, float) and value in (inf, -inf):
        return "INFINITY" if value > 0 else "-INFINITY"
    exact = Fraction(value)
    if exact.denominator == 1 and (dtype is None or not dtype.is_float):
        return str(exact.numerator)
    return repr(float(exact)) + ("" if dtype is DType.FLOAT64 else "f")


class Expressions:
    """Writes values; `element` gives the text of a name that has a value for each element of a tile."""

    def __init__(self, types: Types, element: Callable[[Name], str]) -> None:
        self.types = types
        self._element = element

    def text(self, value: Value, least: Level = Level.CHOICE, wanted: DType | None = None) -> str:
        """Returns `value` as text that may stand where the level `least` is needed; literals are `wanted`."""
        told, level = self._told(value, wanted)
        return told if level >= least else f"({told})"

    def element_at(self, pointer: Value) -> str:
        """Returns the element at a pointer."""
        base, *offsets = _flat(pointer)
        if not offsets:
            return f"*{self.text(base, Level.ATOM)}"
        return f"{self.text(base, Level.ATOM)}[{self.text(summed(offsets))}]"

    def converted(self, value: Value, dtype: DType) -> str:
        """Returns a value in the type `dtype`."""
        own = self.types.of(value)
        if own is None or own is dtype:
            return self.text(value, wanted=dtype)
        return f"static_cast<{type_name(dtype)}>({self.text(value)})"

    def _of_type(self, value: Value, dtype: DType) -> str:
        """Returns a value that overloads take for one of type `dtype`: a whole literal alone is an `int`."""
        is_literal = self.types.of(value) is None and dtype is DType.INT64
        return f"static_cast<int64_t>({self.text(value)})" if is_literal else self.converted(value, dtype)

    def _told(self, value: Value, wanted: DType | None) -> tuple[str, Level]:
        match value:
            case Literal(number) | Filled(number):
                told = literal(number, wanted)
                return told, Level.SIGN if told.startswith("-") else Level.ATOM
            case Name(name):
                return CONSTANTS.get(name) or self._element(value), Level.ATOM
            case Lanes(_, block):
                return self._element(Name(block)), Level.ATOM
            case Program(dimension):
                return f"blockIdx.{'xyz'[dimension]}", Level.ATOM
            case Cast(inner, dtype):
                if self.types.of(inner) is dtype:
                    return self._told(inner, dtype)
                return f"static_cast<{type_name(dtype)}>({self.text(inner, wanted=dtype)})", Level.ATOM
            case Load():
                return self._loaded(value)
            case Compute():
                return self._computed(value, wanted)
        raise UnprintableError(f"a {type(value).__name__} stands within another value")

    def _loaded(self, load: Load) -> tuple[str, Level]:
        tensor = self.types.tensor(load.pointer)
        stored = self.types.tensors[tensor]
        dtype = load.dtype or stored
        told, level = self.element_at(load.pointer), Level.SIGN
        if dtype is not stored or tensor in self.types.generic:
            told, level = f"static_cast<{type_name(dtype)}>({told})", Level.ATOM
        if load.mask is None:
            return told, level
        return f"{self.text(load.mask, Level.OR)} ? {told} : {literal(load.other, dtype)}", Level.CHOICE

    def _computed(self, value: Compute, wanted: DType | None) -> tuple[str, Level]:
        operands = value.operands
        own = self.types.of(value) or wanted
        inner = self.types.joint(operands) or wanted
        match value.op:
            case "not":
                return self._negated(operands[0])
            case "negate":
                return f"-{self.text(operands[0], Level.SIGN, own)}", Level.SIGN
            case "truncate":
                return f"tile::whole({self.text(operands[0])})", Level.ATOM
            case "cast":
                return self._told(operands[0], wanted)
            case "select":
                condition, first, second = operands
                chosen = f"{self.text(first, Level.OR, own)} : {self.text(second, Level.CHOICE, own)}"
                return f"{self.text(condition, Level.OR)} ? {chosen}", Level.CHOICE
            case "ceil_divide":
                above, below = operands
                less = f"{self.text(above, Level.SUM)} + {self.text(below, Level.SUM)} - 1"
                return f"({less}) / {self.text(below, Level.SIGN)}", Level.PRODUCT
            case "floor_divide" | "modulo" if self.types.is_counted(operands[0]):
                return self._called_within(_OF_COUNTS[value.op], operands)
            case "divide" if inner is None or not inner.is_float:
                operands = tuple(Cast(one, self.types.precision) for one in operands)
                return self._infix("divide", operands, self.types.precision)
            case op if op in SINGLE:
                return self._infix(op, [Cast(one, DType.FLOAT32) for one in operands], DType.FLOAT32)
            case op if op in _INFIX:
                return self._infix(op, operands, inner)
        return self._called(value.op, operands, own)

    def _called_within(self, name: str, operands: Sequence[Value]) -> tuple[str, Level]:
        return f"tile::{name}({', '.join(map(self.text, operands))})", Level.ATOM

    def _negated(self, value: Value) -> tuple[str, Level]:
        match value:
            case Compute("less" | "equal" as op, operands):
                joint = self.types.joint(operands)
                return _NEGATED[op].join(self.text(one, Level.SUM, joint) for one in operands), Level.COMPARISON
        return f"!{self.text(value, Level.SIGN)}", Level.SIGN

    def _infix(self, op: str, operands: Sequence[Value], dtype: DType | None) -> tuple[str, Level]:
        """Returns operands with the operator between them; comparisons and the right side of a minus bind tighter."""
        sign, level = _INFIX[op]
        if op == "remainder" and dtype is not None and dtype.is_float:
            return self._called("fmod", operands, dtype)
        tighter = Level(level + 1)
        first = self.text(operands[0], tighter if level is Level.COMPARISON else level, dtype)
        return sign.join([first, *(self.text(one, tighter, dtype) for one in operands[1:])]), level

    def _called(self, op: str, operands: Sequence[Value], dtype: DType | None) -> tuple[str, Level]:
        is_float = dtype is None or dtype.is_float
        if op in ("maximum", "minimum", "at_most"):
            own = dtype or DType.INT32
            return self.extreme(op, [self._of_type(one, own) for one in operands], own), Level.ATOM
        name = {"absolute": "fabsf" if is_float else "abs", "fmod": "fmodf"}.get(op) or _FUNCTIONS.get(op)
        if name is None:
            raise UnprintableError(f"there is no '{op}' in MACA C++")
        if dtype is DType.FLOAT64:
            name = name.removesuffix("f")
        return f"{name}({', '.join(self.converted(one, dtype or DType.FLOAT32) for one in operands)})", Level.ATOM

    @staticmethod
    def extreme(op: str, texts: Sequence[str], dtype: DType) -> str:
        """Returns the extreme of numbers of type `dtype`, of which one that is NaN does not count."""
        word = "max" if op == "maximum" else "min"
        name = {DType.FLOAT64: f"f{word}", DType.FLOAT32: f"f{word}f"}.get(dtype, word)
        first, *others = texts
        rest = others[0] if len(others) == 1 else Expressions.extreme(op, others, dtype)
        return f"{name}({first}, {rest})"


def _flat(pointer: Value) -> list[Value]:
    """Returns a pointer as where it begins and what is added."""
    match pointer:
        case Compute("add", (first, *others)):
            return [*_flat(first), *others]
    return [pointer]


def summed(values: Sequence[Value]) -> Value:
    """Returns the sum of values."""
    return values[0] if len(values) == 1 else Compute("add", tuple(values))


def pointer_parts(pointer: Value) -> tuple[Value, tuple[Value, ...]]:
    """Returns where a pointer begins, and what is added to that."""
    base, *offsets = _flat(pointer)
    return base, tuple(offsets)
