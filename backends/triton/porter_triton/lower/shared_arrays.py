"""Shared arrays come into being: each is a tensor that the function begins with."""

from __future__ import annotations

from math import prod

from porter_triton.lower import structs
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Kind, Line
from porter_triton.lower.launch import LoweredParameter, ParameterKind
from porter_triton.lower.places import Columns, Key, Members, Place, SharedArray, Slot
from porter_triton.lower.types import Arithmetic, Array, Pointer, Record, Type, size
from porter_triton.lower.values import Scalar, number
from porter_triton.refusal import Refusal


def place(cx: Context, name: str, type_: Type, extents: tuple[int, ...], key: Key, *, line: int) -> Place:
    """A variable of the block, an array where it has `extents`; a struct that holds arrays is its fields."""
    if isinstance(type_, Record) and not extents and any(isinstance(t, Array) for _, t in type_.fields):
        structs.demand_no_union(type_, line)
        fields = ((f, t.element, t.extents) if isinstance(t, Array) else (f, t, ()) for f, t in type_.fields)
        return Members(type_, {f: place(cx, f"{name}_{f}", t, e, (*key, f), line=line) for f, t, e in fields})
    array = make(cx, name, type_, prod(extents) if extents else 0, key, line=line)
    return array if len(extents) == 1 else Slot(array, number(0), extents)


_MOST_VARIABLES = 8  # that an array becomes; the second stage of a block reduction has more elements


def make(cx: Context, name: str, type_: Type, count: int, key: Key, *, line: int) -> SharedArray | Columns:
    """An array of `count` elements, an array for each field of a struct; 0 for a variable that is no array."""
    structs.demand_no_union(type_, line)
    if isinstance(type_, Record):
        return Columns(type_, {f: make(cx, f"{name}_{f}", t, count, (*key, f), line=line) for f, t in type_.fields})
    if isinstance(type_, Array | Pointer):
        raise Refusal(line, f"`{name}` is a shared array of arrays or pointers")
    if count == 0:
        return _in_memory(cx, name, type_, 1, key) if key in cx.decisions.scratch else _variable(cx, name, type_, key)
    padded = 1 << max(count - 1, 0).bit_length()
    if key in cx.decisions.scratch:
        return _in_memory(cx, name, type_, count, key)
    if count <= _MOST_VARIABLES and key not in cx.decisions.indexed:
        names = [name] if count == 1 else [f"{name}_{k}" for k in range(count)]
        elements = tuple(_variable(cx, each, type_, key) for each in names)
        return SharedArray(name, type_, count, padded, str(padded), key, elements=elements)
    return _tensor(cx, name, type_, count, padded, text=str(padded), key=key)


def _in_memory(cx: Context, name: str, type_: Arithmetic, count: int | str, key: Key) -> SharedArray:
    """The last resort: a slice of a buffer that the launcher makes, one for each program.

    `count` is a number, or the name of the constexpr parameter that holds it.
    """
    known = count if isinstance(count, int) else None
    buffer = cx.names.reserve(f"{name}_scratch", "parameter")
    cx.parameters.append(LoweredParameter(buffer, ParameterKind.SCRATCH, type_.dtype, name, known or 0))
    program = "tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))"
    slice_ = cx.names.reserve(name, (type_, "scratch"))
    cx.prologue.nodes.append(Line(f"{buffer} + ({program}) * {count}", slice_))
    cx.unchanged |= {buffer, slice_}
    pointer = Scalar(slice_, Pointer(type_), held=Pointer(type_), bases=frozenset({slice_}))
    return SharedArray(slice_, type_, known, None, str(count), key, memory=pointer)


def _variable(cx: Context, name: str, type_: Arithmetic, key: Key) -> SharedArray:
    """A shared variable that is no array: one value for the block."""
    python = cx.names.declare(name, (type_, "shared"))
    text = f"tl.cast({number(0, type_).text}, {type_.triton})"
    cx.prologue.nodes.append(Line(text, python, value=Kind(type_, varying=False)))
    return SharedArray(python, type_, 1, 1, "1", key, alone=True)


def _tensor(
    cx: Context, name: str, type_: Arithmetic, count: int | None, padded: int | None, *, text: str, key: Key
) -> SharedArray:
    python = cx.names.declare(name, (type_, "shared", text))
    if padded is not None and padded == cx.padded:
        text = cx.threads_text
    cx.prologue.nodes.append(Line(f"tl.zeros([{text}], {type_.triton})", python))
    return SharedArray(python, type_, count, padded, text, key)


def arena(cx: Context, name: str, type_: Type, line: int) -> Place:
    """The dynamic shared memory as an array of `type_`.

    Memory of one type is never read as another (strict aliasing), so each type has a tensor for the whole of it.
    """
    structs.demand_no_union(type_, line)
    if isinstance(type_, Record):
        return Columns(type_, {f: _column(cx, f"{name}_{f}", type_, t, line) for f, t in type_.fields})
    if not isinstance(type_, Arithmetic):
        raise Refusal(line, f"`{name}` is an array of pointers or arrays")
    return _column(cx, name, type_, type_, line)


def _column(cx: Context, name: str, whole: Type, type_: Type, line: int) -> SharedArray:
    bytes_ = size(whole)
    if not isinstance(type_, Arithmetic) or bytes_ is None:
        raise Refusal(line, f"`{name}` is an array of structs of several types")
    key = ("extern", name, type_, bytes_)
    found = cx.arrays.get(key)
    if found is None:
        found = _dynamic(cx, name, type_, bytes_, key)
        cx.arrays[key] = found
    assert isinstance(found, SharedArray)
    found.arena = name
    return found


def _dynamic(cx: Context, name: str, type_: Arithmetic, bytes_: int, key: Key) -> SharedArray:
    total = cx.launch.shared_bytes
    if total is not None:
        count = max(total // bytes_, 1)
        if key in cx.decisions.scratch:
            return _in_memory(cx, name, type_, count, key)
        padded = 1 << (count - 1).bit_length()
        return _tensor(cx, name, type_, count, padded, text=str(padded), key=key)
    text = cx.names.reserve(f"{name.upper()}_SIZE", ("constexpr", name, type_))
    cx.parameters.append(LoweredParameter(text, ParameterKind.SHARED, type_.dtype, name, bytes_))
    if key in cx.decisions.scratch:
        return _in_memory(cx, name, type_, text, key)
    return _tensor(cx, name, type_, None, None, text=text, key=key)
