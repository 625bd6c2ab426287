"""Declarations of variables: in registers, shared, and aliases of types."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Alias, Braces, Declare, Expression, Lambda
from porter.syntax.nodes import Variable as Declared
from porter_triton.lower import (
    access,
    calls,
    cub,
    expressions,
    local_arrays,
    lvalues,
    objects,
    pointed,
    resolve,
    shared_arrays,
    variables,
)
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.places import Cursor, Held, Members, Memory, Place, Slot, View
from porter_triton.lower.scopes import Closure
from porter_triton.lower.types import INT, Arithmetic, Pointer, Record, Type
from porter_triton.lower.values import Address, Bits, Collective, Fields, Group, Scalar, Value, number
from porter_triton.refusal import Refusal


def declare(cx: Context, node: Declare) -> None:
    """`int i = 0, *p;`."""
    for variable in node.variables:
        place = _place(cx, variable)
        if not variable.name and isinstance(place, Members):  # a union without a name: its fields have theirs
            for field, inner in place.fields.items():
                cx.bind(field, inner)
        cx.bind(variable.name, place)


def alias(cx: Context, node: Alias) -> None:
    """`using T = type;`."""
    if node.template:
        raise Refusal(node.line, "an alias template inside a function")
    if cub.collective(cx, node.type) is not None:
        cx.bind(node.name, node.type)
        return
    cx.bind(node.name, resolve.type_of(cx, node.type, node.line))


def _place(cx: Context, node: Declared) -> Place | Closure:
    if cub.is_storage(cx, node.type):
        return Held(Collective())
    if "shared" in node.storage:
        return shared(cx, node)
    collective = cub.collective(cx, node.type)
    if collective is not None:
        return Held(collective)
    if isinstance(node.value, Lambda):
        return Closure(node.value, tuple(cx.scopes))
    if node.storage == "static" and not node.constexpr:
        raise Refusal(node.line, f"`{node.name}` is static")
    if node.type.reference and node.value is not None:
        return _pinned(cx, lvalues.place(cx, node.value))
    if node.type.name == "auto" or node.type.name.startswith("cooperative_groups::"):
        if node.value is None:
            raise Refusal(node.line, f"`{node.name}` is `auto` without a value")
        return hold(cx, node.name, expressions.value(cx, node.value), node, node.line)
    return _of_type(cx, node, resolve.type_of(cx, node.type, node.line))


def _of_type(cx: Context, node: Declared, type_: Type) -> Place:
    """A variable or array of one thread's own."""
    if node.extents:
        return _array(cx, node, type_)
    if node.value is None:
        if isinstance(type_, Record):
            return _default(cx, node, type_)
        if isinstance(type_, Pointer):
            return pointed.declare(cx, node.name, type_, node)
        return local_arrays.variable(cx, node.name, type_, node, node.line)
    value = initial(cx, type_, node.value, node.line)
    if isinstance(type_, Pointer) and isinstance(value, Scalar) and value.constant == 0 and node.name in cx.changes[-1]:
        return pointed.declare(cx, node.name, type_, node)
    return hold(cx, node.name, value, node, node.line)


def _default(cx: Context, node: Declared, type_: Record) -> Place:
    """A struct variable without a value: its constructor and the values of its fields count."""
    place = local_arrays.variable(cx, node.name, type_, node, node.line)
    calls.initialise(cx, place, type_, (), cx.implied(type_.name, node.line))
    return place


def initial(cx: Context, type_: Type, node: Expression, line: int) -> Value:
    """The value of `node` as what initialises a `type_`."""
    if isinstance(node, Braces) and node.type is None:
        if isinstance(type_, Record):
            return objects.aggregate(cx, type_, node)
        if not node.items:
            return local_arrays.zero(type_)
        node = node.items[0]
    value = objects.converted(cx, expressions.value(cx, node), type_, line)
    if isinstance(type_, Arithmetic):
        return convert(access.scalar(value, line), type_, line)
    if isinstance(type_, Record) and not (isinstance(value, Fields | Bits) and value.type == type_):
        return objects.cast(cx, value, type_, line)
    return value


def hold(cx: Context, name: str, value: Value, node: object, line: int) -> Place:
    """A variable that begins with `value`."""
    changes = name in cx.changes[-1]
    if isinstance(value, Group):
        return Held(value)
    if isinstance(value, Fields):
        place = local_arrays.variable(cx, name, value.type, node, line)
        access.store(cx, place, value, line)
        return place
    if isinstance(value, Bits):
        parts = (variables.declare(cx, f"{name}_{i}", value.unit, node, part, stable=False, line=line, part=str(i))
                 for i, part in enumerate(value.parts))  # fmt: skip
        return View(value.type, value.unit, tuple(parts))
    if isinstance(value, Address):
        return cursor(cx, name, value, node, line) if changes else Held(value)
    held = access.scalar(value, line)
    if (unit := cx.decisions.split.get(cx.key(node))) is not None and isinstance(held.type, Arithmetic):
        view = local_arrays.in_parts(cx, name, held.type, unit, node, line=line)
        access.store(cx, view, held, line)
        return view
    return variables.declare(cx, name, held.type, node, held, stable=not changes, line=line)


def cursor(cx: Context, name: str, value: Address, node: object, line: int) -> Place:
    """A pointer variable into registers, which moves."""
    offset = variables.declare(cx, name, INT, node, value.offset, stable=False, line=line)
    assert not isinstance(offset, Held)
    return Cursor(value.place, offset)


def _pinned(cx: Context, place: Place) -> Place:
    """A place whose index is evaluated now: what a reference is bound to."""
    if isinstance(place, Memory):
        return replace(place, pointer=access.frozen(cx, place.pointer))
    if isinstance(place, Slot):
        return replace(place, offset=access.frozen(cx, place.offset))
    return place


def _array(cx: Context, node: Declared, type_: Type) -> Place:
    items: tuple[Expression, ...] | None = None
    if isinstance(node.value, Braces):
        items = node.value.items
    if node.extents == (None,) and items is not None:
        extents: tuple[int, ...] = (len(items),)
    else:
        extents = resolve.extents(cx, node.extents, node.line)
    count = 1
    for extent in extents:
        count *= extent
    array = local_arrays.declare(cx, node.name, type_, count, node, line=node.line)
    if items is not None:
        flat = _flattened(items)
        local_arrays.fill(cx, array, count, [initial(cx, type_, item, node.line) for item in flat], node.line)
    return Slot(array, number(0), extents) if len(extents) > 1 else array


def _flattened(items: tuple[Expression, ...]) -> list[Expression]:
    flat: list[Expression] = []
    for item in items:
        flat += _flattened(item.items) if isinstance(item, Braces) and item.type is None else [item]
    return flat


def shared(cx: Context, node: Declared) -> Place:
    """A `__shared__` variable: one for the block, however often its declaration is reached."""
    name = node.name
    type_ = resolve.type_of(cx, node.type, node.line)
    if node.storage == "extern shared":
        return shared_arrays.arena(cx, name, type_, node.line)
    found = cx.arrays.get((id(node), type_))
    if found is None:
        extents = resolve.extents(cx, node.extents, node.line)
        found = shared_arrays.place(cx, name, type_, extents, ("shared", id(node)), line=node.line)
        cx.arrays[id(node), type_] = found
    return found
