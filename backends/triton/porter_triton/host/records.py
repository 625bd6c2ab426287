"""Structs and CUDA's vectors in launchers: Python has their fields, one by one."""

from __future__ import annotations

from collections.abc import Iterator

from porter.syntax.nodes import TypeName, Variable
from porter_triton.host import expressions
from porter_triton.host.c_types import Arithmetic, Record
from porter_triton.host.codes import Code, Kind
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def fields(cx: Context, kind: TypeName) -> tuple[Variable, ...]:
    """Returns the fields of a struct of the source or a vector; none of any other type."""
    if kind.pointers:
        return ()
    if structs := cx.unit.struct(kind.name):
        inherited = (field for base in structs[-1].bases for field in fields(cx, cx.type(base)))
        return (*inherited, *(f for f in structs[-1].fields if f.storage != "static"))
    vector = cx.built_in(kind)
    parts = vector.fields if isinstance(vector, Record) else ()
    return tuple(Variable(name, TypeName(part.name)) for name, part in parts if isinstance(part, Arithmetic))


def extents(cx: Context, field: Variable) -> tuple[int, ...]:
    """Returns the extents of an array among the fields; none where the field is no array."""
    found = [expressions.expression(cx, e).constant if e is not None else None for e in field.extents]
    if not all(isinstance(extent, int) for extent in found):
        raise Refusal(field.line, f"the size of the array '{field.name}' is not known")
    return tuple(int(extent) for extent in found if extent is not None)


def leaves(code: Code) -> Iterator[Code]:
    """Yields the fields of a struct, those of structs within it too; any other value itself."""
    if code.kind in (Kind.RECORD, Kind.SEQUENCE) and code.parts:
        for part in code.parts:
            yield from leaves(part)
    else:
        yield code
