"""C's conversions between scalar types, written so that Triton's own promotions come to the same."""

from __future__ import annotations

import math
from dataclasses import replace

from porter_triton.lower import comparisons, widening
from porter_triton.lower.types import BOOL, DOUBLE, FLOAT, INT, UINT, Arithmetic, Pointer, promote
from porter_triton.lower.values import ATOM, Scalar, fits_single, number
from porter_triton.refusal import Refusal


def cast_text(value: Scalar, type_: Arithmetic) -> Scalar:
    """`value` with a cast to `type_` written."""
    if value.constant is not None and type_.bits == 64:  # `tl.cast` would make a 32-bit float of a number first
        text = f"tl.full([], {value.text}, {type_.triton})"
        return replace(value, text=text, level=ATOM, held=None, loose=False, opposite=None, type=type_, constant=None)
    text = f"tl.cast({value.text}, {type_.triton})" if value.loose else f"{value.within(ATOM)}.to({type_.triton})"
    return replace(value, text=text, level=ATOM, held=None, loose=False, opposite=None, single=None, type=type_)


def exact_double(value: Scalar) -> Scalar:
    """A double constant as Triton must see it where it would take a Python number for a 32-bit float."""
    if value.type is DOUBLE and value.constant is not None and not fits_single(float(value.constant)):
        return cast_text(value, DOUBLE)
    return value


def settled(value: Scalar) -> Scalar:
    """`value` as Triton holds its type: unsigned bits on int32 become uint32 unless the value is small."""
    if value.held is None or not isinstance(value.type, Arithmetic) or value.constant is not None:
        return value
    if value.held is INT and value.known_within(0, INT.high):
        return value
    return cast_text(value, value.type)


def convert(value: Scalar, type_: Arithmetic | Pointer, line: int = 0) -> Scalar:
    """`value` as the C++ conversion to `type_` makes it."""
    source = value.type
    if isinstance(type_, Pointer) or isinstance(source, Pointer):
        return _convert_pointer(value, type_, line)
    if source == type_:
        return value
    if type_.is_coded:
        raise Refusal(line, "a number becomes an 8-bit float by a cast only")
    demand_numbers(line, value)
    if value.constant is not None:
        return convert_constant(value.constant, source, type_)
    if value.held is BOOL:
        value = replace(value, type=BOOL, held=None)
        return value if type_ is BOOL else convert(value, type_, line)
    if type_ is BOOL:
        return comparisons.compare("!=", value, number(0, promote(source)), line)
    if type_ is FLOAT and value.single is not None:
        return value.single
    if _same_bits(source, type_):
        held = value.carried if isinstance(value.carried, Arithmetic) else None
        fits = value.known_within(max(type_.low, source.low), min(type_.high, source.high))
        if held == type_:
            return replace(value, type=type_, held=None, interval=value.interval if fits else None)
        if held is INT and type_ is UINT:
            return replace(value, type=type_, held=INT, interval=value.interval if fits else None)
    return _converted(settled(value), type_)


def demand_numbers(line: int, *values: Scalar) -> None:
    """Raise `Refusal` for a value that is none as it is."""
    if any(isinstance(v.type, Arithmetic) and v.type.is_coded for v in values):
        raise Refusal(line, "an 8-bit float becomes a number by a cast only")


def _converted(value: Scalar, type_: Arithmetic) -> Scalar:
    source = value.type
    assert isinstance(source, Arithmetic)
    integral = not source.is_float and not type_.is_float
    interval = value.interval if integral and value.known_within(type_.low, type_.high) else None
    affine = widening.affine(value, type_) if integral and value.affine is not None else None
    single = None
    if type_ is DOUBLE and source is FLOAT:
        single = value
    if integral and type_.bits > 32 and value.held is INT:  # a small unsigned number: its int32 widens the same way
        value = replace(value, type=INT, held=None)
    multiple = value.multiple if integral else 1
    if source.is_float and not type_.is_float and type_.bits < INT.bits:  # CUDA converts to 32 bits first
        value = cast_text(value, INT if type_.kind == "int" else UINT)
    cast = cast_text(value, type_)
    return replace(cast, interval=interval, affine=affine, single=single, bases=frozenset(), multiple=multiple)


def _same_bits(source: Arithmetic, type_: Arithmetic) -> bool:
    return {source.kind, type_.kind} == {"int", "uint"} and source.bits == type_.bits


def convert_constant(value: float, source: Arithmetic, type_: Arithmetic) -> Scalar:
    """A number of type `source` as one of `type_`."""
    if type_.is_float:
        return number(float(value), type_)
    if type_ is BOOL:
        return number(value != 0, BOOL)
    if source.is_float and (math.isnan(value) or math.isinf(value)):
        return number(0 if math.isnan(value) else (type_.high if value > 0 else type_.low), type_)
    return number(int(value), type_)


def _convert_pointer(value: Scalar, type_: Arithmetic | Pointer, line: int) -> Scalar:
    if isinstance(type_, Pointer) and isinstance(value.type, Pointer):
        return value
    if type_ is BOOL:
        return comparisons.compare_pointers("!=", value, number(0), line)
    if isinstance(type_, Arithmetic) and type_.bits == 64 and not type_.is_float and value.constant is None:
        return cast_text(replace(value, type=type_, bases=frozenset()), type_)
    if isinstance(type_, Pointer) and value.constant == 0:
        raise Refusal(line, "a null pointer is used as a value")
    raise Refusal(line, "an integer is made of a pointer, or a pointer of an integer")


def condition(value: Scalar, line: int) -> Scalar:
    """`value` as `if` takes it."""
    return convert(value, BOOL, line)


def operands(left: Scalar, right: Scalar, type_: Arithmetic, level: int) -> tuple[str, str]:
    """The texts of two operands that Triton will bring to `type_` by itself, cast where it would not."""
    left, right = as_operand(left, type_), as_operand(right, type_)
    carriers = [v for v in (left, right) if v.constant is None]
    if carriers and not any(_carries(v, type_) for v in carriers):
        widest = carriers[0]
        if widest is left:
            left = cast_text(left, type_)
        else:
            right = cast_text(right, type_)
    return left.within(level), right.within(level + 1)


def _carries(value: Scalar, type_: Arithmetic) -> bool:
    held = value.carried
    if type_ is UINT and held is INT:
        return True  # the caller has settled it, or does not mind the sign
    return held == type_ and not (value.loose and type_ not in {INT, FLOAT, BOOL})


def as_operand(value: Scalar, type_: Arithmetic) -> Scalar:
    """`value` as an operand of an operation that C does in `type_`, cast where Triton would do it in a narrower one."""
    if value.constant is not None and isinstance(value.type, Arithmetic):
        return convert_constant(value.constant, value.type, type_)
    if type_.is_float or (isinstance(value.type, Arithmetic) and type_.bits > value.type.bits):
        value = settled(value)
    held = value.carried
    assert isinstance(held, Arithmetic)
    if held.bits < 32 and held != type_ and not (held.is_narrow and type_.is_float):
        return cast_text(value, type_)  # Triton computes bool, char and short in their own width
    if type_.is_narrow and held != type_:
        return cast_text(value, type_)
    return value


def narrowed(value: Scalar) -> Scalar | None:
    """A double that is exactly a float, as one."""
    if value.constant is not None:
        return number(value.constant, FLOAT) if fits_single(float(value.constant)) else None
    if value.type is FLOAT:
        return value
    exact = value.single is not None and value.text.endswith(f".to({DOUBLE.triton})")
    return value.single if exact else None
