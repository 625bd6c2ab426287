"""C's operators and conversions, on numbers and pointers."""

from __future__ import annotations

from porter.ir.simt.builder.c_types import INT, LONG, CType, PointerTo, element_of, size_of
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Number
from porter.ir.simt.ops import Value
from porter.ir.simt.types import Array, Pointer, Scalar, Space

_FLOATS = (Scalar.F16, Scalar.BF16, Scalar.F32, Scalar.F64)
_KINDS = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem", "&": "and", "|": "or", "^": "xor",
          "<<": "shl", ">>": "shr"}  # fmt: skip
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_OF_WHOLE = frozenset(["%", "&", "|", "^", "<<", ">>"])


def promoted(type_: Scalar) -> Scalar:
    """Returns the type of a number in arithmetic: an `int` if that holds it."""
    return INT if not type_.is_float and type_.bits < 32 else type_


def common(one: Scalar, other: Scalar) -> Scalar:
    """The type that both operands of an operator are converted to."""
    if one.is_float or other.is_float:
        if one.is_float and other.is_float:
            narrow = {one, other} == {Scalar.F16, Scalar.BF16}
            return Scalar.F32 if narrow else max(one, other, key=_FLOATS.index)
        return one if one.is_float else other
    one, other = promoted(one), promoted(other)
    if one.bits != other.bits:
        return one if one.bits > other.bits else other
    return one if not one.is_signed else other


def convert(b: Builder, number: Number, type_: CType, name: str = "") -> Number:
    """Converts a number as an assignment does. Raises `NotExpressibleError` for what is none."""
    if isinstance(type_, PointerTo):
        return _pointer(b, number, type_)
    if not isinstance(type_, Scalar):
        raise b.problem("a number where a struct is needed")
    if isinstance(number.type, PointerTo):
        if type_ is Scalar.BOOL:
            return truth(b, number)
        if type_.bits == 32 and as_pointer(b, number.value).type == Pointer(Scalar.U8, Space.SHARED):
            return number  # what inline PTX takes for an address stays one
        if type_.bits != 64:
            raise b.problem("an address as a number")
        return Number(b.emitter.emit("bitcast", (number.value,), type_), type_)
    if number.type is type_:
        return number
    return Number(b.emitter.emit("cast", (number.value,), type_, name), type_)


def _pointer(b: Builder, number: Number, type_: PointerTo) -> Number:
    """A pointer, or the null of a literal, as a pointer to something else."""
    wanted = element_of(type_.element)
    if isinstance(number.type, PointerTo):
        held = as_pointer(b, number.value)
        assert isinstance(held.type, Pointer)
        if held.type.element == wanted:
            return Number(held, type_)
        return Number(b.emitter.emit("bitcast", (held,), Pointer(wanted, held.type.space)), type_)
    if b.emitter.known(number.value) == 0:
        return Number(b.emitter.constant(0, Pointer(wanted, Space.GLOBAL)), type_)
    if number.type.bits == 64:
        return Number(b.emitter.emit("bitcast", (number.value,), Pointer(wanted, Space.GLOBAL)), type_)
    raise b.problem("a number as an address")


def as_pointer(b: Builder, value: Value) -> Value:
    """Returns the address of an array's begin; a pointer as it is."""
    if not isinstance(value.type, Array):
        return value
    return b.emitter.emit("offset", (value, b.zero()), Pointer(value.type.element, value.type.space), value.name)


def truth(b: Builder, number: Number) -> Number:
    """Returns whether a number is not 0."""
    if number.type is Scalar.BOOL:
        return number
    zero = b.emitter.constant(0, number.value.type)
    return Number(b.emitter.emit("ne", (number.value, zero), Scalar.BOOL), Scalar.BOOL)


def negated(b: Builder, number: Number) -> Number:
    """`!x`."""
    return Number(b.emitter.emit("not", (truth(b, number).value,), Scalar.BOOL), Scalar.BOOL)


def unary(b: Builder, operator: str, number: Number) -> Number:
    """`-x`, `+x`, `~x`, `!x`."""
    if operator == "!":
        return negated(b, number)
    if isinstance(number.type, PointerTo):
        raise b.problem(f"'{operator}' of a pointer")
    held = convert(b, number, promoted(number.type))
    if operator == "+":
        return held
    kind = "neg" if operator == "-" else "not"
    if kind == "not" and number.type.is_float:
        raise b.problem("'~' of a float")
    return Number(b.emitter.emit(kind, (held.value,), held.value.type), held.type)


def binary(b: Builder, operator: str, left: Number, right: Number) -> Number:
    """An operator of two numbers or pointers, but for `&&`, `||` and the comma."""
    if isinstance(left.type, PointerTo) or isinstance(right.type, PointerTo):
        return _of_pointers(b, operator, left, right)
    if operator in ("<<", ">>"):
        type_ = promoted(left.type)
        given = convert(b, left, type_), convert(b, right, type_)
    else:
        type_ = common(left.type, right.type)
        given = convert(b, left, type_), convert(b, right, type_)
    values = tuple(number.value for number in given)
    if operator in _COMPARISONS:
        return Number(b.emitter.emit(_COMPARISONS[operator], values, Scalar.BOOL), Scalar.BOOL)
    if operator not in _KINDS or (type_.is_float and operator in _OF_WHOLE):
        raise b.problem(f"'{operator}' of {type_}")
    return Number(b.emitter.emit(_KINDS[operator], values, type_), type_)


def _of_pointers(b: Builder, operator: str, left: Number, right: Number) -> Number:
    if isinstance(left.type, PointerTo) and isinstance(right.type, PointerTo):
        if operator in _COMPARISONS:
            addresses = as_pointer(b, left.value), as_pointer(b, convert(b, right, left.type).value)
            if addresses[0].type != addresses[1].type:
                raise b.problem("pointers into different memory are compared")
            return Number(b.emitter.emit(_COMPARISONS[operator], addresses, Scalar.BOOL), Scalar.BOOL)
        if operator == "-" and left.type == right.type and size_of(left.type.element) == _bytes(b, left):
            return Number(b.emitter.emit("distance", (left.value, right.value), LONG), LONG)
    if operator in _COMPARISONS:
        pointer, other = (left, right) if isinstance(left.type, PointerTo) else (right, left)
        return _of_pointers(b, operator, pointer, convert(b, other, pointer.type))
    if operator == "+" and isinstance(right.type, PointerTo):
        left, right = right, left
    if operator in ("+", "-") and isinstance(left.type, PointerTo) and isinstance(right.type, Scalar):
        index = right if operator == "+" else unary(b, "-", convert(b, right, LONG))
        return moved(b, left, index)
    raise b.problem(f"'{operator}' of a pointer")


def _bytes(b: Builder, pointer: Number) -> int:
    held = as_pointer(b, pointer.value).type
    assert isinstance(held, Pointer)
    return held.element.bytes


def moved(b: Builder, pointer: Number, index: Number) -> Number:
    """The pointer `index` elements of what it points to further on."""
    assert isinstance(pointer.type, PointerTo)
    base = as_pointer(b, pointer.value)
    if b.emitter.known(index.value) == 0:
        return Number(base, pointer.type)
    place = scaled(b, index, size_of(pointer.type.element) // element_of(pointer.type.element).bytes)
    return Number(b.emitter.emit("offset", (base, place), base.type), pointer.type)


def scaled(b: Builder, index: Number, units: int) -> Value:
    """Returns an index in elements of memory of which each step has several."""
    if index.type is Scalar.BOOL:
        index = convert(b, index, INT)
    if units == 1:
        return index.value
    wide = convert(b, index, LONG)
    return b.emitter.emit("mul", (wide.value, b.emitter.constant(units, LONG)), LONG)


def plus(b: Builder, index: Value, further: int) -> Value:
    """Returns an index so many elements further on."""
    if not further:
        return index
    wide = index if index.type is LONG else b.emitter.emit("cast", (index,), LONG)
    return b.emitter.emit("add", (wide, b.emitter.constant(further, LONG)), LONG)
