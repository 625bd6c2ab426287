"""Reading and writing places, whatever they are."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from porter_triton.lower import local_arrays, memory, pointed, shared, sums, views
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, exact_double, settled
from porter_triton.lower.emit import Change, Kind, Line
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
from porter_triton.lower.types import BOOL, FLOAT, INT, Arithmetic, Pointer, Type
from porter_triton.lower.values import ATOM, Address, Bits, Fields, Nothing, Scalar, Value, number
from porter_triton.refusal import Refusal

_PLAIN = (INT, FLOAT, BOOL)  # what Triton makes of Python's own numbers


def load(cx: Context, place: Place, line: int) -> Value:
    """The value that `place` holds now; an array's is its address."""
    if isinstance(place, Held):
        return place.value
    if isinstance(place, Variable):
        return read(place)
    if isinstance(place, Members):
        return Fields(place.type, tuple((name, _content(cx, field, line)) for name, field in place.fields.items()))
    if isinstance(place, LocalArray | SharedArray | Columns):
        return Address(place, number(0))
    if isinstance(place, Memory):
        return memory.load(cx, place, line)
    if isinstance(place, View):
        return views.load(cx, place, line)
    if isinstance(place, Pointed):
        return pointed.load(place, line)
    if isinstance(place, Cursor):
        return Address(place.array, read(place.offset))
    if place.extents:
        return Address(place.array, place.offset)
    if isinstance(place.array, SharedArray) and place.array.memory is not None:
        return memory.load(cx, in_memory(place.array, place.offset, line), line)
    if isinstance(place.array, LocalArray):
        return local_arrays.load(cx, place.array, place.offset, line)
    if isinstance(place.array, SharedArray):
        return shared.load(cx, place.array, place.offset)
    columns = ((name, Slot(array, place.offset)) for name, array in place.array.fields.items())
    return Fields(place.array.element, tuple((name, load(cx, slot, line)) for name, slot in columns))


def _content(cx: Context, place: Place, line: int) -> Value:
    """Returns what a field holds: an array by value."""
    array = place.array if isinstance(place, Slot) and place.extents else place
    if isinstance(array, LocalArray):
        return local_arrays.elements([load(cx, e, line) for e in array.elements], array.element)
    return load(cx, place, line)


def read(variable: Variable) -> Scalar:
    """The value of a scalar variable."""
    known = variable.known if variable.stable else None
    if known is not None and known.constant is not None:
        return known
    if known is None:
        loose = not variable.varying and variable.type in _PLAIN
        return Scalar(variable.name, variable.type, variable.varying, loose=loose, bases=variable.bases)
    value = Scalar(variable.name, variable.type, variable.varying)
    return replace(
        value,
        held=known.held,
        interval=known.interval,
        affine=known.affine,
        loose=known.loose,
        single=None,
        pins=known.pins,
        bases=known.bases,
    )


def store(cx: Context, place: Place, value: Value, line: int) -> None:
    """Assign `value` to `place` in the lanes that run."""
    if isinstance(place, Variable) and isinstance(value, Address):
        pointed.ask(cx, place, value, line)
    elif isinstance(place, Variable):
        assign(cx, place, scalar(value, line), line)
    elif isinstance(place, Pointed):
        pointed.store(cx, place, value, line)
    elif isinstance(place, View):
        views.store(cx, place, value, line)
    elif isinstance(place, Memory):
        memory.store(cx, place, value, line)
    elif isinstance(place, Slot) and not place.extents:
        _store_slot(cx, place, value, line)
    elif isinstance(place, Cursor):
        if not isinstance(value, Address) or value.place is not place.array:
            raise Refusal(line, "a pointer is set to point into another array than before")
        assign(cx, place.offset, value.offset, line)
    elif isinstance(value, Bits) and (units := views.units_of(place, value.unit)) is not None:
        views.store(cx, View(value.type, value.unit, units), value, line)
    else:
        _store_parts(cx, place, views.interpreted(value, line) if isinstance(value, Bits) else value, line)


def _store_parts(cx: Context, place: Place, value: Value, line: int) -> None:
    """Assign a struct, or an array that is part of one."""
    if isinstance(place, Slot):
        place = place.array
    if isinstance(place, Members) and isinstance(value, Fields) and set(dict(value.values)) == set(place.fields):
        value = apart(cx, value)
        for name, field in place.fields.items():
            store(cx, field, value.field(name), line)
    elif isinstance(place, LocalArray) and isinstance(value, Fields) and len(value.values) == place.count:
        for element, (_, part) in zip(place.elements, apart(cx, value).values, strict=True):
            store(cx, element, part, line)
    else:
        raise Refusal(line, "a value is assigned to what is not of its type")


def apart(cx: Context, value: Fields) -> Fields:
    """`value` evaluated before what it is assigned to changes: `v = {v.y, v.x}`."""
    return Fields(value.type, tuple((name, _evaluated(cx, part)) for name, part in value.values))


def _evaluated(cx: Context, value: Value) -> Value:
    if isinstance(value, Fields):
        return apart(cx, value)
    if isinstance(value, Scalar) and value.constant is None and not is_stable(cx, value):
        single = value.single
        return replace(cx.temporary(value), single=single and cx.temporary(single))
    return value


def in_memory(array: SharedArray, offset: Scalar, line: int) -> Memory:
    """An element of a shared array that lies in memory."""
    assert array.memory is not None
    return Memory(memory.step(array.memory, offset, "+", line), array.element)


def _store_slot(cx: Context, place: Slot, value: Value, line: int) -> None:
    if isinstance(value, Bits):
        value = views.interpreted(value, line)
    if isinstance(place.array, SharedArray) and place.array.memory is not None:
        memory.store(cx, in_memory(place.array, place.offset, line), value, line)
    elif isinstance(place.array, LocalArray):
        local_arrays.store(cx, place.array, place.offset, value, line)
    elif isinstance(place.array, SharedArray):
        shared.store(cx, place.array, place.offset, scalar(value, line), line)
    elif isinstance(value, Fields):
        for name, array in place.array.fields.items():
            _store_slot(cx, Slot(array, place.offset), value.field(name), line)
    else:
        raise Refusal(line, f"what is assigned to a `{place.array.element.name}` is none")


def scalar(value: Value, line: int) -> Scalar:
    """`value` where a number or a pointer is needed."""
    if isinstance(value, Scalar):
        return value
    if isinstance(value, Bits):
        return scalar(views.interpreted(value, line), line)
    if isinstance(value, Nothing):
        raise Refusal(line, "the value of a void expression is used")
    if isinstance(value, Address):
        raise Refusal(line, "the address of a variable or of a shared or local array is used as a value")
    name = value.type.name if isinstance(value, Fields) else "cooperative group"
    raise Refusal(line, f"a `{name}` is used as a number")


def assign(cx: Context, variable: Variable, value: Scalar, line: int) -> None:
    """`variable = value` in the lanes that run; what that means for its kind is told to the next pass."""
    sums.replace(cx, variable)
    value = settled(convert(value, variable.type, line))
    if isinstance(variable.type, Pointer):
        value = memory.counting(value, variable.type, line)
    mask = cx.mask_for(variable.depth)
    if variable.varying and variable.home is cx.suite and mask is None and not value.varying:
        _begin_anew(cx, variable, line)
    if (value.varying or (mask is not None and mask.varying)) and not variable.varying:
        cx.decisions.varying.add(variable.key)
    if variable.fresh:
        cx.settled.append(variable)
    first, variable.fresh = variable.fresh, False
    variable.bases |= value.bases
    made = _assignment(cx, variable, first, value)
    if made.text != variable.name:
        cx.emit(made)


def _assignment(cx: Context, variable: Variable, first: bool, value: Scalar) -> Line:
    """`variable = value` in the lanes that run now; `first`: nobody has read what it was in others."""
    mask = cx.mask_for(variable.depth)
    text, level = typed(cx, value, variable)
    if mask is not None and not first:
        text, level = f"tl.where({mask.text}, {exact_double(value).text}, {variable.name})", ATOM
    made = Line(text, variable.name, level=level, value=Kind(variable.type, variable.varying))
    if mask is not None and variable.varying and isinstance(variable.type, Arithmetic):
        made.change = Change(value, mask, partial(_assignment, cx, variable, first))
    return made


def _begin_anew(cx: Context, variable: Variable, line: int) -> None:
    """From here on all threads agree on the variable, unless they are known to differ again: another Python name."""
    key = (*variable.key, "anew", line)
    if key not in cx.decisions.varying:
        variable.key, variable.varying = key, False
        variable.name = cx.names.reserve(variable.name, (variable.type, False))


def typed(cx: Context, value: Scalar, variable: Variable) -> tuple[str, int]:
    """The text of `value` with exactly the type and shape of `variable`."""
    type_ = variable.type
    if variable.varying and not value.varying and isinstance(type_, Arithmetic):
        if value.constant == 0 and type_.kind != "bool":
            return f"tl.zeros([{cx.block}], {type_.triton})", ATOM
        return f"tl.full([{cx.block}], {value.text}, {type_.triton})", ATOM
    if variable.varying and not value.varying:
        return f"tl.broadcast_to({value.text}, [{cx.block}])", ATOM
    if value.loose and not variable.stable and isinstance(type_, Arithmetic) and type_ not in _PLAIN:
        return f"tl.cast({value.text}, {type_.triton})", ATOM
    return value.text, value.level


def is_stable(cx: Context, value: Scalar) -> bool:
    """Returns whether nothing the text names is assigned again."""
    return all(cx.unchanging(name) for name in value.names)


def place_type(place: Place) -> Type | None:
    """The type of what `place` holds; None for a part of an array."""
    if isinstance(place, Variable | Members | Memory | View):
        return place.type
    if isinstance(place, Held):
        return place.value.type if isinstance(place.value, Scalar | Fields | Bits) else None
    if isinstance(place, Slot):
        return None if place.extents else place.array.element
    return None


def index(slot_extents: tuple[int, ...], offset: Scalar, by: Scalar, line: int) -> tuple[Scalar, tuple[int, ...]]:
    """The offset and the remaining extents after one more subscript."""
    rest = slot_extents[1:]
    step = 1
    for extent in rest:
        step *= extent
    return binary("+", offset, binary("*", by, number(step), line), line), rest


def frozen(cx: Context, held: Scalar) -> Scalar:
    """`held` evaluated here, before what follows changes what it names."""
    return held if is_stable(cx, held) else cx.temporary(held)
