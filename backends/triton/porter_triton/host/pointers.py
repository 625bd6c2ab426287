"""Conversions, and pointers as the tensors they point into."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import TypeName
from porter_triton.host.c_types import Arithmetic, Record, components
from porter_triton.host.codes import ATOM, Code, Kind, integer
from porter_triton.host.scope import Context


def cast(cx: Context, target: TypeName, value: Code, line: int) -> Code:
    """Translates `(T)value`."""
    kind = cx.type(target)
    if kind.pointers or value.kind is Kind.NOTHING:
        return _pointer_cast(cx, kind, value, line)
    wanted = cx.built_in(kind)
    if value.kind is Kind.POINTER and isinstance(wanted, Arithmetic):
        return Code(f"{value.text}.data_ptr()", Kind.INT, ctype=kind)
    if isinstance(wanted, Arithmetic) and value.kind is Kind.ERROR:
        value = integer(0)
    if not isinstance(wanted, Arithmetic) or not value.is_number:
        return value
    if wanted.is_float:
        constant = None if value.constant is None else float(value.constant)
        text = value.text if value.constant is None or value.kind is Kind.FLOAT else repr(float(value.constant))
        return Code(text, Kind.FLOAT, value.binds, constant, kind)
    if value.kind is Kind.FLOAT:
        constant = None if value.constant is None else int(value.constant)
        if value.text.startswith(("math.ceil(", "math.floor(")) and value.text.endswith(")"):
            return Code(value.text, Kind.INT, constant=constant, ctype=kind)
        return Code(f"int({value.text})", Kind.INT, constant=constant, ctype=kind)
    return replace(value, ctype=kind, kind=Kind.BOOL if wanted.kind == "bool" else Kind.INT)


def _pointer_cast(cx: Context, kind: TypeName, value: Code, line: int) -> Code:
    """Returns a pointer as one to another type: a view where the elements have another dtype."""
    if value.ctype is None or value.kind is not Kind.POINTER:
        return value.typed(kind) if value.kind is Kind.TENSOR else value
    if kind.name == "__nv_fp8_storage_t" and kind.pointers == 1:  # a tensor of 8-bit floats, whose bytes are asked for
        return Code(f"{value.text}.view(torch.uint8)", Kind.POINTER, ctype=kind)
    if kind.name == "void":
        return value
    if value.ctype.name == "void" and kind.pointers == 1 and (dtype := _moved_as(cx, kind)):
        return Code(f"{value.within(ATOM)}.view(-1).view(torch.{dtype})", Kind.POINTER, ctype=kind)
    if value.ctype.name == "void" or kind.pointers != 1:
        return value.typed(kind)
    wanted, given = cx.dtype(kind, line), cx.dtype(value.ctype, line)
    if wanted == given:
        return value.typed(kind)
    text = f"{value.within(ATOM)}.view(torch.{wanted})"
    return replace(value, text=text, binds=ATOM, ctype=kind, length="")


def _moved_as(cx: Context, kind: TypeName) -> str:
    """Returns the dtype in which a kernel moves data, whatever it is: numbers, or vectors of them but for halves.

    It is empty for single floats: those are what a tensor has that is passed as `void*`.
    """
    wanted = cx.built_in(TypeName(kind.name))
    if isinstance(wanted, Arithmetic):
        return "" if wanted.dtype == "float32" else wanted.dtype
    parts = components(wanted) if isinstance(wanted, Record) else None
    return parts[0].dtype if parts is not None and not parts[0].is_narrow else ""


def flat(cx: Context, pointer: Code) -> str:
    """Returns the tensor that `pointer` is, as a row of elements."""
    return pointer.text if pointer.text.endswith("]") or pointer.text in cx.lengths else f"{pointer.text}.view(-1)"


def part(begin: Code | None = None, end: Code | None = None) -> str:
    """Returns `[begin:]` or `[:end]`, with blanks beside the colon unless the bound is a plain name or number."""
    first, last = begin.text if begin else "", end.text if end else ""
    plain = all(not text or text.isidentifier() or text.isdecimal() for text in (first, last))
    return f"[{first}:{last}]" if plain else f"[{first} : {last}]".replace("[ :", "[:").replace(": ]", ":]")


def pointed_kind(cx: Context, pointer: Code) -> Kind:
    """Returns what a number is that `pointer` points to."""
    kind = None if pointer.ctype is None else cx.built_in(TypeName(pointer.ctype.name, pointer.ctype.arguments))
    if not isinstance(kind, Arithmetic):
        return Kind.OTHER
    return Kind.FLOAT if kind.is_float else Kind.INT
