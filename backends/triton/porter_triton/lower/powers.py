"""Powers whose exponent the source writes as a small whole number: products, which are as exact as CUDA's own."""

from __future__ import annotations

from porter_triton.device.functions import overload
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.types import BUILT_IN, Arithmetic
from porter_triton.lower.values import Scalar, Value, number

_POWERS = frozenset({"pow", "powf"})
_MOST = 4  # factors: beyond that the error of products exceeds that of a logarithm


def call(cx: Context, name: str, values: tuple[Value, ...], line: int) -> Scalar | None:
    """`pow(x, 2)` as `x * x`, and `pow(x, -1)` as `1 / x`; None for any other call."""
    if name not in _POWERS or len(values) != 2:
        return None
    base, exponent = values
    if not isinstance(base, Scalar) or not isinstance(exponent, Scalar) or base.constant is not None:
        return None
    if exponent.constant not in {-1, *range(1, _MOST + 1)} or (type_ := _type(name, base, exponent)) is None:
        return None
    times = int(exponent.constant or 0)
    value = convert(base, type_, line)
    if times == -1:
        return binary("/", number(1, type_), value, line)
    return _product(cx, value if value.is_name else cx.temporary(value, "base"), times, line)


def _type(name: str, base: Scalar, exponent: Scalar) -> Arithmetic | None:
    """The type that C++ computes in."""
    if not isinstance(base.type, Arithmetic) or not isinstance(exponent.type, Arithmetic):
        return None
    found = overload(name, [base.type.dtype, exponent.type.dtype])
    floats = (t for t in BUILT_IN.values() if isinstance(t, Arithmetic) and t.is_float)
    return next((t for t in floats if found is not None and t.dtype == found.result), None)


def _product(cx: Context, base: Scalar, times: int, line: int) -> Scalar:
    """`base` to a power of one to four."""
    if times == 1:
        return base
    square = binary("*", base, base, line)
    if times == 2:
        return square
    if times == 3:
        return binary("*", square, base, line)
    square = cx.temporary(square, "square")
    return binary("*", square, square, line)
