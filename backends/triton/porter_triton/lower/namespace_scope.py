"""Names of namespace scope: constants, enumerators, and variables in device memory."""

from __future__ import annotations

from itertools import chain

from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, Name, Unary
from porter.syntax.nodes import Variable as Declared
from porter.syntax.walk import walk
from porter_triton.lower import expressions, resolve
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.launch import LoweredParameter, ParameterKind
from porter_triton.lower.places import Held, Memory, Place
from porter_triton.lower.types import Arithmetic, Array, Pointer, components
from porter_triton.lower.values import Scalar
from porter_triton.refusal import Refusal


def place(cx: Context, node: Name) -> Place | None:
    """The place of a variable at namespace scope; None for an unknown name."""
    found = _declared(cx, node.name, node.line)
    if found is None:
        return None
    key = ("global", found.name)
    if key in cx.arrays:
        return cx.arrays[key]
    fixed = found.storage == "constant" and _is_fixed(cx, found)
    if found.storage in {"constant", "device"} and not fixed:
        cx.arrays[key] = _in_memory(cx, found, node.line)
        return cx.arrays[key]
    if found.value is None or not (fixed or found.constexpr or found.type.const):
        raise Refusal(node.line, f"`{node.name}` is a variable of the host")
    if found.extents:
        raise Refusal(node.line, f"`{node.name}` is an array of constants")
    with cx.scope(wall=True):
        type_ = resolve.type_of(cx, found.type, node.line) if found.type.name != "auto" else None
        value = expressions.constant(cx, found.value, node.line)
        if isinstance(type_, Arithmetic):
            value = convert(value, type_, node.line)
    if fixed:
        cx.arrays[key] = Held(value)
    return Held(value)


def _is_fixed(cx: Context, variable: Declared) -> bool:
    """Returns whether a `__constant__` number is what it is declared with: host code never names it, kernels only by
    value.
    """
    if variable.value is None or variable.extents or variable.type.pointers:
        return False
    hosts = (n for f in cx.unit.functions if f.head.space == "host" for n in walk(f.body))
    addresses = (
        n.operand for f in cx.unit.functions for n in walk(f.body) if isinstance(n, Unary) and n.operator == "&"
    )
    named = (unqualified(n.name) for n in chain(hosts, addresses) if isinstance(n, Name))
    return variable.name not in named and not isinstance(_value(cx, variable), Declared)


def _declared(cx: Context, name: str, line: int) -> Declared | None:
    """The variable meant; raises `Refusal` where it may be one of several with different values."""
    found = cx.unit.variables_named(name, cx.namespaces[-1])
    if len({(v.type, str(v.value), v.storage) for v in found}) > 1 and len({_value(cx, v) for v in found}) > 1:
        raise Refusal(line, f"several variables are called `{name}`")
    return found[-1] if found else None


def _value(cx: Context, variable: Declared) -> object:
    """Returns what a constant is; for any other variable the variable."""
    if variable.value is None or variable.extents:
        return variable
    try:
        return expressions.constant(cx, variable.value, variable.line).constant
    except Refusal:
        return variable


def _extent(cx: Context, node: Expression | None, line: int) -> int:
    """An extent of an array, which its declaration says."""
    value = expressions.constant(cx, node, line).constant if node is not None else None
    if not isinstance(value, int):
        raise Refusal(line, "an extent of an array is not known")
    return value


def _in_memory(cx: Context, found: Declared, line: int) -> Place:
    """A `__constant__` or `__device__` variable: a tensor that the launcher passes."""
    with cx.scope(wall=True):
        type_ = resolve.type_of(cx, found.type, line)
        inner = tuple(_extent(cx, extent, line) for extent in found.extents[1:])
    type_ = Array(type_, inner) if inner else type_
    parts = components(type_)
    if parts is None:
        raise Refusal(line, f"`{found.name}` is not an array of one scalar type")
    name = cx.names.reserve(found.name, "parameter")
    cx.parameters.append(LoweredParameter(name, ParameterKind.CONSTANT, parts[0].dtype, found.name))
    cx.unchanged.add(name)
    pointer = Scalar(name, Pointer(type_), held=Pointer(parts[0]), bases=frozenset({name}))
    return Held(pointer) if found.extents else Memory(pointer, type_)
