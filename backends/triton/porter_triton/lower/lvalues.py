"""Lvalues to places: names, elements, fields, and what pointers point to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from porter.syntax.nodes import Assign, Call, Cast, Choice, Expression, Member, Name, Subscript, Unary, Update
from porter_triton.lower import (
    access,
    accessors,
    calls,
    choices,
    expressions,
    local_arrays,
    memory,
    namespace_scope,
    operators,
    predefined,
    resolve,
    structs,
    type_traits,
    views,
)
from porter_triton.lower.context import Context
from porter_triton.lower.places import (
    Columns,
    Cursor,
    Held,
    LocalArray,
    Members,
    Memory,
    Place,
    Pointed,
    SharedArray,
    Slot,
    Variable,
    View,
)
from porter_triton.lower.types import UINT8, Arithmetic, Array, Pointer, Record, Type, size
from porter_triton.lower.values import Address, Bits, Collective, Fields, Group, Scalar, Value, number
from porter_triton.refusal import Refusal, told_by_build


def place(cx: Context, node: Expression) -> Place:
    """The place an lvalue names; other expressions give their value a place that can only be read."""
    if isinstance(node, Name):
        return _named_place(cx, node)
    if isinstance(node, Subscript):
        return _element(cx, node)
    if isinstance(node, Member):
        return _member(cx, node)
    if isinstance(node, Unary) and node.operator == "*":
        return pointee(expressions.value(cx, node.operand), node.line)
    if isinstance(node, Call):
        return calls.place(cx, node)
    if isinstance(node, Choice):
        return _chosen_place(cx, node)
    if isinstance(node, Assign | Update):
        expressions.value(cx, node)
        return place(cx, node.target if isinstance(node, Assign) else node.operand)
    if isinstance(node, Cast) and node.type.reference:
        return _viewed(cx, place(cx, node.operand), resolve.type_of(cx, node.type, node.line), node.line)
    return Held(expressions.value(cx, node))


def _chosen_place(cx: Context, node: Choice) -> Place:
    chosen = expressions.truth(cx, node.condition)
    if chosen.constant is not None:
        return place(cx, node.yes if chosen.constant else node.no)
    return Held(choices.choice(cx, node))


def pointee(pointer: Value, line: int) -> Place:
    """Returns what a pointer points to."""
    if isinstance(pointer, Address):
        if pointer.view is not None:
            return views.pointee(pointer, line)
        if isinstance(pointer.place, LocalArray | SharedArray | Columns):
            return Slot(pointer.place, pointer.offset)
        if pointer.offset.constant != 0 and len(pointer.fields) > 1:
            return Slot(_in_a_row(pointer.fields), pointer.offset)
        if pointer.offset.constant != 0:
            raise Refusal(line, "an address is advanced beyond the variable it is that of")
        return pointer.place
    if isinstance(pointer, Scalar) and isinstance(pointer.type, Pointer):
        return Memory(pointer, pointer.type.element)
    raise Refusal(line, "what is dereferenced is not a pointer")


def _named_place(cx: Context, node: Name) -> Place:
    bound = cx.find(node.name)
    if bound is None:
        return _global_place(cx, node)
    if isinstance(bound, Scalar | Fields | Address | Bits | Group | Collective):
        return Held(bound)
    if isinstance(
        bound, Variable | Members | LocalArray | SharedArray | Columns | Cursor | Pointed | Slot | View | Memory | Held
    ):
        return bound
    raise Refusal(node.line, f"`{node.name}` is used as a value")


def _global_place(cx: Context, node: Name) -> Place:
    known = predefined.name(cx, node)
    if known is not None:
        return Held(known)
    found = type_traits.place(cx, node) or namespace_scope.place(cx, node)
    if found is None and "::" in node.name:
        owner, member = node.name.rsplit("::", 1)
        constant_ = structs.member_value(cx, owner, node.template, member, node.line)
        found = Held(constant_) if constant_ is not None else None
    if found is None:
        raise Refusal(node.line, f"`{node.name}` is not known{told_by_build(node.name)}")
    return found


def _element(cx: Context, node: Subscript) -> Place:
    owner = place(cx, node.owner)
    index = expressions.scalar(cx, node.index)
    if isinstance(owner, Slot) and owner.extents:
        offset, rest = access.index(owner.extents, owner.offset, index, node.line)
        return Slot(owner.array, offset, rest)
    if isinstance(owner, Memory) and isinstance(owner.type, Array):
        inner = owner.type.element
        if len(owner.type.extents) > 1:
            inner = Array(inner, owner.type.extents[1:])
        first = replace(owner.pointer, type=Pointer(inner), held=Pointer(memory.unit(owner.pointer, node.line)))
        return pointee(memory.step(first, index, "+", node.line), node.line)
    if accessors.held(access.place_type(owner)):
        return accessors.element(cx, owner, index, node.line)
    held = access.load(cx, owner, node.line)
    if isinstance(held, Address):
        return pointee(operators.add("+", held, index, node.line), node.line)
    if isinstance(held, Scalar) and isinstance(held.type, Pointer):
        return pointee(memory.step(held, index, "+", node.line), node.line)
    if isinstance(held, Bits) and isinstance(held.type, Array):
        held = views.interpreted(held, node.line)
    if (array := local_arrays.held_array(held)) is not None:
        return Slot(array, index)
    if isinstance(held, Fields | Bits):
        return calls.method_place(cx, owner, "operator[]", (Held(index),), cx.implied("operator[]", node.line))
    raise Refusal(node.line, "what is subscripted is neither an array nor a pointer")


def _member(cx: Context, node: Member) -> Place:
    owner = pointee(expressions.value(cx, node.owner), node.line) if node.arrow else place(cx, node.owner)
    return field(cx, owner, node.name, node.line)


def field(cx: Context, owner: Place, name: str, line: int) -> Place:
    """The field `name` of what `owner` holds."""
    if isinstance(owner, Members) and name in owner.fields:
        return owner.fields[name]
    if isinstance(owner, Slot) and isinstance(owner.array, Columns) and name in owner.array.fields:
        return Slot(owner.array.fields[name], owner.offset)
    if isinstance(owner, Slot) and isinstance(owner.array, LocalArray):
        inner = local_arrays.element(cx, owner.array, owner.offset, line)
        return field(cx, inner if inner is not None else owner.array.elements[0], name, line)
    if isinstance(owner, Memory) and isinstance(owner.type, Record):
        return memory.field(owner, name, line)
    if isinstance(owner, View):
        return _viewed_field(cx, owner, name, line)
    type_ = access.place_type(owner)
    if name == "__x" and isinstance(type_, Arithmetic) and type_.is_coded:
        return _viewed(cx, owner, UINT8, line)
    static = structs.static_value(cx, type_, name, line)
    if static is not None:
        return Held(static)
    held = access.load(cx, owner, line)
    if isinstance(held, Bits):
        return Held(views.field(held, name, line))
    if isinstance(held, Fields) and name in dict(held.values):
        return Held(held.field(name))
    raise Refusal(line, f"`{name}` is not a field of what stands before it")


def _viewed_field(cx: Context, owner: View, name: str, line: int) -> Place:
    """A field of registers seen as a struct."""
    position = 0
    unit = owner.unit.bits // 8
    for other, type_ in owner.type.fields if isinstance(owner.type, Record) else ():
        bytes_ = size(type_) or 0
        if other == name and position % unit == 0 and bytes_ % unit == 0:
            return View(type_, owner.unit, owner.parts[position // unit : (position + bytes_) // unit])
        if other == name and isinstance(type_, Arithmetic):
            views.ask_for_parts(cx, owner.parts, type_)
        position += bytes_
    whole = operators.computed(views.load(cx, owner, line), line)
    if isinstance(whole, Fields) and name in dict(whole.values):
        return Held(whole.field(name))
    raise Refusal(line, f"`{name}` is not a field of what stands before it")


def _viewed(cx: Context, owner: Place, type_: Type, line: int) -> Place:
    if access.place_type(owner) == type_:
        return owner
    target = address_of(owner, line)
    if isinstance(target, Address):
        return pointee(views.cast(cx, target, Pointer(type_), line), line)
    return pointee(memory.view(target, type_, line), line)


def _in_a_row(places: Sequence[Place]) -> LocalArray:
    """Places of one type as the elements of an array."""
    element = access.place_type(places[0])
    assert element is not None
    return LocalArray("registers", element, len(places), (), 0, list(places), settled=True)


def fields_from(cx: Context, node: Expression) -> tuple[Place, ...]:
    """The fields of its struct from the one that `node` names on, as far as they are of its type; none of no field."""
    if not isinstance(node, Member) or node.arrow or not isinstance(node.owner, Name | Member):
        return ()
    owner = place(cx, node.owner)
    if not isinstance(owner, Members) or node.name not in owner.fields:
        return ()
    following = list(owner.fields.values())[list(owner.fields).index(node.name) :]
    type_ = access.place_type(following[0])
    return tuple(takewhile(lambda field: isinstance(field, Variable) and access.place_type(field) == type_, following))


def address_of(target: Place, line: int) -> Scalar | Address:
    """The address of a place."""
    if isinstance(target, Memory):
        return target.pointer
    if isinstance(target, View):
        return Address(_in_a_row(target.parts), number(0), target.type)
    if isinstance(target, Slot) and target.extents:
        return Address(target.array, target.offset)
    if isinstance(target, LocalArray | SharedArray | Columns):
        return Address(target, number(0))
    if isinstance(target, Held) and isinstance(target.value, Scalar | Fields | Bits):
        return Address(target, number(0))
    if isinstance(target, Slot) and not target.extents:
        return Address(target.array, target.offset)
    if isinstance(target, Variable | Members):
        return Address(target, number(0))
    raise Refusal(line, "the address of what is not a variable, element or memory")
