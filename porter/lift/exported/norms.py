"""Lifts the call of a group norm, which PyTorch would take apart with views that only its own strides explain."""

from __future__ import annotations

from fractions import Fraction
from math import prod

from porter.ir.tensor.expressions import Combine, Expression
from porter.lift.exported.arrays import Array, Indices, viewed
from porter.lift.exported.calls import Call, Results
from porter.lift.exported.elementwise import elementwise
from porter.lift.exported.pointwise import add, apply, multiply, number, power
from porter.lift.exported.reductions import reduced


def group_norm(call: Call) -> Results:
    """Computes `native_group_norm`: groups of channels minus their mean, over their deviation, with weight and bias."""
    array, dtype = call.array(0), call.dtype()
    images, channels, rest, groups = (call.integer(place) for place in (3, 4, 5, 6))
    epsilon = call.given(7, "eps")
    assert isinstance(epsilon, int | float)
    split = viewed(array, (images, groups, channels // groups, rest), call.coordinates)
    share = Fraction(1, prod(split.shape[2:]))
    mean = reduced(call, split, (2, 3), Combine.SUM, lambda value, _: value, keeps=True, dtype=dtype)
    mean = _times(mean, share)

    def squared(value: Expression, indices: Indices) -> Expression:
        return power(apply("subtract", value, mean.at(indices)), number(2))

    variance = _times(reduced(call, split, (2, 3), Combine.SUM, squared, keeps=True, dtype=dtype), share)

    def normalised(value: Expression, centre: Expression, spread: Expression) -> Expression:
        inverse = apply("rsqrt", add(spread, number(float(epsilon))))
        return multiply(apply("subtract", value, centre), inverse)

    result = elementwise(normalised, [split, mean, variance], dtype, call.coordinates)
    result = viewed(result, array.shape, call.coordinates)
    for place, function in ((1, multiply), (2, add)):
        if call.given(place) is not None:
            shape = (channels, *(1 for _ in array.shape[2:]))
            result = elementwise(
                function, [result, viewed(call.array(place), shape, call.coordinates)], dtype, call.coordinates
            )
    return (result,)


def _times(array: Array, factor: Fraction) -> Array:
    return Array(array.axes, array.dtype, lambda indices: multiply(number(factor), array.at(indices)))
