"""Arrays of one thread's own: variables where every index is known, else a tensor `[threads, size]`."""

from __future__ import annotations

import math

from porter_triton.lower import access, pointed, structs, unions, variables
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.emit import Line
from porter_triton.lower.places import Columns, Held, Key, LocalArray, Members, Place, SharedArray, Slot, View
from porter_triton.lower.types import INT, Arithmetic, Array, Record, Type
from porter_triton.lower.values import ATOM, Fields, Scalar, Value, number
from porter_triton.refusal import Refusal

_MOST_ELEMENTS = 1024


def declare(cx: Context, name: str, element: Type, count: int, node: object, *, line: int) -> LocalArray | Columns:
    """An array without values."""
    if not 0 < count <= _MOST_ELEMENTS:
        raise Refusal(line, f"an array of {count} elements for each thread")
    key = cx.key(node)
    array = LocalArray(name, element, count, key, cx.depth)
    if key in cx.decisions.tensors:
        return _tensor(cx, array, line)
    array.elements = [variable(cx, f"{name}_{i}", element, node, line, part=str(i)) for i in range(count)]
    return array


def _tensor(cx: Context, array: LocalArray, line: int) -> LocalArray | Columns:
    """The array as a tensor; one for each field of a struct."""
    structs.demand_no_union(array.element, line)
    if isinstance(array.element, Record):
        fields: dict[str, SharedArray | LocalArray | Columns] = {
            f: _tensor(cx, LocalArray(f"{array.name}_{f}", t, array.count, array.key, array.depth), line)
            for f, t in array.element.fields
        }
        return Columns(array.element, fields)
    if not isinstance(array.element, Arithmetic):
        raise Refusal(line, f"`{array.name}` is indexed by what is not known before the kernel runs")
    array.tensor = cx.names.declare(array.name, (array.element, "tensor", array.count))
    cx.emit(Line(f"tl.zeros([{cx.block}, {_width(array)}], {array.element.triton})", array.tensor))
    return array


def variable(cx: Context, name: str, type_: Type, node: object, line: int, *, part: str = "") -> Place:
    """A place for a value of any type, without a value."""
    if isinstance(type_, Record) and type_.union:
        return unions.variable(cx, name, type_, node, line, part=part)
    if isinstance(type_, Record):
        fields = {f: variable(cx, f"{name}_{f}", t, node, line, part=f"{part}.{f}") for f, t in type_.fields}
        return Members(type_, fields)
    if isinstance(type_, Array):
        count = math.prod(type_.extents)
        elements = [variable(cx, f"{name}_{i}", type_.element, node, line, part=f"{part}.{i}") for i in range(count)]
        array = LocalArray(name, type_.element, count, cx.key(node, part), cx.depth, elements, settled=True)
        return Slot(array, number(0), type_.extents) if len(type_.extents) > 1 else array
    if isinstance(type_, Arithmetic):
        if (unit := cx.decisions.split.get(cx.key(node, part))) is not None:
            return in_parts(cx, name, type_, unit, node, line=line, part=part)
        return variables.declare(cx, name, type_, node, None, stable=False, line=line, part=part)
    return pointed.declare(cx, name, type_, node, part)


def in_parts(
    cx: Context, name: str, type_: Arithmetic, unit: Arithmetic, node: object, *, line: int, part: str = ""
) -> View:
    """A variable of `type_` that is held as several of `unit`, without a value."""
    parts = tuple(
        variables.declare(cx, f"{name}_{i}", unit, node, None, stable=False, line=line, part=f"{part}/{i}")
        for i in range(type_.bits // unit.bits)
    )
    return View(type_, unit, parts)


def _width(array: LocalArray) -> int:
    return 1 << (array.count - 1).bit_length()


def element(cx: Context, array: LocalArray, offset: Scalar, line: int) -> Place | None:
    """The place of one element; None where the index is not known in this pass."""
    if array.tensor:
        return None
    if offset.fixed is not None:
        if not 0 <= offset.fixed < array.count:
            raise Refusal(line, f"`{array.name}` has {array.count} elements, and its element {offset.fixed} is used")
        return array.elements[offset.fixed]
    _ask(cx, array, offset, line)
    return None


def _ask(cx: Context, array: LocalArray, offset: Scalar, line: int) -> None:
    """Ask the next pass to write the loops out that run through `array`, or else to hold it in a tensor."""
    loops = _loops_of(cx, offset)
    if not loops and array.settled:
        raise Refusal(line, "registers are indexed by what is not known before the kernel runs")
    size = 0 if array.settled else array.count  # a field of a struct is never a tensor
    for loop in loops:
        cx.decisions.indexing.setdefault(loop, {})[array.key] = size
    if not loops or any(cx.decisions.beside_tensor(loop, size) for loop in loops):
        cx.decisions.tensors.add(array.key)


def _loops_of(cx: Context, offset: Scalar) -> list[Key]:
    """The loops around that, written out, may make `offset` a number."""
    named = [loop for loop in cx.loops if loop.counter in offset.names]
    if offset.names <= {loop.counter for loop in named}:
        return [loop.key for loop in named]
    early = [loop for loop in cx.loops if loop.early]  # threads that leave count no further
    return [loop.key for loop in [*early, *named] or ([] if offset.varying else cx.loops)]


def load(cx: Context, array: LocalArray, offset: Scalar, line: int) -> Value:
    """The value of one element."""
    place = element(cx, array, offset, line)
    if place is not None:
        return access.load(cx, place, line)
    if not array.tensor:  # another pass follows
        return access.load(cx, array.elements[0], line)
    assert isinstance(array.element, Arithmetic)
    index = convert(settled(offset), INT, line)
    column = f"{index.within(ATOM)}[:, None]" if index.varying else f"tl.full([{cx.block}, 1], {index.text}, tl.int32)"
    if cx.mask is not None and index.varying and not index.known_within(0, _width(array) - 1):
        column = f"tl.where({cx.mask.text}, {index.text}, 0)[:, None]"
    return Scalar(f"tl.reshape(tl.gather({array.tensor}, {column}, 1), [{cx.block}])", array.element, True)


def store(cx: Context, array: LocalArray, offset: Scalar, value: Value, line: int) -> None:
    """Assign one element."""
    place = element(cx, array, offset, line)
    if place is not None:
        access.store(cx, place, value, line)
    elif not array.tensor:  # another pass follows
        access.store(cx, array.elements[0], value, line)
    else:
        _store_in_tensor(cx, array, offset, access.scalar(value, line), line)


def _store_in_tensor(cx: Context, array: LocalArray, offset: Scalar, value: Scalar, line: int) -> None:
    assert isinstance(array.element, Arithmetic)
    index = convert(settled(offset), INT, line)
    held = settled(convert(value, array.element, line))
    mask = cx.mask_for(array.depth)
    chosen = f"tl.arange(0, {_width(array)})[None, :] == {_column(index, 9)}"
    if mask is not None:
        chosen = f"({chosen}) & {_column(mask, 9)}"
    text = f"tl.where({chosen}, {_column(held, 0)}, {array.tensor})"
    cx.emit(Line(text, array.tensor, level=ATOM))


def _column(value: Scalar, level: int) -> str:
    return f"{value.within(ATOM)}[:, None]" if value.varying else value.within(level)


def fill(cx: Context, array: LocalArray | Columns, count: int, values: list[Value], line: int) -> None:
    """`= {a, b}`: what is not given is zero."""
    for i in range(count):
        value = values[i] if i < len(values) else zero(array.element)
        access.store(cx, Slot(array, number(i)), value, line)


def elements(values: list[Value], element_type: Type) -> Fields:
    """An array by value, which only structs hold: a record of numbered fields."""
    names = [str(i) for i in range(len(values))]
    type_ = Record("[]", tuple((name, element_type) for name in names))
    return Fields(type_, tuple(zip(names, values, strict=True)))


def held_array(value: Value) -> LocalArray | None:
    """An array by value as one whose elements are what they are; None for any other value."""
    if not isinstance(value, Fields) or value.type.name != "[]":
        return None
    element_type = value.type.fields[0][1]
    return LocalArray("held", element_type, len(value.values), (), 0, [Held(v) for _, v in value.values], settled=True)


def zero(type_: Type) -> Value:
    """The value of `T{}`."""
    if isinstance(type_, Record):
        return Fields(type_, tuple((name, zero(t)) for name, t in type_.fields))
    if isinstance(type_, Array):
        return elements([zero(type_.element) for _ in range(math.prod(type_.extents))], type_.element)
    assert isinstance(type_, Arithmetic)
    return number(0, type_)
