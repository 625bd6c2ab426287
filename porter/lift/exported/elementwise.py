"""Lifts calls of operators that compute each element by itself: brings operands to one shape and one kind of value."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression
from porter.lift.exported.arrays import Array, Indices, broadcast, broadcast_at
from porter.lift.exported.calls import Call, Results
from porter.lift.exported.indices import Coordinates
from porter.lift.exported.pointwise import (
    BITWISE,
    OF_TRUTH,
    POINTWISE,
    WEIGHTED,
    Function,
    apply,
    as_number,
    constant,
    is_not_zero,
    number,
)
from porter.lift.nodes import NotLiftedError


def elementwise(function: Function, operands: Sequence[Array], dtype: DType, coordinates: Coordinates) -> Array:
    """Returns `function` of the elements of `operands`, which are broadcast."""
    axes = broadcast(operands)

    def element(indices: Indices) -> Expression:
        return function(*(broadcast_at(operand, axes, indices, coordinates) for operand in operands))

    return Array(axes, dtype, element)


def converted(array: Array, dtype: DType) -> Array:
    """Returns the same elements in another type; a rounding between types of floats is left out."""
    have = array.dtype
    if dtype is have or (dtype is not DType.BOOL and have is not DType.BOOL and (dtype.is_float or not have.is_float)):
        return array if dtype is have else Array(array.axes, dtype, array.at)
    if dtype is DType.BOOL:
        return Array(array.axes, dtype, lambda indices: is_not_zero(array.at(indices)))
    if have is DType.BOOL:
        return Array(array.axes, dtype, lambda indices: as_number(array.at(indices)))
    return Array(array.axes, dtype, lambda indices: apply("truncate", array.at(indices)))


def as_numbers(array: Array) -> Array:
    """Returns the elements as numbers, truth values as 0 and 1."""
    return converted(array, DType.INT32) if array.dtype is DType.BOOL else array


def pointwise(call: Call) -> Results:
    """Computes an operator of `POINTWISE`; `where` selects by a truth value."""
    word = _logical(call)
    operands = [call.arrays_of(argument)[0] for argument in call.node.arguments]
    if word in OF_TRUTH:
        operands = [converted(operand, DType.BOOL) for operand in operands]
    elif word == "where":
        operands = [converted(operands[0], DType.BOOL), *map(as_numbers, operands[1:])]
    else:
        operands = list(map(as_numbers, operands))
    made = elementwise(POINTWISE[word], operands, call.dtype(), call.coordinates)
    if word == "where" and call.dtype() is DType.BOOL:
        return (Array(made.axes, DType.BOOL, lambda indices: is_not_zero(made.at(indices))),)
    return (made,)


def _logical(call: Call) -> str:
    """Returns the operator's word; the bitwise operators are only known for truth values."""
    word = call.word
    if word not in BITWISE:
        return word
    if call.dtype() is not DType.BOOL:
        raise NotLiftedError("it works on the bits of numbers")
    return BITWISE[word]


def weighted(call: Call) -> Results:
    """Computes a sum or a difference; the second operand may have a weight."""
    operands = [as_numbers(call.array(0)), as_numbers(call.array(1))]
    weight = call.given(2, "alpha", 1)
    if not isinstance(weight, int | float):
        raise NotLiftedError("its weight is not a number")
    function = WEIGHTED[call.word]
    made = elementwise(
        lambda left, right: function(left, right, number(float(weight))), operands, call.dtype(), call.coordinates
    )
    return (made,)


def reversed_subtract(call: Call) -> Results:
    """Computes `rsub`: the second operand minus the first."""
    operands = [as_numbers(call.array(1)), as_numbers(call.array(0))]
    return (elementwise(lambda *both: apply("subtract", *both), operands, call.dtype(), call.coordinates),)


def divide(call: Call) -> Results:
    """Computes a quotient, which may be rounded."""
    operands = [as_numbers(call.array(0)), as_numbers(call.array(1))]
    rounding = "floor" if call.word == "floor_divide" else call.given(2, "rounding_mode")
    is_whole = not any(operand.dtype.is_float for operand in operands)
    if rounding and is_whole:
        if rounding == "floor" and not _is_positive(operands[1]):
            raise NotLiftedError("whole numbers are divided and rounded down")
        return (elementwise(_rounded_quotient(str(rounding)), operands, call.dtype(), call.coordinates),)
    made = elementwise(lambda *both: apply("divide", *both), operands, call.dtype(), call.coordinates)
    if not rounding:
        return (made,)
    return (Array(made.axes, made.dtype, lambda indices: _rounded(str(rounding), made.at(indices))),)


def _is_positive(array: Array) -> bool:
    value = constant(array.at(())) if not array.axes else None
    return value is not None and value > 0


def _rounded_quotient(rounding: str) -> Function:
    if rounding == "trunc":
        return lambda left, right: apply("quotient", left, right)
    return lambda left, right: apply("truncate", apply("floor", apply("divide", left, right)))


def _rounded(rounding: str, value: Expression) -> Expression:
    return apply("floor", value) if rounding == "floor" else _towards_zero(value)


def _towards_zero(value: Expression) -> Expression:
    is_negative = apply("less", value, number(0))
    return apply("select", is_negative, apply("ceil", value), apply("floor", value))


def truncated(call: Call) -> Results:
    """Computes `trunc`: the whole number towards zero, which stays a float."""
    array = call.array(0)
    return (Array(array.axes, array.dtype, lambda indices: _towards_zero(array.at(indices))),)


def clamped(call: Call) -> Results:
    """Limits elements to a least and a largest one, either of which may be missing."""
    word = call.word
    array = as_numbers(call.array(0))
    names = {"clamp": ("min", "max"), "clamp_min": ("min", ""), "clamp_max": ("", "max")}[word]
    bounds = {"min": "maximum", "max": "minimum"}
    for name in filter(None, names):
        place = 2 if word == "clamp" and name == "max" else 1
        if call.given(place, name) is not None:
            op, bound = bounds[name], call.array(place, name)
            array = elementwise(_bound(op), [array, bound], call.dtype(), call.coordinates)
    return (array,)


def _bound(op: str) -> Function:
    return lambda value, bound: apply(op, value, bound)


def copied(call: Call) -> Results:
    """Returns the same elements, in the type of the result."""
    return (converted(call.array(0), call.dtype()),)
