"""CUDA's conversions between 8-bit floats, which are kept in bytes, and wider ones: by its functions, and by casts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Expression, Name
from porter_triton.lower import expressions, objects, operators
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import cast_text, convert, settled
from porter_triton.lower.types import DOUBLE, E4M3, FLOAT, HALF, UINT8, Arithmetic, Record, Type, components
from porter_triton.lower.values import ATOM, Bits, Fields, Scalar, Value
from porter_triton.refusal import Refusal

_TO_BYTE = frozenset({"__nv_cvt_float_to_fp8", "__nv_cvt_halfraw_to_fp8", "__nv_cvt_bfloat16raw_to_fp8"})


@dataclass(frozen=True, slots=True)
class _Format:
    """`largest` is the byte of the largest number, `beyond` the one for what exceeds it and is not to be saturated."""

    helper: str
    mantissa: int
    least_exponent: int
    largest: int
    beyond: int


_E4M3 = _Format("e4m3_to_half", 3, -6, 0x7E, 0x7F)
_E5M2 = _Format("e5m2_to_half", 2, -14, 0x7B, 0x7C)
_FORMATS = {"__NV_E4M3": _E4M3, "__NV_E5M2": _E5M2}


def call(cx: Context, plain: str, node: Call) -> Scalar | None:
    """The value of a conversion; None for any other call."""
    if plain == "__nv_cvt_fp8_to_halfraw":
        return _to_half(cx, node)
    return _to_byte(cx, node) if plain in _TO_BYTE else None


def converted(cx: Context, value: Scalar, type_: Arithmetic, line: int) -> Scalar:
    """`(T)value`; a number becomes an 8-bit float as CUDA's classes make it, saturated."""
    source = value.type
    if source == type_ or not isinstance(source, Arithmetic) or not (source.is_coded or type_.is_coded):
        return convert(value, type_, line)
    if type_.is_coded and not source.is_coded:
        kind = _E4M3 if type_ is E4M3 else _E5M2
        return replace(_encoded(cx, value, kind, kind.largest, line), type=type_)
    if not type_.is_float:
        raise Refusal(line, "an 8-bit float becomes what is not a wider float")
    helper = cx.helper((_E4M3 if source is E4M3 else _E5M2).helper)
    return convert(Scalar(f"{helper}({_argument(value).text})", HALF, value.varying), type_, line)


def packed(cx: Context, value: Value, type_: Record, line: int) -> Fields | None:
    """A vector of numbers as one of 8-bit floats, or the reverse; None where neither is meant."""
    if not isinstance(value, Fields | Bits) or value.type == type_ or _is_pack(value.type) == _is_pack(type_):
        return None
    held = operators.computed(value, line)
    if not isinstance(held, Fields) or len(held.values) != len(type_.fields):
        return None
    parts = zip(type_.fields, held.values, strict=True)
    return Fields(type_, tuple((name, objects.cast(cx, part, one, line)) for (name, one), (_, part) in parts))


def _is_pack(type_: Type) -> bool:
    parts = components(type_)
    return isinstance(type_, Record) and parts is not None and parts[0].is_coded


def _to_half(cx: Context, node: Call) -> Scalar:
    byte = _argument(convert(settled(expressions.scalar(cx, node.arguments[0])), UINT8, node.line))
    helper = cx.helper(_format(node.arguments[1], node.line).helper)
    return Scalar(f"{helper}({byte.text})", HALF, byte.varying)


def _to_byte(cx: Context, node: Call) -> Scalar:
    value = expressions.scalar(cx, node.arguments[0])
    saturate, kind = _word(node.arguments[1]), _format(node.arguments[2], node.line)
    if saturate not in {"__NV_SATFINITE", "__NV_NOSAT"}:
        raise Refusal(node.line, "whether a conversion saturates is not known")
    overflow = kind.largest if saturate == "__NV_SATFINITE" else kind.beyond
    return _encoded(cx, value, kind, overflow, node.line)


def _encoded(cx: Context, value: Scalar, kind: _Format, overflow: int, line: int) -> Scalar:
    """The byte nearest to `value`; `overflow` is that for what is too large."""
    if value.type is DOUBLE and value.single is None and value.constant is None:
        x = Scalar(f"{cx.helper('double_to_odd_float')}({value.text})", FLOAT, value.varying)
    else:
        x = _argument(convert(value, FLOAT, line))
    numbers = f"{kind.mantissa}, {kind.least_exponent}, {kind.largest}, {overflow}"
    return Scalar(f"{cx.helper('float_to_float8')}({x.text}, {numbers})", UINT8, x.varying)


def _argument(value: Scalar) -> Scalar:
    assert isinstance(value.type, Arithmetic)
    held = cast_text(value, value.type) if value.loose else value
    return Scalar(held.text, held.type, held.varying, ATOM)


def _format(node: Expression, line: int) -> _Format:
    found = _FORMATS.get(_word(node))
    if found is None:
        raise Refusal(line, "the format of an 8-bit float is not known")
    return found


def _word(node: Expression) -> str:
    return unqualified(node.name) if isinstance(node, Name) else ""
