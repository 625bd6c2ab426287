"""Structs and CUDA's vectors in launchers: Python has their fields, one by one."""

from __future__ import annotations

from collections.abc import Iterator

from porter.syntax.nodes import TypeName
from porter_triton.host.codes import Code, Kind
from porter_triton.host.scope import Context
from porter_triton.lower.types import Arithmetic, Record


def fields(cx: Context, kind: TypeName) -> tuple[tuple[str, TypeName], ...]:
    """The names and types of the fields of a struct of the source or a vector; none of any other type."""
    if kind.pointers:
        return ()
    if structs := cx.unit.struct(kind.name):
        return tuple((f.name, f.type) for f in structs[-1].fields if f.storage != "static")
    vector = cx.built_in(kind)
    parts = vector.fields if isinstance(vector, Record) else ()
    return tuple((name, TypeName(part.name)) for name, part in parts if isinstance(part, Arithmetic))


def paths(cx: Context, name: str, kind: TypeName) -> Iterator[str]:
    """`name`, or the paths of the fields of a struct, those of structs within it too."""
    inner = fields(cx, kind)
    for field, type_ in inner:
        yield from paths(cx, f"{name}.{field}", cx.type(type_))
    if not inner:
        yield name


def leaves(code: Code) -> Iterator[Code]:
    """The fields of a struct, those of structs within it too; any other value itself."""
    if code.kind in (Kind.RECORD, Kind.SEQUENCE) and code.parts:
        for part in code.parts:
            yield from leaves(part)
    else:
        yield code
