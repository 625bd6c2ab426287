"""Registers and memory seen as another type: what is only copied stays as it lies, what is used is put together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from porter_triton.lower import access, local_arrays, shared_arrays
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.places import Columns, Held, LocalArray, Members, Place, SharedArray, Slot, Variable, View
from porter_triton.lower.types import VOID, Arithmetic, Array, Pointer, Record, Type, components, size
from porter_triton.lower.values import ATOM, SHIFT, Address, Bits, Fields, Scalar, Value, number
from porter_triton.refusal import Refusal


def cast(cx: Context, operand: Address, type_: Pointer, line: int) -> Address:
    """An address as a pointer to another type."""
    wanted = components(type_.element)
    if wanted is None:
        raise Refusal(line, "an address is cast to a pointer to a type of mixed parts")
    place, offset = operand.place, operand.offset
    if isinstance(place, Columns):
        if place.element == type_.element:
            return operand
        raise Refusal(line, "a shared array of structs is read as another type")
    if not isinstance(place, SharedArray):
        place, offset = _flat(place, offset, type_.element, line)
    if isinstance(place, SharedArray) and place.arena and wanted[0] != place.element:
        offset = _rescaled(offset, place.element, wanted[0], line)
        found = shared_arrays.arena(cx, place.arena, wanted[0], line)
        assert isinstance(found, SharedArray)
        place = found
    if place.element == type_.element:
        return Address(place, offset)
    assert isinstance(place.element, Arithmetic)
    bytes_, unit = size(type_.element), place.element.bits // 8
    if bytes_ is None or bytes_ % unit:
        if isinstance(place, LocalArray) and not place.tensor:
            ask_for_parts(cx, place.elements, wanted[0])
        raise Refusal(line, "an array is read as a smaller type")
    if isinstance(place, LocalArray) and not place.tensor and wanted[0].bits < place.element.bits:
        ask_for_parts(cx, place.elements, wanted[0])  # else what is stored is put together, and taken apart behind it
    return Address(place, offset, type_.element)


def ask_for_parts(cx: Context, places: Iterable[Place], unit: Arithmetic) -> None:
    """Ask the next pass to hold variables, and all of the array or struct they are in, as parts of a smaller type."""
    for place in places:
        if isinstance(place, Slot) and isinstance(place.array, LocalArray) and not place.array.tensor:
            ask_for_parts(cx, place.array.elements, unit)
        if isinstance(place, Variable) and isinstance(place.type, Arithmetic) and place.type.bits > unit.bits:
            cx.decisions.split[place.key] = unit


def _flat(place: Place, offset: Scalar, wanted: Type, line: int) -> tuple[LocalArray, Scalar]:
    """Registers as an array of scalars."""
    in_parts = isinstance(place, LocalArray) and any(isinstance(e, View) for e in place.elements)
    if isinstance(place, LocalArray) and (place.tensor or isinstance(place.element, Arithmetic)) and not in_parts:
        return place, offset
    if isinstance(place, LocalArray) and place.element == wanted and not in_parts:
        return place, offset
    parts = leaves(place, line)
    count = len(parts) // place.count if isinstance(place, LocalArray) else 1
    type_ = access.place_type(parts[0])
    if not isinstance(type_, Arithmetic) or any(access.place_type(p) != type_ for p in parts):
        raise Refusal(line, "a struct of mixed parts is read as another type")
    array = LocalArray("registers", type_, len(parts), (), 0, list(parts), settled=True)
    return array, binary("*", offset, number(count), line)


def cast_to_bytes(operand: Address, bytes_: int, line: int) -> View:
    """So many bytes of registers from an address on."""
    place, offset = operand.place, operand.offset
    if not isinstance(place, SharedArray):
        place, offset = _flat(place, offset, VOID, line)
    if not isinstance(place.element, Arithmetic) or bytes_ % (place.element.bits // 8):
        raise Refusal(line, "parts of elements are copied")
    count = bytes_ // (place.element.bits // 8)
    parts = tuple(Slot(place, binary("+", offset, number(k), line)) for k in range(count))
    return View(Record("bytes", ()), place.element, parts)


def leaves(place: Place, line: int) -> list[Place]:
    """The scalar places that `place` is made of, in order."""
    if isinstance(place, Variable):
        return [place]
    if isinstance(place, Members):
        return [leaf for field in place.fields.values() for leaf in leaves(field, line)]
    if isinstance(place, LocalArray) and not place.tensor:
        return [leaf for element in place.elements for leaf in leaves(element, line)]
    if isinstance(place, View):
        return list(place.parts)
    if isinstance(place, Held) and isinstance(place.value, Bits):
        return [Held(v) for v in place.value.parts]
    if isinstance(place, Slot) and place.extents:
        return leaves(place.array, line)
    if isinstance(place, Held) and isinstance(place.value, Fields | Scalar):
        return [Held(v) for v in flattened(place.value, line)]
    raise Refusal(line, "the address of what is not a variable is cast")


def units_of(place: Place, unit: Arithmetic) -> tuple[Place, ...] | None:
    """The places that a struct is made of, where they are all `unit`s and some are a view's parts; else None."""
    if not isinstance(place, Members) or not any(isinstance(field, View) for field in place.fields.values()):
        return None
    parts = leaves(place, 0)
    return tuple(parts) if all(access.place_type(part) == unit for part in parts) else None


def _rescaled(offset: Scalar, old: Arithmetic, new: Arithmetic, line: int) -> Scalar:
    """An offset in elements of one type as one in elements of another."""
    if old.bits == new.bits:
        return offset
    if old.bits > new.bits:
        return binary("*", offset, number(old.bits // new.bits), line)
    return binary("/", offset, number(new.bits // old.bits), line)


def pointee(address: Address, line: int) -> View:
    """Returns what an address that is viewed as another type points to."""
    array, view = address.place, address.view
    assert isinstance(array, LocalArray | SharedArray)
    assert isinstance(array.element, Arithmetic)
    assert view is not None
    bytes_ = size(view)
    assert bytes_ is not None
    count = bytes_ // (array.element.bits // 8)
    parts = tuple(Slot(array, binary("+", address.offset, number(k), line)) for k in range(count))
    return View(view, array.element, parts)


def step(address: Address) -> int:
    """Returns how many elements of the array one step of a viewed address is."""
    if address.view is None:
        return 1
    assert isinstance(address.place, LocalArray | SharedArray)
    unit, bytes_ = size(address.place.element), size(address.view)
    assert unit is not None
    assert bytes_ is not None
    return bytes_ // unit


def load(cx: Context, view: View, line: int) -> Value:
    """The value of registers seen as `view.type`."""
    parts = tuple(access.scalar(access.load(cx, p, line), line) for p in view.parts)
    return gathered(view.type, view.unit, parts)


def gathered(type_: Type, unit: Arithmetic, parts: tuple[Scalar, ...]) -> Value:
    """A value of `type_` from its parts in memory: itself where they have its types, else bits."""
    found = components(type_)
    if found is None or found[0] != unit:
        return Bits(type_, unit, parts)
    return _built(type_, list(parts))


def _built(type_: Type, parts: list[Scalar]) -> Value:
    if isinstance(type_, Arithmetic):
        return parts.pop(0)
    if isinstance(type_, Array):
        return local_arrays.elements(
            [_built(type_.element, parts) for _ in range(math.prod(type_.extents))], type_.element
        )
    assert isinstance(type_, Record)
    return Fields(type_, tuple((name, _built(field, parts)) for name, field in type_.fields))


def store(cx: Context, view: View, value: Value, line: int) -> None:
    """Write registers seen as `view.type`."""
    units = [p if access.is_stable(cx, p) else cx.temporary(p) for p in as_units(value, view.unit, view.type, line)]
    for place, part in zip(view.parts, units, strict=True):
        access.store(cx, place, part, line)


def as_units(value: Value, unit: Arithmetic, type_: Type, line: int) -> list[Scalar]:
    """Returns what `value`, a `type_`, is in memory that holds `unit`s."""
    if isinstance(value, Bits):
        if value.unit == unit:
            return list(value.parts)
        return _regrouped(list(value.parts), unit, line)
    if isinstance(type_, Arithmetic) and isinstance(value, Scalar):
        value = convert(value, type_, line)
    return _regrouped(flattened(value, line), unit, line)


def flattened(value: Value, line: int) -> list[Scalar]:
    """The scalars a value is made of."""
    if isinstance(value, Scalar):
        return [value]
    if isinstance(value, Fields):
        return [leaf for _, v in value.values for leaf in flattened(v, line)]
    if isinstance(value, Bits):
        return list(value.parts)
    raise Refusal(line, "an address is stored as bits")


def leaf_values(value: Value, line: int) -> list[Scalar]:
    """The numbers a value is made of, bits put together."""
    if isinstance(value, Bits):
        value = interpreted(value, line)
    if isinstance(value, Fields):
        return [leaf for _, part in value.values for leaf in leaf_values(part, line)]
    return flattened(value, line)


def interpreted(value: Bits, line: int) -> Value:
    """Bits as a value that can be computed with."""
    found = components(value.type)
    if found is None:
        raise Refusal(line, "bits of a type of mixed parts")
    return _built(value.type, _regrouped(list(value.parts), found[0], line))


def field(value: Bits, name: str, line: int) -> Value:
    """A field of bits, if it begins and ends with a part."""
    assert isinstance(value.type, Record)
    position = 0
    for other, type_ in value.type.fields:
        bytes_ = size(type_) or 0
        if other == name:
            break
        position += bytes_
    else:
        raise Refusal(line, f"`{name}` is not a field of a `{value.type.name}`")
    unit = value.unit.bits // 8
    if position % unit or bytes_ % unit:
        whole = interpreted(value, line)
        assert isinstance(whole, Fields)
        return whole.field(name)
    return gathered(type_, value.unit, value.parts[position // unit : (position + bytes_) // unit])


def _regrouped(parts: list[Scalar], unit: Arithmetic, line: int) -> list[Scalar]:
    """The same bits in parts of another type."""
    source = parts[0].type
    if not isinstance(source, Arithmetic):
        raise Refusal(line, "pointers are read as numbers")
    if source == unit:
        return parts
    if source.bits == unit.bits:
        return [bitcast(p, unit) for p in parts]
    if source.bits > unit.bits:
        return [piece for part in parts for piece in _split(part, unit)]
    count = unit.bits // source.bits
    return [_joined(parts[i : i + count], unit, line) for i in range(0, len(parts), count)]


def bitcast(value: Scalar, type_: Arithmetic) -> Scalar:
    """The bits of `value` as a `type_` of the same width."""
    held = settled(value)
    assert isinstance(held.type, Arithmetic)
    if held.held is None and held.type.triton == type_.triton:
        return replace(held, type=type_)
    if held.constant == 0 and math.copysign(1, held.constant) > 0:  # has no bit set in any type
        return number(0, type_)
    if held.constant is not None or held.loose:
        text = f"tl.full([], {held.text}, {held.type.triton})"
        held = replace(held, text=text, level=ATOM, constant=None, loose=False)
    text = f"{held.within(ATOM)}.to({type_.triton}, bitcast=True)"
    return Scalar(text, type_, held.varying)


def _unsigned(bits: int) -> Arithmetic:
    return Arithmetic(
        {16: "unsigned short", 8: "unsigned char", 64: "unsigned long"}.get(bits, "unsigned int"), "uint", bits
    )


def _split(part: Scalar, unit: Arithmetic) -> list[Scalar]:
    assert isinstance(part.type, Arithmetic)
    count = part.type.bits // unit.bits
    if isinstance(part.constant, int) and not (part.type.is_float or unit.is_float):
        return [number(part.constant >> (i * unit.bits), unit) for i in range(count)]
    whole = bitcast(part, _unsigned(part.type.bits))
    if whole.constant == 0:
        return [number(0, unit)] * count
    pieces = []
    for i in range(count):
        shifted = f"({whole.within(SHIFT)} >> {i * unit.bits})" if i else whole.within(ATOM)
        bits = "" if unit.kind == "uint" else f".to({unit.triton}, bitcast=True)"
        text = f"{shifted}.to(tl.uint{unit.bits}){bits}"
        pieces.append(Scalar(text, unit, part.varying))
    return pieces


def _joined(parts: list[Scalar], unit: Arithmetic, line: int) -> Scalar:
    total: Scalar | None = None
    wide = _unsigned(unit.bits)
    for i, part in enumerate(parts):
        assert isinstance(part.type, Arithmetic)
        piece = convert(bitcast(part, _unsigned(part.type.bits)), wide, line)
        if i:
            piece = binary("<<", piece, number(i * part.type.bits), line)
        total = piece if total is None else binary("|", total, piece, line)
    assert total is not None
    total = convert(total, wide, line)  # C computes what is narrower as an int
    return total if unit == wide else bitcast(total, unit)
