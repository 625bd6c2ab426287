"""Counts the bytes that values of C++ types take, as the host's and the device's compilers lay them out."""

from __future__ import annotations

from porter.syntax.nodes import TypeName, Variable
from porter.syntax.unit import StructTree
from porter_triton.host import expressions, member_types, records
from porter_triton.host.c_types import Arithmetic, alignment, size
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal

_POINTER = 8, 8
# Bytes of an element, where these are not one.
WIDTHS = {
    **dict.fromkeys(("float64", "int64", "uint64"), 8), **dict.fromkeys(("float32", "int32", "uint32"), 4),
    **dict.fromkeys(("float16", "bfloat16", "int16", "uint16"), 2),
}  # fmt: skip


def size_of(cx: Context, kind: TypeName, line: int) -> int:
    """Returns `sizeof`."""
    return _layout(cx, kind, line)[0]


def memory_dtype(cx: Context, kind: TypeName, line: int) -> str:
    """Returns the torch dtype of memory for elements of `kind`: bytes for structs whose fields are of several types."""
    try:
        return cx.dtype(kind, line)
    except Refusal:
        inner = TypeName(kind.name, kind.arguments)
        if _holds_addresses(cx, inner):
            raise
        size_of(cx, inner, line)
        return "uint8"


def _holds_addresses(cx: Context, kind: TypeName) -> bool:
    """Returns whether a type is no struct of the source, or one that points to other memory."""
    resolved = cx.type(kind)
    structs = cx.unit.struct(resolved.name)
    if resolved.pointers or cx.built_in(resolved) is not None:
        return resolved.pointers > 0
    fields = (f.type for s in structs[-1:] for f in s.fields if f.storage != "static")
    return not structs or any(f.pointers or f.reference or _holds_addresses(cx, f) for f in fields)


def items(cx: Context, kind: TypeName, line: int) -> int:
    """Returns how many elements of a tensor one of `kind` takes: the components of a vector, the bytes of a struct."""
    known = cx.built_in(kind)
    if known is None and not cx.unit.struct(cx.type(kind).name):
        return 1
    if isinstance(known, Arithmetic):
        return 1
    return size_of(cx, kind, line) // WIDTHS.get(memory_dtype(cx, kind, line), 1)


def _layout(cx: Context, kind: TypeName, line: int) -> tuple[int, int]:
    """Returns the size and the alignment of a type; raises `Refusal`."""
    resolved = cx.type(kind)
    if kind.pointers or resolved.pointers or kind.name == "()":
        return _POINTER
    known = cx.built_in(kind)
    bytes_, aligned = (size(known), alignment(known)) if known is not None else (None, None)
    if bytes_ and aligned:
        return bytes_, aligned
    found = member_types.definition(cx, resolved) if known is None else None
    if found is None:
        raise Refusal(line, f"the size of '{kind.name}' is not known")
    with cx.scope():
        member_types.bind(cx, found[1])
        return _of_struct(cx, found[0], line)


def _of_struct(cx: Context, struct: StructTree, line: int) -> tuple[int, int]:
    bases = [_layout(cx, base, line) for base in struct.bases]
    parts = [*bases, *(_of_field(cx, f) for f in struct.fields if f.storage != "static")]
    said = expressions.expression(cx, struct.aligned).constant if struct.aligned is not None else 1
    aligned = max(int(said or 1), 1, *(part for _, part in parts))
    end = 0
    for bytes_, own in parts:
        end = max(end, bytes_) if struct.union else -(-end // own) * own + bytes_
    return max(-(-end // aligned) * aligned, 1), aligned


def _of_field(cx: Context, field: Variable) -> tuple[int, int]:
    bytes_, aligned = _POINTER if field.type.reference else _layout(cx, field.type, field.line)
    for extent in records.extents(cx, field):
        bytes_ *= extent
    return bytes_, aligned
