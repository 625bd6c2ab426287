"""Values of the tile IR as Triton expressions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from fractions import Fraction
from math import inf

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import (
    Axes,
    Axis,
    Cast,
    Compute,
    Filled,
    Fold,
    FoldIndex,
    Lanes,
    Literal,
    Load,
    Name,
    Program,
    Running,
    Ticket,
    Value,
    axes,
    parts,
)


class Level(IntEnum):
    """The precedence of a text in Python; a looser one within a tighter one needs parentheses."""

    COMPARISON = 1
    AND = 2
    SUM = 3
    PRODUCT = 4
    SIGN = 5
    ATOM = 6


_INFIX = {
    "add": (" + ", Level.SUM),
    "subtract": (" - ", Level.SUM),
    "multiply": (" * ", Level.PRODUCT),
    "divide": (" / ", Level.PRODUCT),
    "floor_divide": (" // ", Level.PRODUCT),
    "quotient": (" // ", Level.PRODUCT),
    "modulo": (" % ", Level.PRODUCT),
    "remainder": (" % ", Level.PRODUCT),
    "less": (" < ", Level.COMPARISON),
    "equal": (" == ", Level.COMPARISON),
    "and": (" & ", Level.AND),
    "or": (" | ", Level.AND),
}
_NEGATED = {"less": " >= ", "equal": " != "}
_FUNCTIONS = {
    "maximum": "tl.maximum",
    "minimum": "tl.minimum",
    "at_most": "tl.minimum",
    "ceil_divide": "tl.cdiv",
    "select": "tl.where",
    "absolute": "tl.abs",
    **{name: f"tl.{name}" for name in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "erf")},
    **{name: f"tl.{name}" for name in ("floor", "ceil")},
    **{
        name: f"libdevice.{name}"
        for name in ("tanh", "expm1", "log1p", "tan", "sinh", "cosh", "asin", "acos", "atan", "atan2", "erfc", "lgamma")
    },
    "divide_rn": "divided",
    "multiply_rn": "multiplied",
    "power": "libdevice.pow",
    "round": "rounded",
}
_FOLDS = {Combine.SUM: "tl.sum", Combine.MAXIMUM: "tl.max", Combine.MINIMUM: "tl.min"}
_INDICES = {Combine.MAXIMUM: "tl.argmax", Combine.MINIMUM: "tl.argmin"}
_SCANS = {Combine.SUM: "tl.cumsum", Combine.PRODUCT: "tl.cumprod"}
_MOST_BOUND = 1 << 24  # whole numbers that a single float has exactly
_BLOCKS = {Axis.ROWS: "BLOCK_ROWS", Axis.COLUMNS: "BLOCK_COLUMNS"}


class UnprintableError(Exception):
    """Triton has no word for a value; the message says which."""


def type_name(dtype: DType) -> str:
    """Returns Triton's name of a type."""
    return "tl.int1" if dtype is DType.BOOL else f"tl.{dtype.value}"


def literal(value: Fraction | float) -> str:
    """Returns a number as Python writes it."""
    if isinstance(value, float) and value in (inf, -inf):
        return 'float("inf")' if value > 0 else '-float("inf")'
    exact = Fraction(value)
    return str(exact.numerator) if exact.denominator == 1 else repr(float(exact))


def text(value: Value, wanted: Axes | None = None, least: Level = Level.COMPARISON) -> str:
    """Returns `value` as text that may stand where the level `least` is needed.

    With `wanted` it has an axis of length 1 for each of these that it lacks.
    """
    own = axes(value)
    if wanted is not None and own and own != wanted:
        position = "[:, None]" if own == {Axis.ROWS} else "[None, :]"
        return f"{text(value, None, Level.ATOM)}{position}"
    told, level = _told(value)
    return told if level >= least else f"({told})"


def _told(value: Value) -> tuple[str, Level]:
    match value:
        case Literal(number):
            told = literal(number)
            return told, Level.SIGN if told.startswith("-") else Level.ATOM
        case Name(name):
            return name, Level.ATOM
        case Program(dimension):
            return f"tl.program_id({dimension})", Level.ATOM
        case Ticket(pointer):
            return f'tl.atomic_add({text(pointer)}, 1, sem="relaxed")', Level.ATOM
        case Lanes(_, block):
            return f"tl.arange(0, {block})", Level.ATOM
        case Compute():
            return _computed(value)
        case Cast(inner, dtype) if _is_of_loops(inner):  # a plain number to Triton's interpreter
            return f"tl.cast({text(inner)}, {type_name(dtype)})", Level.ATOM
        case Cast(inner, dtype):
            return f"{text(inner, None, Level.ATOM)}.to({type_name(dtype)})", Level.ATOM
        case Load():
            return _loaded(value), Level.ATOM
        case Filled(number, own, dtype):
            return f"tl.full([{_shape(own)}], {literal(number)}, {type_name(dtype)})", Level.ATOM
        case Fold() | FoldIndex() | Running():
            return _along(value), Level.ATOM


def _is_of_loops(value: Value) -> bool:
    """Returns whether a value is made of names without axes, which may be variables of loops, and of numbers alone."""
    return not axes(value) and all(isinstance(one, Name | Literal | Compute) for one in parts(value))


def _shape(own: Axes) -> str:
    return ", ".join(_BLOCKS[axis] for axis in sorted(own, reverse=True))


def _computed(value: Compute) -> tuple[str, Level]:
    own = axes(value)
    match value:
        case Compute("not", (Compute(op, (left, right)),)) if op in _NEGATED:
            inner = (text(left, own, Level.AND), text(right, own, Level.AND))
            return _NEGATED[op].join(inner), Level.COMPARISON
        case Compute("not", (inner_value,)):
            return f"~{text(inner_value, own, Level.ATOM)}", Level.SIGN
        case Compute("negate", (inner_value,)):
            return f"-{text(inner_value, own, Level.ATOM)}", Level.SIGN
        case Compute("truncate", (inner_value,)):
            return f"{helper_of(value)}({text(inner_value, own)})", Level.ATOM
        case Compute("cast", (inner_value,)):
            return text(inner_value, own, Level.ATOM), Level.ATOM
        case Compute("maximum" | "minimum") if (bounds := _bounds(value)) is not None:
            inner_value, least, most = bounds
            return f"bounded({text(inner_value, own)}, {literal(least)}, {literal(most)})", Level.ATOM
        case Compute(op, operands) if op in _INFIX:
            return _infix(op, operands, own)
        case Compute("maximum" | "minimum" as op, (first, second, *others)) if others:
            rest = Compute(op, (second, *others))
            return f"{_FUNCTIONS[op]}({text(first, own)}, {text(rest, own)})", Level.ATOM
        case Compute(op, operands) if op in _FUNCTIONS:
            return f"{_FUNCTIONS[op]}({', '.join(text(one, own) for one in operands)})", Level.ATOM
    raise UnprintableError(f"there is no '{value.op}' in Triton")


def _bounds(value: Compute) -> tuple[Value, Fraction, Fraction] | None:
    """Returns the float that is cut to a whole number between two bounds, and these: 32 bits hold what comes of it."""
    outer, first = _bounded(value)
    if not isinstance(outer, Compute) or {value.op, outer.op} != {"maximum", "minimum"}:
        return None
    cut, second = _bounded(outer)
    least, most = (first, second) if value.op == "maximum" else (second, first)
    if not isinstance(cut, Compute) or cut.op != "truncate" or not -_MOST_BOUND <= least <= most <= _MOST_BOUND:
        return None
    return cut.operands[0], least, most


def _bounded(value: Compute) -> tuple[Value | None, Fraction]:
    """Returns what is bounded by a whole number, and that number; None where nothing is."""
    match value.operands:
        case (Literal(Fraction() as number), other) | (other, Literal(Fraction() as number)):
            return (other if number.denominator == 1 else None), number
    return None, Fraction(0)


def _infix(op: str, operands: Sequence[Value], own: Axes) -> tuple[str, Level]:
    """Returns operands with the operator between them; comparisons and the last of a difference bind tighter."""
    sign, level = _INFIX[op]
    tighter = Level(level + 1)
    if op == "and":
        return sign.join(text(one, own, Level.SUM) for one in operands), level
    first = text(operands[0], own, tighter if level is Level.COMPARISON else level)
    return sign.join([first, *(text(one, own, tighter) for one in operands[1:])]), level


def _loaded(load: Load) -> str:
    own = axes(load.pointer)
    parts = [text(load.pointer, own)]
    if load.mask is not None:
        parts += [f"mask={text(load.mask, own)}", f"other={literal(load.other)}"]
    if load.of_others:
        parts.append('cache_modifier=".cg"')
    if load.eviction:
        parts.append(f'eviction_policy="{load.eviction}"')
    told = f"tl.load({', '.join(parts)})"
    return f"{told}.to({type_name(load.dtype)})" if load.dtype else told


def helper_of(value: Value) -> str:
    """Returns the name of the function that the text of `value` calls and the module has to hold; empty for none."""
    match value:
        case Compute("maximum" | "minimum") if _bounds(value) is not None:
            return "bounded"
        case Compute("truncate"):
            return "truncated"
        case Compute("divide_rn" | "multiply_rn" | "round" as op):
            return _FUNCTIONS[op]
        case Fold(Combine.PRODUCT):
            return "product_of_two"
        case Running(is_exclusive=True, is_reverse=is_reverse):
            return "next_of" if is_reverse else "previous_of"
    return ""


def _along(value: Fold | FoldIndex | Running) -> str:
    names = _FOLDS if isinstance(value, Fold) else _INDICES if isinstance(value, FoldIndex) else _SCANS
    own = axes(value.value)
    place = sorted(own, reverse=True).index(value.axis)
    if isinstance(value, Fold) and value.combine is Combine.PRODUCT:
        return f"tl.reduce({text(value.value)}, {place}, {helper_of(value)})"
    name = names.get(value.combine)
    if name is None:
        raise UnprintableError(f"there is no running '{value.combine}' in Triton")
    if not isinstance(value, Running):
        return f"{name}({text(value.value)}, axis={place})"
    running = f"{name}({text(value.value)}, axis={place}{', reverse=True' if value.is_reverse else ''})"
    if not value.is_exclusive:
        return running
    return f"{helper_of(value)}({running}, {1 if value.combine is Combine.PRODUCT else 0})"
