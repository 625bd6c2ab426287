"""Vectors of numbers that own memory, `std::vector` and Thrust's, as tensors of the host or of the device."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import TypeName
from porter_triton.host.codes import Code, Kind
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal

_PLACES = {"std::vector": "host", "thrust::host_vector": "host", "thrust::device_vector": "device"}


def made(cx: Context, kind: TypeName, arguments: tuple[Code, ...], line: int) -> Code | None:
    """Translates `vector<float>(n)`, `(n, value)` and `(other)` to a tensor; None for other elements."""
    inner = kind.arguments[0] if kind.arguments else None
    if is_of_thrust(kind) and (not isinstance(inner, TypeName) or cx.built_in(inner) is None):
        raise Refusal(line, f"'{kind.name}' of what is no number has no counterpart in a launcher")
    if kind.name not in _PLACES or not isinstance(inner, TypeName) or cx.built_in(inner) is None:
        return None
    if len(arguments) == 1 and arguments[0].kind is Kind.POINTER and is_of_thrust(kind):
        return copied(cx, kind, arguments[0])
    if not 1 <= len(arguments) <= 2 or arguments[0].kind is not Kind.INT:
        return None
    pointer, dtype = replace(cx.type(inner), pointers=1), cx.dtype(inner, line)
    value = arguments[1].text if len(arguments) > 1 else "0"
    begun = f"zeros({arguments[0].text}" if value == "0" else f"full(({arguments[0].text},), {value}"
    length = arguments[0].text if value == "0" else ""
    where = f", device={_device(cx)}" if _PLACES[kind.name] == "device" else ""
    return Code(f"torch.{begun}, dtype=torch.{dtype}{where})", Kind.POINTER, ctype=pointer, length=length)


def is_of_thrust(kind: TypeName) -> bool:
    """Returns whether a type is a vector of Thrust's, whose assignment copies the elements."""
    return kind.name in _PLACES and kind.name.startswith("thrust::")


def copied(cx: Context, kind: TypeName, value: Code) -> Code:
    """Returns the elements of another vector in memory of its own; only Thrust's vectors are copied."""
    if value.kind is not Kind.POINTER or not is_of_thrust(kind):
        return value
    where = _device(cx) if _PLACES.get(kind.name) == "device" else '"cpu"'
    return replace(value, text=f"{value.text}.to({where}, copy=True)", length="")


def _device(cx: Context) -> str:
    return f"{cx.tensor}.device" if cx.tensor else '"cuda"'
