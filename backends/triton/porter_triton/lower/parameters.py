"""Parameters bound to arguments: as the argument itself where nobody can tell, else as a variable."""

from __future__ import annotations

from porter.syntax.nodes import Block, Parameter
from porter_triton.lower import (
    access,
    accessors,
    declarations,
    expressions,
    local_arrays,
    objects,
    resolve,
    variables,
)
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.naming import is_temporary
from porter_triton.lower.places import Held, Members, Memory, Place, Slot
from porter_triton.lower.scopes import Closure, FunctionName
from porter_triton.lower.types import Arithmetic, Pointer
from porter_triton.lower.values import Address, Bits, Collective, Fields, Group, Scalar, Value, number

Argument = Place | Closure | FunctionName


def bind_this(cx: Context, this: Place) -> None:
    """Bind the fields of the object a method is called on."""
    if isinstance(this, Members):
        for name, field in this.fields.items():
            cx.bind(name, field)
    elif isinstance(this, Held) and isinstance(this.value, Fields):
        for name, value in this.value.values:
            cx.bind(name, Held(value))
    cx.bind("this", Held(Address(this, number(0))))


def bind_parameters(
    cx: Context,
    parameters: tuple[Parameter, ...],
    body: Block,
    arguments: tuple[Argument, ...],
    line: int,
    *,
    inner: bool = False,
) -> None:
    """Bind parameters to arguments; `inner`: the body sees more than its parameters, and may change it."""
    changed = cx.assigned(body)
    aliasing = (
        not (inner and changed)
        and not any(p.type.reference and not p.type.const for p in parameters)
        and not any(isinstance(a, Held) and isinstance(a.value, Address) for a in arguments)
    )
    bound = []
    for i, parameter in enumerate(parameters):
        if i < len(arguments):
            argument = arguments[i]
        else:
            assert parameter.default is not None
            argument = Held(expressions.value(cx, parameter.default))
        bound.append((parameter.name, _bound(cx, parameter, argument, parameter.name in changed, aliasing, line=line)))
    for name, place in bound:
        if name:
            cx.bind(name, place)


def _bound(
    cx: Context, parameter: Parameter, argument: Argument, changes: bool, aliasing: bool, *, line: int
) -> Argument:
    if isinstance(argument, Closure | FunctionName):
        return argument
    if isinstance(argument, Held) and isinstance(argument.value, Group | Collective):
        return argument
    argument = _typed(cx, parameter, argument, line)
    if parameter.type.reference and not (parameter.type.const and isinstance(argument, Memory | Slot)):
        return argument
    value = access.load(cx, argument, line)
    type_ = None if parameter.type.name == "auto" else resolve.type_of(cx, parameter.type, line)
    if isinstance(value, Bits):
        return declarations.hold(cx, parameter.name, value, parameter, line)
    if isinstance(value, Fields):
        return _bound_fields(cx, parameter, value, changes, aliasing, line=line)
    if isinstance(value, Address):
        if changes:
            return declarations.cursor(cx, parameter.name, value, parameter, line)
        return Held(value)
    held = access.scalar(value, line)
    if isinstance(type_, Pointer) and held.constant == 0:
        return Held(held)  # a null pointer, which is only compared
    if isinstance(type_, Arithmetic | Pointer):
        held = convert(held, type_, line)
    if not changes and aliasing and (_named(held) or held.constant is not None):
        return Held(held)
    return variables.declare(cx, parameter.name, held.type, parameter, held, stable=not changes, line=line)


def _typed(cx: Context, parameter: Parameter, argument: Place, line: int) -> Place:
    """`{a, b}` as a value of the parameter's type."""
    untyped = isinstance(argument, Held) and isinstance(argument.value, Fields) and not argument.value.type.fields
    if not untyped or parameter.type.name == "auto":
        return argument
    assert isinstance(argument, Held)
    return Held(objects.cast(cx, argument.value, resolve.type_of(cx, parameter.type, line), line))


def _named(value: Scalar) -> bool:
    """Returns whether the value has a name that the source gave it."""
    return value.is_name and not is_temporary(value.text)


def _has_pointers(value: Fields) -> bool:
    """Returns whether a struct points into memory, which it does wherever it is copied."""
    return any(isinstance(v, Scalar) and isinstance(v.type, Pointer) for _, v in value.values)


def _settled(cx: Context, value: Value) -> Value:
    """`value` under names that nothing sets again."""
    if isinstance(value, Fields):
        return Fields(value.type, tuple((name, _settled(cx, v)) for name, v in value.values))
    if isinstance(value, Scalar) and value.constant is None and not (value.is_name and access.is_stable(cx, value)):
        return cx.temporary(value)
    return value


def _bound_fields(
    cx: Context, parameter: Parameter, value: Fields, changes: bool, aliasing: bool, *, line: int
) -> Place:
    if (
        not changes
        and aliasing
        and all(isinstance(v, Scalar) and (v.is_name or v.constant is not None) for _, v in value.values)
    ):
        return Held(value)
    if accessors.held(value.type) or (not changes and _has_pointers(value)):
        return Held(_settled(cx, value))
    place = local_arrays.variable(cx, parameter.name, value.type, parameter, line)
    access.store(cx, place, value, line)
    return place
