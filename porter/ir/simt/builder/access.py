"""Reads and writes places: variables, structs taken apart, memory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from math import prod

from porter.ir.simt.builder.arithmetic import as_pointer, convert, plus, scaled
from porter.ir.simt.builder.c_types import (
    INT,
    ArrayOf,
    CType,
    PointerTo,
    Record,
    element_of,
    leaves,
    lives_in_memory,
    moved_at_once,
    offsets,
    size_of,
    units_of,
)
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import EitherSlot, Elements, Fields, Held, Memory, Number, Parts, Place, RValue, Slot
from porter.ir.simt.ops import Value
from porter.ir.simt.types import Array, Element, Pointer, Scalar, Space, Vector

_MOST_ELEMENTS = 64  # of an array that is part of a value


def load(b: Builder, place: Place) -> RValue:
    """Returns the value at a place; of an array its address."""
    match place:
        case Held(value):
            return value
        case Slot():
            return Number(_held(b, place), place.type)
        case EitherSlot(decision, yes, no):
            return Number(_selected(b, decision, _held(b, yes), _held(b, no)), place.type)
        case Parts(type_, places):
            return Fields(type_, tuple((name, load(b, part)) for name, part in places))
        case Memory():
            return _from_memory(b, place)
    raise AssertionError(place)


def _held(b: Builder, slot: Slot) -> Value:
    value = b.held.get(slot)
    if value is None:
        value = b.held[slot] = undefined(b, slot.type)
    return value


def _selected(b: Builder, decision: Number, yes: Value, no: Value) -> Value:
    return b.emitter.emit("select", (decision.value, yes, no), yes.type)


def undefined(b: Builder, type_: Scalar | PointerTo) -> Value:
    """Returns a value that nobody may rely on."""
    kind = type_ if isinstance(type_, Scalar) else Pointer(element_of(type_.element), Space.GLOBAL)
    return b.emitter.emit("undefined", (), kind)


def _from_memory(b: Builder, place: Memory) -> RValue:
    type_ = place.type
    match type_:
        case ArrayOf(element, extents):
            inner = element if len(extents) == 1 else ArrayOf(element, extents[1:])
            return Number(address(b, place, inner), PointerTo(inner))
        case PointerTo(element):
            raw = b.emitter.emit("load", (place.base, place.index), Scalar.U64)
            return Number(b.emitter.emit("bitcast", (raw,), Pointer(element_of(element), Space.GLOBAL)), type_)
        case Scalar():
            return Number(_loaded(b, place, type_), type_)
        case Record(vector=Vector() as vector):
            moved = b.emitter.emit("load", (place.base, place.index), vector)
            parts = [b.emitter.emit("extract", (moved,), vector.element, index=n) for n in range(vector.count)]
            pairs = zip(type_.fields, parts, strict=True)
            return Fields(type_, tuple((name, Number(part, vector.element)) for (name, _), part in pairs))
        case Record() if (wide := _moved_at_once(place)) is not None:
            moved = b.emitter.emit("load", (address_as(b, place, wide), b.zero()), wide)
            parts = [b.emitter.emit("extract", (moved,), wide.element, index=n) for n in range(wide.count)]
            return _assembled(type_, [Number(part, wide.element) for part in parts])
        case Record():
            names = [largest(type_)] if type_.union else [name for name, _ in type_.fields]
            return Fields(type_, tuple((name, _part_in_memory(b, place, name)) for name in names))
    raise b.problem("a value of type 'void'")


def _loaded(b: Builder, place: Memory, type_: Scalar) -> Value:
    """Returns a number of memory, which may hold it as another one of its size."""
    held = _element(place)
    if held is type_:
        return b.emitter.emit("load", (place.base, place.index), type_)
    return b.emitter.emit("bitcast", (b.emitter.emit("load", (place.base, place.index), held),), type_)


def _element(place: Memory) -> Element:
    assert isinstance(place.base.type, Pointer | Array)
    return place.base.type.element


def _moved_at_once(place: Memory) -> Vector | None:
    """Returns the vector as which a struct in the device's memory is moved; None for one that is moved in parts."""
    assert isinstance(place.base.type, Pointer | Array)
    return moved_at_once(place.type) if place.base.type.space is Space.GLOBAL else None


def address_as(b: Builder, place: Memory, element: Vector) -> Value:
    """Returns the address of a place as that of a vector."""
    return b.emitter.emit("bitcast", (address(b, place),), Pointer(element, Space.GLOBAL))


def _assembled(type_: CType, parts: list[Number]) -> RValue:
    """Returns a value of its numbers, which are taken in order."""
    match type_:
        case Record(union=True):
            name = largest(type_)
            return Fields(type_, ((name, _assembled(dict(type_.fields)[name], parts)),))
        case Record():
            return Fields(type_, tuple((name, _assembled(kind, parts)) for name, kind in type_.fields))
        case ArrayOf(element, extents):
            return Elements(type_, tuple(_assembled(element, parts) for _ in range(prod(extents))))
    return parts.pop(0)


def _numbers(b: Builder, value: RValue) -> Iterator[Number]:
    """Yields the numbers that a value is made of."""
    match value:
        case Fields(parts=parts):
            for _, part in parts:
                yield from _numbers(b, part)
        case Elements(parts=parts):
            for part in parts:
                yield from _numbers(b, part)
        case _:
            yield _number(b, value)


def _part_in_memory(b: Builder, place: Memory, name: str) -> RValue:
    """Returns the value of a field; of an array its elements."""
    inner = field(b, place, name)
    if not isinstance(inner, Memory) or not isinstance(inner.type, ArrayOf):
        return load(b, inner)
    if prod(inner.type.extents) > _MOST_ELEMENTS:
        raise b.problem(f"a value with an array of {prod(inner.type.extents)} elements")
    return Elements(inner.type, tuple(load(b, part) for part in elements(b, inner)))


def elements(b: Builder, place: Memory) -> Iterator[Memory]:
    """Yields the places of an array's elements, those of several dimensions one row behind the other."""
    assert isinstance(place.type, ArrayOf)
    inner = place.type.element
    for number in range(prod(place.type.extents)):
        yield inside(b, place, number * size_of(inner), inner)


def largest(union: Record) -> str:
    """Returns the name of the field that takes most bytes."""
    name, _ = max(union.fields, key=lambda field: size_of(field[1]))
    return name


def address(b: Builder, place: Memory, to: CType | None = None) -> Value:
    """Returns the address of a place in memory, as that of a value of the type `to`."""
    wanted = element_of(place.type if to is None else to)
    base = place.base
    assert isinstance(base.type, Pointer | Array)
    element, space = base.type.element, base.type.space
    if b.emitter.known(place.index) != 0 or isinstance(base.type, Array):
        base = b.emitter.emit("offset", (base, place.index), Pointer(element, space), base.name)
    return base if element == wanted else b.emitter.emit("bitcast", (base,), Pointer(wanted, space))


def store(b: Builder, place: Place, value: RValue) -> None:
    """Puts a value, which has to be of the place's type or convert to it, at a place."""
    match place:
        case Slot():
            b.held[place] = convert(b, _number(b, value), place.type, place.name).value
        case EitherSlot(decision, yes, no):
            new = convert(b, _number(b, value), place.type).value
            b.held[yes] = _selected(b, decision, new, _held(b, yes))
            b.held[no] = _selected(b, decision, _held(b, no), new)  # both may be the same variable
        case Parts(type_, places):
            for name, part in places:
                store(b, part, _part(b, value, type_, name))
        case Memory():
            _to_memory(b, place, value)
        case Held():
            raise b.problem("an assignment to what is not a variable")


def _number(b: Builder, value: RValue) -> Number:
    if isinstance(value, Fields) and len(value.parts) == 1:
        return _number(b, value.parts[0][1])
    if not isinstance(value, Number):
        raise b.problem("a struct where a number is needed")
    return value


def _part(b: Builder, value: RValue, type_: Record, name: str) -> RValue:
    if not isinstance(value, Fields) or name not in dict(value.parts):
        raise b.problem(f"a value of another type is assigned to a '{type_.name}'")
    return value.part(name)


def _to_memory(b: Builder, place: Memory, value: RValue) -> None:
    type_ = place.type
    match type_:
        case PointerTo():
            raw = b.emitter.emit("bitcast", (as_pointer(b, convert(b, _number(b, value), type_).value),), Scalar.U64)
            b.emitter.effect("store", (place.base, place.index, raw))
        case Scalar():
            held, number = _element(place), convert(b, _number(b, value), type_).value
            if held is not type_:
                number = b.emitter.emit("bitcast", (number,), held)
            b.emitter.effect("store", (place.base, place.index, number))
        case Record(vector=Vector() as vector):
            parts = [
                convert(b, _number(b, _part(b, value, type_, name)), vector.element).value for name, _ in type_.fields
            ]
            packed = b.emitter.emit("pack", parts, vector)
            b.emitter.effect("store", (place.base, place.index, packed))
        case Record() if (wide := _moved_at_once(place)) is not None and isinstance(value, Fields):
            whole = b.emitter.emit("pack", [number.value for number in _numbers(b, value)], wide)
            b.emitter.effect("store", (address_as(b, place, wide), b.zero(), whole))
        case Record():
            for name in [largest(type_)] if type_.union else [name for name, _ in type_.fields]:
                store(b, field(b, place, name), _part(b, value, type_, name))
        case ArrayOf() if isinstance(value, Elements) and len(value.parts) == prod(type_.extents):
            for inner, one in zip(elements(b, place), value.parts, strict=True):
                store(b, inner, one)
        case _:
            raise b.problem("an assignment to an array")


def copy(b: Builder, to: Memory, source: Memory) -> None:
    """Copies memory number by number: structs with arrays and unions are not values."""
    if moved_at_once(to.type) is not None and to.type == source.type:
        store(b, to, load(b, source))
        return
    for offset, type_ in leaves(to.type):
        store(b, inside(b, to, offset, type_), load(b, inside(b, source, offset, type_)))


def in_memory(b: Builder, value: Fields | Elements) -> Memory:
    """Returns memory of the thread that holds a value."""
    made = variable(b, "held", value.type, in_memory=True)
    assert isinstance(made, Memory)
    store(b, made, value)
    return made


def field(b: Builder, place: Place, name: str) -> Place:
    """The place of a struct's field, which may lie in a struct or union without a name."""
    type_of = place_type(place)
    if isinstance(type_of, Record) and len(way := type_of.way_to(name)) > 1:
        return reduce(partial(field, b), way, place)
    match place:
        case Parts(_, places) if name in dict(places):
            return dict(places)[name]
        case Held(Fields(parts=parts)) if name in dict(parts):
            return Held(dict(parts)[name])
        case Held(Fields(type=type_) as value) if type_.union:
            return field(b, in_memory(b, value), name)
        case Memory(type=Record() as type_) if (kind := type_.field(name)) is not None:
            number = [known for known, _ in type_.fields].index(name)
            return inside(b, place, offsets(type_)[number], kind)
    raise b.problem(f"there is no field '{name}'")


def inside(b: Builder, place: Memory, offset: int, type_: CType) -> Memory:
    """The place of a part of type `type_`, `offset` bytes behind the begin of `place`."""
    assert isinstance(place.base.type, Pointer | Array)
    have, want = place.base.type.element, element_of(type_)
    is_bits = isinstance(have, Scalar) and isinstance(want, Scalar) and isinstance(place.type, Record)
    if (have == want or (is_bits and have.bytes == want.bytes)) and offset % have.bytes == 0:
        return Memory(place.base, plus(b, place.index, offset // have.bytes), type_)
    base = address(b, Memory(place.base, place.index, place.type), Scalar.U8)
    if offset:
        base = b.emitter.emit("offset", (base, b.emitter.constant(offset, INT)), base.type)
    if want is not Scalar.U8:
        base = b.emitter.emit("bitcast", (base,), Pointer(want, place.base.type.space))
    return Memory(base, b.zero(), type_)


def element(b: Builder, base: Number, index: Number) -> Memory:
    """The place `base[index]`."""
    assert isinstance(base.type, PointerTo)
    inner = base.type.element
    if index.type is Scalar.BOOL:
        index = convert(b, index, INT)
    return Memory(base.value, scaled(b, index, units_of(inner)), inner)


def row(b: Builder, place: Memory, index: Number) -> Memory:
    """The place `array[index]` of an array in memory."""
    assert isinstance(place.type, ArrayOf)
    element_type, extents = place.type.element, place.type.extents
    inner = element_type if len(extents) == 1 else ArrayOf(element_type, extents[1:])
    step = scaled(b, index, units_of(inner))
    if b.emitter.known(place.index) == 0:
        return Memory(place.base, step, inner)
    wide = [value if value.type is Scalar.I64 else b.emitter.emit("cast", (value,), Scalar.I64)
            for value in (place.index, step)]  # fmt: skip
    return Memory(place.base, b.emitter.emit("add", wide, Scalar.I64), inner)


def variable(b: Builder, name: str, type_: CType, *, in_memory: bool) -> Place:
    """A new variable of a thread, which holds nothing."""
    if in_memory or lives_in_memory(type_):
        array = b.array(Array(element_of(type_), max(1, units_of(type_)), Space.LOCAL), name)
        return Memory(array, b.zero(), type_)
    match type_:
        case Record():
            return Parts(type_, tuple((n, variable(b, f"{name}.{n}" if n else name, kind, in_memory=False))
                                      for n, kind in type_.fields))  # fmt: skip
        case Scalar() | PointerTo():
            slot = Slot(name, type_)
            b.held[slot] = None
            return slot
    raise b.problem(f"a variable '{name}' of type 'void'")


def place_type(place: Place) -> CType | None:
    """The type of what a place holds; None for what is neither a number nor a struct."""
    if isinstance(place, Held):
        return place.value.type if isinstance(place.value, Number | Fields | Elements) else None
    return place.type


def count_of(type_: CType) -> int:
    """Returns how many elements an array has."""
    return prod(type_.extents) if isinstance(type_, ArrayOf) else size_of(type_)
