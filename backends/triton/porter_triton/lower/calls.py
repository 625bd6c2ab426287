"""Calls: what is called, and with what."""

from __future__ import annotations

from porter.syntax.nodes import Call, Member, Name, TypeName
from porter.syntax.unit import FunctionTree, StructTree
from porter_triton.lower import access, expressions, inline, intrinsics, locals_, resolve
from porter_triton.lower.context import Closure, Context
from porter_triton.lower.places import Held, LocalArray, Members, Place, SharedArray, SharedRecords, Slot, Variable
from porter_triton.lower.types import BUILT_IN, Arithmetic, Array, Pointer, Record, Type
from porter_triton.lower.values import Address, Bits, Fields, Scalar, Value
from porter_triton.refusal import Refusal

_PLACES = Variable | Members | LocalArray | SharedArray | SharedRecords | Slot | Held


def call(cx: Context, node: Call) -> Value:
    """The value of a call."""
    callee = node.callee
    if isinstance(callee, Name):
        return _named(cx, callee, node)
    if isinstance(callee, Member):
        return _method(cx, callee, node)
    return _object(cx, access.load(cx, expressions.place(cx, callee), node.line), node)


def _named(cx: Context, callee: Name, node: Call) -> Value:
    bound = cx.find(callee.name)
    if isinstance(bound, Closure):
        return inline.closure(cx, bound, arguments(cx, node), node)
    if isinstance(bound, TypeName | Arithmetic | Pointer | Record | Array):
        return _constructed(cx, resolve.type_of(cx, TypeName(callee.name), node.line), node)
    if bound is not None:
        return _object(cx, access.load(cx, expressions.place(cx, callee), node.line), node)
    candidates = tuple(f for f in cx.unit.named(callee.name) if f.head.space != "global" and "device" in f.head.space)
    if candidates:
        return inline.function(cx, candidates, callee.template, arguments(cx, node), node)
    made = intrinsics.call(cx, callee, node)
    if made is not None:
        return made
    if callee.name in BUILT_IN or cx.unit.struct(callee.name) or _is_alias(cx, callee.name):
        type_ = resolve.type_of(cx, TypeName(callee.name, callee.template), node.line)
        return _constructed(cx, type_, node)
    raise Refusal(node.line, f"`{callee.name}` is called, which is not known")


def _is_alias(cx: Context, name: str) -> bool:
    plain = name.rsplit("::", maxsplit=1)[-1]
    return any(a.name.rsplit("::", maxsplit=1)[-1] == plain for a in cx.unit.aliases)


def arguments(cx: Context, node: Call) -> tuple[Place | Closure, ...]:
    """The arguments as places, so that references can bind to them."""
    return tuple(_argument(cx, a) for a in node.arguments)


def _argument(cx: Context, node: object) -> Place | Closure:
    from porter.syntax.nodes import Lambda  # noqa: PLC0415

    if isinstance(node, Lambda):
        return Closure(node, tuple(cx.scopes))
    if isinstance(node, Name):
        bound = cx.find(node.name)
        if isinstance(bound, Closure):
            return bound
    return expressions.place(cx, node)  # type: ignore[arg-type]


def _constructed(cx: Context, type_: Type, node: Call) -> Value:
    values = tuple(expressions.value(cx, a) for a in node.arguments)
    if isinstance(type_, Record):
        return construct(cx, type_, values, node.line)
    if not values:
        return locals_.zero(type_)
    if len(values) == 1:
        return expressions.cast(cx, values[0], type_, node.line)
    raise Refusal(node.line, "a value of a simple type is made of several")


def construct(cx: Context, type_: Record, values: tuple[Value, ...], line: int) -> Value:
    """`T{a, b}`: field by field, what is missing is zero; `T(a)` of a T is a copy."""
    if len(values) == 1 and isinstance(values[0], Fields | Bits) and values[0].type == type_:
        return values[0]
    if len(values) > len(type_.fields):
        raise Refusal(line, f"`{type_.name}` is made of more values than it has fields")
    made = []
    for i, (name, field) in enumerate(type_.fields):
        value = values[i] if i < len(values) else locals_.zero(field)
        made.append((name, expressions.cast(cx, value, field, line) if isinstance(field, Arithmetic) else value))
    return Fields(type_, tuple(made))


def _method(cx: Context, callee: Member, node: Call) -> Value:
    owner = expressions.place(cx, callee.owner)
    if callee.arrow:
        owner = expressions.pointee(cx, access.load(cx, owner, node.line), node.line)
    made = intrinsics.method(cx, owner, callee, node)
    if made is not None:
        return made
    return method(cx, owner, callee.name, callee.template, node)


def method(cx: Context, owner: Place, name: str, template: tuple[object, ...], node: Call) -> Value:
    """`owner.name(...)`."""
    type_ = access.place_type(owner)
    struct = struct_of(cx, type_)
    candidates = () if struct is None else tuple(m for m in struct.methods if m.head.name == name)
    if not candidates:
        raise Refusal(node.line, f"`{name}` is called on what has no such method")
    return inline.function(cx, candidates, template, arguments(cx, node), node, this=owner)


def struct_of(cx: Context, type_: Type | None) -> StructTree | None:
    """The definition of a record's type."""
    if not isinstance(type_, Record):
        return None
    found = cx.unit.struct(type_.name)
    return found[-1] if found else None


def _object(cx: Context, held: Value, node: Call) -> Value:
    """A functor's call."""
    if isinstance(held, Fields):
        return method(cx, Held(held), "operator()", (), node)
    raise Refusal(node.line, "what is called is no function")


def operator(cx: Context, symbol: str, operands: tuple[Value, ...], line: int) -> Value:
    """An operator the source or CUDA's headers define for a struct."""
    made = intrinsics.vector_operator(cx, symbol, operands, line)
    if made is not None:
        return made
    node = Call(Name(f"operator{symbol}"), (), line)
    places: tuple[Place, ...] = tuple(Held(o) for o in operands)
    candidates = tuple(f for f in cx.unit.functions if f.head.name == f"operator{symbol}" and not f.head.scope)
    candidates = candidates or tuple(f for f in cx.unit.functions if f.head.name == f"operator{symbol}")
    fitting = tuple(f for f in candidates if len(f.parameters) == len(operands))
    if fitting:
        return inline.function(cx, fitting, (), places, node)
    first = operands[0]
    struct = struct_of(cx, first.type) if isinstance(first, Fields) else None
    if struct is not None:
        methods = tuple(m for m in struct.methods if m.head.name == f"operator{symbol}")
        if methods:
            return inline.function(cx, methods, (), places[1:], node, this=places[0])
    raise Refusal(line, f"`{symbol}` on a struct that does not define it")


__all__ = ["Address", "FunctionTree", "Scalar", "call", "construct", "method", "operator", "struct_of"]
