"""Variables: of a thread, of a block, and what they are initialised with."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from porter.ir.simt.builder import access, calls, expressions, functions, resolve
from porter.ir.simt.builder.c_types import (
    FUNCTION,
    INT,
    VOID,
    ArrayOf,
    CType,
    PointerTo,
    Record,
    element_of,
    lives_in_memory,
    size_of,
    units_of,
)
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import (
    Closure,
    Elements,
    Fields,
    FunctionName,
    Held,
    Memory,
    Number,
    OneOf,
    Place,
    RValue,
    Text,
)
from porter.ir.simt.types import Array, Pointer, Scalar, Space
from porter.syntax.nodes import Alias, Braces, Declare, Expression, TypeName, Variable


def declare(b: Builder, node: Declare) -> None:
    """`int i = 0, *p;`."""
    for variable in node.variables:
        with b.at(variable.line or node.line):
            place = _declared(b, variable)
            b.bind(variable.name, place)
            type_ = access.place_type(place)
            for name in type_.members if not variable.name and isinstance(type_, Record) else ():
                b.bind(name, access.field(b, place, name))  # of a union without a name


def alias(b: Builder, node: Alias) -> None:
    """`using A = T;` in a body."""
    bound = resolve.argument(b, node.type)
    b.bind(node.name, bound if isinstance(bound, TypeName) else node.type)


def _declared(b: Builder, variable: Variable) -> Place:
    if "shared" in variable.storage:
        return shared(b, variable, b.instance())
    if variable.storage == "static" and not (variable.constexpr or variable.type.const):
        raise b.problem(f"the static variable '{variable.name}'")
    if variable.type.name == "auto" and isinstance(variable.value, Braces) and len(variable.value.items) == 1:
        variable = replace(variable, value=variable.value.items[0])  # `auto x{y}`
    if variable.type.reference:
        return _reference(b, variable)
    if variable.type.name == "auto" and not variable.extents:
        return _deduced(b, variable)
    return _of_type(b, variable, _type(b, variable))


def _type(b: Builder, variable: Variable) -> CType:
    if variable.extents and variable.extents[0] is None and isinstance(variable.value, Braces):
        inner = resolve.declared(b, variable.type, variable.extents[1:], variable.line)
        return ArrayOf(inner, (len(variable.value.items),))
    return resolve.declared(b, variable.type, variable.extents, variable.line)


def _of_type(b: Builder, variable: Variable, type_: CType) -> Place:
    name = variable.name
    if type_ is FUNCTION:
        return _function(b, variable)
    if isinstance(type_, ArrayOf) and type_.element is FUNCTION:
        return Held(functions.table(b, variable))
    in_memory = lives_in_memory(type_) or name in b.addressed[-1]
    is_constant = variable.constexpr or (variable.type.const and isinstance(type_, Record))
    never_changes = is_constant or name not in b.mutable[-1]
    if not in_memory and variable.value is not None and never_changes:
        return Held(_named(initial(b, type_, variable.value, variable.line), name))
    place = access.variable(b, name, type_, in_memory=in_memory)
    if variable.value is not None:
        _initialise(b, place, type_, variable.value, variable.line)
    elif (isinstance(type_, Record) and type_.constructors(0)) or (
        isinstance(type_, Record) and type_.tree is not None and any(f.value for f in type_.tree.fields)
    ):
        access.store(b, place, calls.construct(b, type_, (), variable.line))
    return place


def _function(b: Builder, variable: Variable) -> Place:
    """A pointer to a function, which keeps what it is initialised with."""
    if variable.value is None or variable.name in b.mutable[-1]:
        raise b.problem(f"'{variable.name}', a pointer to a function, is assigned to after its declaration")
    value = variable.value
    if isinstance(value, Braces) and len(value.items) == 1:
        value = value.items[0]
    return Held(functions.value(b, value, variable.line))


def _named(value: RValue, name: str) -> RValue:
    """The value under the variable's name, where it has none."""
    if isinstance(value, Number) and not value.value.name:
        object.__setattr__(value.value, "name", name)  # only for readers
    return value


def _initialise(b: Builder, place: Place, type_: CType, value: Expression, line: int) -> None:
    """Puts what a variable is initialised with into it; of an array or union what is given."""
    if isinstance(place, Memory) and lives_in_memory(type_):
        if isinstance(value, Braces) and (value.type is None or isinstance(type_, ArrayOf)):
            fill(b, place, value.items, line)
            return
        source = expressions.place(b, value)
        if isinstance(source, Held) and isinstance(type_, Record):
            access.store(b, place, calls.converted(b, source.value, type_, line))
            return
        if not isinstance(source, Memory) or size_of(source.type) != size_of(type_):
            raise b.problem("an array that is initialised with a value")
        access.copy(b, place, source)
        return
    access.store(b, place, initial(b, type_, value, line))


def fill(b: Builder, place: Memory, items: tuple[Expression, ...], line: int) -> None:
    """Puts a list into an array or a struct in memory, and 0 where it ends."""
    type_ = place.type
    if isinstance(type_, ArrayOf):
        if len(type_.extents) > 1 and items and not isinstance(items[0], Braces):  # `{1, 2}` of rows without their own
            type_ = ArrayOf(type_.element, (prod(type_.extents),))
            place = Memory(place.base, place.index, type_, place.volatile)
        inner = type_.element if len(type_.extents) == 1 else ArrayOf(type_.element, type_.extents[1:])
        parts = [access.row(b, place, Number(b.emitter.constant(n, INT), INT)) for n in range(type_.extents[0])]
        if prod(type_.extents) > _MOST_STORES:
            raise b.problem(f"an array of {prod(type_.extents)} elements that is initialised")
    else:
        assert isinstance(type_, Record)
        inner = VOID
        if len(type_.fields) == 1 and isinstance(type_.fields[0][1], ArrayOf) and items and not _is_list(items[0]):
            items = (Braces(items, None, line),)  # the braces of an only array may be left out
        parts = [access.field(b, place, name) for name, _ in type_.fields]  # type: ignore[misc]
        parts = parts[:1] if type_.union else parts
    for number, part in enumerate(parts):
        kind = access.place_type(part) or inner
        item = items[number] if number < len(items) else Braces((), None, line)
        _initialise(b, part, kind, item, line)


def _is_list(item: Expression) -> bool:
    return isinstance(item, Braces) and item.type is None


_MOST_STORES = 1024


def constant_array(b: Builder, variable: Variable) -> Place:
    """A constant array of the program, as memory of the thread."""
    type_ = _type(b, variable)
    if isinstance(type_, ArrayOf) and type_.element is FUNCTION:
        return Held(functions.table(b, variable))
    place = access.variable(b, variable.name, type_, in_memory=True)
    assert isinstance(place, Memory)
    assert variable.value is not None
    _initialise(b, place, type_, variable.value, variable.line)
    return place


def _reference(b: Builder, variable: Variable) -> Place:
    """`T& x = y`: another name of a place."""
    assert variable.value is not None
    value = variable.value
    if isinstance(value, Braces) and len(value.items) == 1:
        value = value.items[0]
    place = expressions.place(b, value)
    if isinstance(place, Held) and variable.type.name != "auto":
        return Held(initial(b, resolve.type_of(b, variable.type, variable.line), value, variable.line))
    return place


def _deduced(b: Builder, variable: Variable) -> Place:
    """`auto x = y`."""
    assert variable.value is not None
    value = variable.value
    if isinstance(value, Braces) and value.type is None and len(value.items) == 1:
        value = value.items[0]
    found = expressions.value(b, value)
    if isinstance(found, Closure | FunctionName | OneOf):
        return Held(found)
    type_ = expressions.type_of_value(b, found, variable.line)
    if variable.name not in b.mutable[-1]:
        return Held(found)
    place = access.variable(b, variable.name, type_, in_memory=variable.name in b.addressed[-1])
    access.store(b, place, found)
    return place


def initial(b: Builder, type_: CType, value: Expression, line: int) -> RValue:
    """Returns what a variable of this type is initialised with."""
    if isinstance(value, Braces) and value.type is None:
        return calls.construct(b, type_, value.items, line)
    found = expressions.value(b, value)
    return calls.converted(b, found, type_, line)


def shared(b: Builder, variable: Variable, instance: tuple[object, ...]) -> Place:
    """Memory of the block: one for each `instance` of the function that declares it, or one outside of functions."""
    if "extern" in variable.storage:
        kind = resolve.type_of(b, variable.type, variable.line)
        base = b.dynamic_shared()
        assert isinstance(base.type, Pointer)
        if element_of(kind) is not Scalar.U8:
            base = b.emitter.emit("bitcast", (base,), Pointer(element_of(kind), Space.SHARED), variable.name)
        inner = PointerTo(kind)
        return Held(Number(base, inner)) if variable.extents else Memory(base, b.zero(), kind)
    key = (id(variable), instance)
    if key not in b.shared:
        kind = _type(b, variable)
        array = b.array(Array(element_of(kind), max(1, units_of(kind)), Space.SHARED), variable.name)
        b.shared[key] = Memory(array, b.zero(), kind)
    return b.shared[key]


def text_of(value: RValue) -> str:
    """The text that a value is; empty for others."""
    return value.text if isinstance(value, Text) else ""


def zero(b: Builder, type_: CType) -> RValue:
    """The value of a variable of this type that is initialised with `{}`."""
    match type_:
        case Scalar():
            return Number(b.emitter.constant(0, type_), type_)
        case PointerTo(element):
            return Number(b.emitter.constant(0, Pointer(element_of(element), Space.GLOBAL)), type_)
        case ArrayOf(element, extents) if prod(extents) <= _MOST_STORES:
            return Elements(type_, (zero(b, element),) * prod(extents))
        case Record(fields=fields):
            return Fields(type_, tuple((name, zero(b, kind)) for name, kind in fields))
    raise b.problem("an array as a value")
