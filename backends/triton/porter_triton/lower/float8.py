"""CUDA's conversions between 8-bit floats, which it keeps in bytes, and wider ones."""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.nodes import Call, Expression, Name
from porter_triton.lower import expressions
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import cast_text, convert, settled
from porter_triton.lower.types import FLOAT, HALF, UINT8
from porter_triton.lower.values import ATOM, Scalar
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


_FORMATS = {
    "__NV_E4M3": _Format("e4m3_to_half", 3, -6, 0x7E, 0x7F),
    "__NV_E5M2": _Format("e5m2_to_half", 2, -14, 0x7B, 0x7C),
}


def call(cx: Context, plain: str, node: Call) -> Scalar | None:
    """The value of a conversion; None for any other call."""
    if plain == "__nv_cvt_fp8_to_halfraw":
        return _to_half(cx, node)
    return _to_byte(cx, node) if plain in _TO_BYTE else None


def _to_half(cx: Context, node: Call) -> Scalar:
    byte = _argument(convert(settled(expressions.scalar(cx, node.arguments[0])), UINT8, node.line))
    helper = cx.helper(_format(node.arguments[1], node.line).helper)
    return Scalar(f"{helper}({byte.text})", HALF, byte.varying)


def _to_byte(cx: Context, node: Call) -> Scalar:
    x = _argument(convert(expressions.scalar(cx, node.arguments[0]), FLOAT, node.line))
    saturate, kind = _word(node.arguments[1]), _format(node.arguments[2], node.line)
    if saturate not in {"__NV_SATFINITE", "__NV_NOSAT"}:
        raise Refusal(node.line, "whether a conversion saturates is not known")
    overflow = kind.largest if saturate == "__NV_SATFINITE" else kind.beyond
    numbers = f"{kind.mantissa}, {kind.least_exponent}, {kind.largest}, {overflow}"
    return Scalar(f"{cx.helper('float_to_float8')}({x.text}, {numbers})", UINT8, x.varying)


def _argument(value: Scalar) -> Scalar:
    assert value.type in (FLOAT, UINT8)
    held = cast_text(value, FLOAT if value.type is FLOAT else UINT8) if value.loose else value
    return Scalar(held.text, held.type, held.varying, ATOM)


def _format(node: Expression, line: int) -> _Format:
    found = _FORMATS.get(_word(node))
    if found is None:
        raise Refusal(line, "the format of an 8-bit float is not known")
    return found


def _word(node: Expression) -> str:
    return node.name.rsplit("::", maxsplit=1)[-1] if isinstance(node, Name) else ""
