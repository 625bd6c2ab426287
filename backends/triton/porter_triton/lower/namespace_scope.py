"""Names of namespace scope: constants, enumerators, and variables in device memory."""

from __future__ import annotations

from porter.syntax.nodes import Name
from porter.syntax.nodes import Variable as Declared
from porter_triton.lower import expressions, resolve
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.launch import LoweredParameter, ParameterKind
from porter_triton.lower.places import Held, Memory, Place
from porter_triton.lower.types import Arithmetic, Pointer, components
from porter_triton.lower.values import Scalar
from porter_triton.refusal import Refusal


def place(cx: Context, node: Name) -> Place | None:
    """The place of a variable at namespace scope; None for an unknown name."""
    found = _declared(cx, node.name)
    if found is None:
        return None
    if found.storage in {"constant", "device"}:
        return _in_memory(cx, found, node.line)
    if found.value is None or not (found.constexpr or found.type.const):
        raise Refusal(node.line, f"`{node.name}` is a variable of the host")
    if found.extents:
        raise Refusal(node.line, f"`{node.name}` is an array of constants")
    with cx.scope(wall=True):
        type_ = resolve.type_of(cx, found.type, node.line) if found.type.name != "auto" else None
        value = expressions.constant(cx, found.value, node.line)
        if isinstance(type_, Arithmetic):
            value = convert(value, type_, node.line)
    return Held(value)


def _declared(cx: Context, name: str) -> Declared | None:
    plain = name.removeprefix("::")
    same = [v for v in cx.unit.variables if v.name == plain]
    if not same:
        same = [v for v in cx.unit.variables if "::" in plain and v.name == plain.rsplit("::", maxsplit=1)[-1]]
    if not same:
        same = [v for v in cx.unit.variables if plain.endswith(f"::{v.name}") and "::" in v.name]
    return same[-1] if same else None


def _in_memory(cx: Context, found: Declared, line: int) -> Place:
    """A `__constant__` or `__device__` variable: a tensor that the launcher passes."""
    key = ("global", found.name)
    if key not in cx.arrays:
        with cx.scope(wall=True):
            type_ = resolve.type_of(cx, found.type, line)
        parts = components(type_)
        if parts is None or len(found.extents) > 1:
            raise Refusal(line, f"`{found.name}` is no array of one scalar type")
        name = cx.names.reserve(found.name, "parameter")
        cx.parameters.append(LoweredParameter(name, ParameterKind.CONSTANT, parts[0].dtype, found.name))
        cx.unchanged.add(name)
        pointer = Scalar(name, Pointer(type_), held=Pointer(parts[0]), bases=frozenset({name}))
        cx.arrays[key] = Held(pointer) if found.extents else Memory(pointer, type_)
    return cx.arrays[key]
