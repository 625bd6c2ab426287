"""Values made by a cast, by braces or by a constructor."""

from __future__ import annotations

from porter.syntax.nodes import Assign, Braces
from porter_triton.lower import (
    access,
    calls,
    expressions,
    float8,
    inline,
    local_arrays,
    lvalues,
    memory,
    resolve,
    structs,
    views,
)
from porter_triton.lower.context import Context
from porter_triton.lower.places import Held
from porter_triton.lower.types import LONG, ULONG, Arithmetic, Pointer, Record, Type
from porter_triton.lower.values import Address, Bits, Fields, Value
from porter_triton.refusal import Refusal

UNTYPED = "{}"


def converted_braces(cx: Context, node: Assign) -> Value:
    """The value of `x = {a, b}`, whose type is that of x."""
    if isinstance(node.value, Braces) and node.value.type is None:
        target = access.place_type(lvalues.place(cx, node.target))
        if isinstance(target, Record):
            return aggregate(cx, target, node.value)
    return expressions.value(cx, node.value)


def converted(cx: Context, value: Value, type_: Type, line: int) -> Value:
    """A struct as what its conversion operator makes of it where a number or pointer is wanted; any other as it is."""
    if not isinstance(value, Fields) or not isinstance(type_, Arithmetic | Pointer):
        return value
    found = list(structs.conversions(cx, value.type, line))
    exact = [method for made, method in found if made == type_] or [method for _, method in found]
    if not exact:
        return value
    node = cx.implied(exact[0].head.name, line)
    return inline.function(cx, (exact[0],), (), (), node, this=Held(value))


def cast(cx: Context, operand: Value, type_: object, line: int) -> Value:
    """`(T)operand`."""
    if isinstance(type_, Arithmetic | Pointer):
        operand = converted(cx, operand, type_, line)
    if isinstance(type_, Arithmetic):
        return float8.converted(cx, access.scalar(operand, line), type_, line)
    if isinstance(type_, Record):
        if isinstance(operand, Fields | Bits) and operand.type == type_:
            return operand
        if isinstance(operand, Fields) and operand.type.name == UNTYPED:
            return calls.construct(cx, type_, tuple(v for _, v in operand.values), line)
        return calls.construct(cx, type_, (operand,), line)
    if isinstance(type_, Pointer):
        if isinstance(operand, Address):
            return views.cast(cx, operand, type_, line)
        held = access.scalar(operand, line)
        if isinstance(held.type, Pointer):
            return memory.view(held, type_.element, line)
        if held.type in {LONG, ULONG} and held.constant is None:
            return memory.at_address(cx, held, type_, line)
    raise Refusal(line, "a cast between types that have nothing in common")


def braces(cx: Context, node: Braces) -> Value:
    """`{a, b}` or `T{a, b}`."""
    if node.type is None:
        if len(node.items) == 1:
            return expressions.value(cx, node.items[0])
        return listed(cx, node)
    type_ = resolve.type_of(cx, node.type, node.line)
    if isinstance(type_, Record):
        return aggregate(cx, type_, node)
    if not node.items:
        return local_arrays.zero(type_)
    return cast(cx, expressions.value(cx, node.items[0]), type_, node.line)


def listed(cx: Context, node: Braces) -> Fields:
    """`{a, b}` whose type the context knows: what it is bound to makes its own value of it."""
    values = tuple((str(i), expressions.value(cx, item)) for i, item in enumerate(node.items))
    return Fields(Record(UNTYPED, ()), values)


def aggregate(cx: Context, type_: Record, node: Braces) -> Value:
    """`T{a, b}` or `T(a, b)`."""
    return calls.construct(cx, type_, tuple(expressions.value(cx, item) for item in node.items), node.line)
