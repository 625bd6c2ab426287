"""PyTorch's tensor accessors: a pointer with sizes and strides, subscripted one axis after the other."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import TypeName
from porter_triton.lower import access, expressions, lvalues, memory, operators, resolve
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.places import Held, Place
from porter_triton.lower.types import INT, LONG, Arithmetic, Pointer, Record, Type
from porter_triton.lower.values import Fields, Scalar, Value, number
from porter_triton.refusal import Refusal

DATA, SIZE, STRIDE = "data_", "size_", "stride_"
_PACKED = ("PackedTensorAccessor", "PackedTensorAccessor32", "PackedTensorAccessor64", "GenericPackedTensorAccessor")
_PART = "TensorAccessor"
_SPACES = ("at", "torch", "c10")


def is_accessor(name: str) -> bool:
    """Returns whether a type of this name is an accessor that kernels are passed."""
    space, _, plain = name.rpartition("::")
    return plain in (*_PACKED, _PART) and space in ("", *_SPACES)


def record(cx: Context, name: TypeName, line: int) -> Record | None:
    """The accessor that `name` means; None for any other type."""
    if not is_accessor(name.name) or len(name.arguments) < 2 or not isinstance(name.arguments[0], TypeName):
        return None
    plain = unqualified(name.name)
    rank = expressions.constant(cx, name.arguments[1], line).constant
    if not isinstance(rank, int) or rank < 1:
        raise Refusal(line, "the number of an accessor's axes is not known")
    index: Type = INT if plain.endswith("32") else LONG
    if len(name.arguments) > 3 and isinstance(name.arguments[3], TypeName):
        index = resolve.type_of(cx, name.arguments[3], line)
    return _of(_PART if plain == _PART else _PACKED[0], resolve.type_of(cx, name.arguments[0], line), rank, index)


def _of(name: str, element: Type, rank: int, index: Type) -> Record:
    axes = [(f"{part}[{axis}]", index) for part in (SIZE, STRIDE) for axis in range(rank)]
    return Record(name, ((DATA, Pointer(element)), *axes), (("T", element), ("N", number(rank)), ("index_t", index)))


def held(type_: Type | None) -> bool:
    """Returns whether values of this type are accessors."""
    return isinstance(type_, Record) and type_.definition < 0 and type_.name in (_PART, _PACKED[0])


def element(cx: Context, owner: Place, index: Scalar, line: int) -> Place:
    """`accessor[index]`: an element, or the accessor of what is left of the axes."""
    whole = access.load(cx, owner, line)
    assert isinstance(whole, Fields)
    values = dict(whole.values)
    stride, pointer = access.scalar(values[f"{STRIDE}[0]"], line), access.scalar(values[DATA], line)
    assert isinstance(stride.type, Arithmetic)
    offset = operators.operate(cx, "*", stride, convert(index, stride.type, line), line)
    moved = memory.step(pointer, access.scalar(offset, line), "+", line)
    rank = (len(whole.values) - 1) // 2
    if rank == 1:
        return lvalues.pointee(moved, line)
    assert isinstance(pointer.type, Pointer)
    rest = _of(_PART, pointer.type.element, rank - 1, stride.type)
    axes = [(f"{part}[{axis}]", values[f"{part}[{axis + 1}]"]) for part in (SIZE, STRIDE) for axis in range(rank - 1)]
    return Held(Fields(rest, ((DATA, moved), *axes)))


def method(cx: Context, owner: Place, name: str, given: tuple[Place, ...], line: int) -> Value | None:
    """`size(axis)`, `stride(axis)` and `data()`; None for any other."""
    whole = access.load(cx, owner, line)
    assert isinstance(whole, Fields)
    if name == "data" and not given:
        return whole.field(DATA)
    part = {"size": SIZE, "stride": STRIDE}.get(name)
    if part is None or len(given) != 1:
        return None
    axis = access.scalar(access.load(cx, given[0], line), line).constant
    if f"{part}[{axis}]" not in dict(whole.values):
        raise Refusal(line, "an axis of an accessor is not known, or is none of its")
    return whole.field(f"{part}[{axis}]")
