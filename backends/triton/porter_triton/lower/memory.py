"""Global memory: loads and stores under the mask of the lanes that run."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower import absent, access, lanes, neighbours, views
from porter_triton.lower.arithmetic import advance
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.emit import Line, Store
from porter_triton.lower.launch import ParameterKind
from porter_triton.lower.places import Memory, Place
from porter_triton.lower.types import BOOL, Arithmetic, Array, Pointer, Record, Type, alignment, components, size
from porter_triton.lower.values import ATOM, Bits, Fields, Scalar, Value, number
from porter_triton.refusal import Refusal


def unit(pointer: Scalar, line: int) -> Arithmetic:
    """The type whose elements Triton's pointer counts."""
    type_ = pointer.carried
    parts = components(type_.element) if isinstance(type_, Pointer) else None
    if parts is None:
        raise Refusal(line, "a pointer to what is not an array of one scalar type")
    return parts[0]


def stride(pointer: Scalar, line: int) -> int:
    """Returns how many of the units one step of the C pointer is."""
    assert isinstance(pointer.type, Pointer)
    bytes_ = size(pointer.type.element)
    counted = unit(pointer, line).bits // 8
    if bytes_ is None or not counted or bytes_ % counted:
        raise Refusal(line, "a pointer to a type that is not a multiple of what the buffer holds")
    return bytes_ // counted


def step(pointer: Scalar, by: Scalar, operator: str, line: int) -> Scalar:
    """`pointer + by` or `pointer - by`."""
    return advance(pointer, by, stride(pointer, line), operator, line)


def view(pointer: Scalar, element: Type, line: int) -> Scalar:
    """`pointer` as a pointer to `element`: records keep counting what the buffer holds."""
    target = components(element)
    if target is None:
        raise Refusal(line, "a pointer is cast to a pointer to a type of mixed parts")
    held = unit(pointer, line)
    if target[0] == held or (isinstance(element, Record) and target[0].bits >= held.bits):
        return replace(pointer, type=Pointer(element), held=Pointer(held))
    text = f"{pointer.within(ATOM)}.to(tl.pointer_type({target[0].triton}), bitcast=True)"
    return replace(pointer, text=text, level=ATOM, type=Pointer(element), held=Pointer(target[0]))


def at_address(cx: Context, address: Scalar, type_: Pointer, line: int) -> Scalar:
    """A pointer made of a number, which may point into any buffer."""
    target = components(type_.element)
    if target is None:
        raise Refusal(line, "a number is cast to a pointer to a type of mixed parts")
    bases = frozenset(p.name for p in cx.parameters if p.kind is ParameterKind.POINTER)
    text = f"{address.within(ATOM)}.to(tl.pointer_type({target[0].triton}))"
    return Scalar(text, type_, address.varying, held=Pointer(target[0]), bases=bases)


def counting(pointer: Scalar, type_: Pointer, line: int) -> Scalar:
    """`pointer` as a variable of `type_` holds it: counting the parts of that type, whatever the buffer holds."""
    parts = components(type_.element)
    if parts is None or unit(pointer, line) == parts[0]:
        return pointer
    text = f"{pointer.within(ATOM)}.to(tl.pointer_type({parts[0].triton}), bitcast=True)"
    return replace(pointer, text=text, level=ATOM, held=None, type=type_)


def load(cx: Context, place: Memory, line: int) -> Value:
    """Returns what `place.pointer` points to; lanes that do not run load nothing, and their value is undefined."""
    if isinstance(place.type, Arithmetic):
        return load_one(cx, place.pointer)
    if isinstance(place.type, Pointer):
        raise Refusal(line, "a pointer is loaded from memory")
    if isinstance(place.type, Array) or components(place.type) is None:
        _units(place.pointer, place.type, line)
    held = unit(place.pointer, line)
    count = (size(place.type) or 0) // (held.bits // 8)
    parts = neighbours.load(cx, [part(place.pointer, held, k, line) for k in range(count)], alignment(place.type))
    return views.gathered(place.type, held, tuple(parts))


def _is_view(place: Memory, line: int) -> bool:
    found = components(place.type)
    return found is not None and found[0] != unit(place.pointer, line)


def part(pointer: Scalar, held: Arithmetic, index: int, line: int) -> Scalar:
    """A pointer to the unit `index` of what `pointer` points to."""
    return advance(replace(pointer, type=Pointer(held), held=None), number(index), 1, "+", line)


def field(place: Memory, name: str, line: int) -> Place:
    """A field of a struct in memory."""
    assert isinstance(place.type, Record)
    offset = 0
    for other, type_ in place.type.fields:
        if other == name:
            pointer = advance(place.pointer, number(offset), 1, "+", line)
            return Memory(replace(pointer, type=Pointer(type_)), type_)
        offset += _units(place.pointer, type_, line)
    raise Refusal(line, f"`{name}` is not a field of a `{place.type.name}`")


def _units(pointer: Scalar, type_: Type, line: int) -> int:
    parts = components(type_)
    if parts is None or parts[0] != unit(pointer, line):
        raise Refusal(line, f"memory of one type is read or written as {type_}")
    return parts[1]


def load_one(cx: Context, pointer: Scalar, width: int = 1) -> Scalar:
    """The number that `pointer` points to, one of `width` neighbours."""
    before_load(cx, pointer, width)
    known = cx.loaded(pointer.text)
    assert isinstance(pointer.type, Pointer)
    if known is not None and known.type == pointer.type.element:
        return known
    lanes.loaded(cx, pointer)
    target, mask = _aligned(cx, pointer)
    varying = pointer.varying or (mask is not None and mask.varying)
    text = f"tl.load({target}{_mask(mask)})"
    assert isinstance(pointer.type, Pointer)
    assert isinstance(pointer.type.element, Arithmetic)
    load = Scalar(text, pointer.type.element, varying)
    value = absent.loaded(cx, load, pointer.bases) or cx.temporary(load, pointer=pointer)
    cx.loads[pointer.text] = (value, mask.text if mask is not None else "")
    return value


def with_other(cx: Context, loaded: Scalar, other: Scalar, mask: Scalar) -> Scalar | None:
    """`loaded` with the number `other` in the lanes left out; None if it is not what was just loaded under `mask`."""
    if other.constant is None or loaded.type != other.type or not loaded.text.isidentifier():
        return None
    made = next((n for n in reversed(cx.suite.nodes) if isinstance(n, Line) and n.target == loaded.text), None)
    if made is None or not made.loads or not made.text.endswith(f", mask={mask.text})"):
        return None
    made.text = f"{made.text[:-1]}, other={other.text})"
    return loaded


def zero_outside(cx: Context, value: Scalar, mask: Scalar) -> bool:
    """Returns whether `value`, as it is or as a float, was loaded last and under `mask`: then it is 0 in the lanes
    left out.
    """
    last = cx.suite.nodes[-1] if cx.suite.nodes else None
    if not isinstance(last, Line) or not last.loads or not last.text.endswith(f", mask={mask.text})"):
        return False
    if value.text not in {last.target, f"{last.target}.to(tl.float32)"}:
        return False
    last.text = f"{last.text[:-1]}, other=0.0)"
    return True


def before_load(cx: Context, pointer: Scalar, width: int) -> None:
    """Note a load of `width` elements a lane, behind a barrier where it needs one."""
    if cx.pending.bars_load(pointer.bases):
        cx.wait()
    cx.pending = cx.pending.read(pointer.bases, width)
    cx.decisions.loaded |= pointer.bases


def before_store(cx: Context, pointer: Scalar, width: int) -> None:
    """Note a store of `width` elements a lane, behind a barrier where it needs one."""
    if cx.pending.bars_store(pointer.bases, width):
        cx.wait()
    cx.touch(pointer.bases, width)


def _aligned(cx: Context, pointer: Scalar) -> tuple[str, Scalar | None]:
    """The pointer's text, a tensor where the mask is one."""
    mask = cx.mask
    if mask is not None and mask.varying and not pointer.varying:
        return f"tl.broadcast_to({pointer.text}, [{cx.block}])", mask
    return pointer.text, mask


def _mask(mask: Scalar | None) -> str:
    return "" if mask is None else f", mask={mask.text}"


def store(cx: Context, place: Memory, value: Value, line: int) -> None:
    """Write `value` to memory in the lanes that run."""
    if isinstance(place.type, Arithmetic):
        store_one(cx, place.pointer, storable(access.scalar(value, line), place.type, line))
    elif isinstance(place.type, Record) and (isinstance(value, Bits) or _is_view(place, line)):
        held = unit(place.pointer, line)
        _store_parts(cx, place, held, views.as_units(value, held, place.type, line), line)
    elif isinstance(place.type, Record | Array) and isinstance(value, Fields):
        _units(place.pointer, place.type, line)
        _store_parts(cx, place, unit(place.pointer, line), views.leaf_values(value, line), line)
    else:
        raise Refusal(line, "what is stored to memory does not have its type")


def _store_parts(cx: Context, place: Memory, held: Arithmetic, parts: list[Scalar], line: int) -> None:
    pointers = [part(place.pointer, held, k, line) for k in range(len(parts))]
    neighbours.store(cx, pointers, held, [storable(value, held, line) for value in parts], alignment(place.type))


def store_one(cx: Context, pointer: Scalar, value: Scalar, width: int = 1) -> None:
    """Write one number, `storable` where the pointer points; one of `width` neighbours."""
    before_store(cx, pointer, 0 if _is_scalar(cx, pointer, value) else width)
    cx.emit(written(cx, pointer, value))


def _is_scalar(cx: Context, pointer: Scalar, value: Scalar) -> bool:
    """Returns whether one number is stored, for which Triton takes a thread of its own choice."""
    mask = cx.mask
    uniform = not pointer.varying and not value.varying
    return uniform and (mask is None or not mask.varying or cx.only_thread(mask) is not None)


def written(cx: Context, pointer: Scalar, value: Scalar) -> Line:
    """The store of `value` in the lanes that run now."""
    mask = cx.mask
    if _is_scalar(cx, pointer, value):
        mask, target = None if mask is None or mask.varying else mask, pointer.text
    elif not pointer.varying and (value.varying or (mask is not None and mask.varying)):
        target = f"tl.broadcast_to({pointer.text}, [{cx.block}])"
    else:
        target = pointer.text
    text = f"tl.store({target}, {value.text}{_mask(mask)})"
    return Line(text, effect=True, store=Store(pointer, value, mask))


def storable(value: Scalar, type_: Arithmetic, line: int) -> Scalar:
    """`value` as a store to memory of `type_` takes it, which converts by itself where that comes to the same."""
    coded = type_.is_coded or (isinstance(value.type, Arithmetic) and value.type.is_coded)
    if type_ is BOOL or coded or value.constant is not None or (value.carried != value.type and value.held is not None):
        value = convert(value, type_, line)
    if isinstance(value.type, Pointer):
        raise Refusal(line, "a pointer is stored to memory")
    if value.type.is_float and value.single is not None and type_.bits <= 32:
        value = value.single
    return value


def barrier(cx: Context) -> None:
    """`__syncthreads()`: registers need none; global memory that is both read and written does, once it is touched."""
    warp_barrier(cx)
    cx.pending = replace(cx.pending, stored=frozenset())


def warp_barrier(cx: Context) -> None:
    """`__syncwarp()`: what lanes have done so far to memory that is both read and written is done by now."""
    cx.loads.clear()
    if cx.pending.touched & cx.decisions.stored & cx.decisions.loaded:
        cx.wait()
