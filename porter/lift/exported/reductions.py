"""Lifts calls of operators that reduce axes, run along one, or multiply matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, prod

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import ArgReduce, Combine, Expression, Position, Range, Reduce
from porter.ir.tensor.quantities import Affine
from porter.lift.exported.arrays import Array, Axis, Indices, refactored
from porter.lift.exported.calls import Call, Results
from porter.lift.exported.elementwise import as_numbers, converted
from porter.lift.exported.indices import Coordinates, Index, affine_of, coordinate, flat, plus, whole
from porter.lift.exported.pointwise import apply, is_not_zero, multiply, number, power
from porter.lift.nodes import NotLiftedError

Body = Callable[[Expression, Indices], Expression]


def precision(dtype: DType) -> DType:
    """Returns the type in which elements are added up."""
    if not dtype.is_float:
        return DType.INT64
    return DType.FLOAT64 if dtype is DType.FLOAT64 else DType.FLOAT32


def reduced(
    call: Call, array: Array, axes: Sequence[int], combine: Combine, body: Body, *, keeps: bool, dtype: DType
) -> Array:
    """Returns `combine` over `axes` of what `body` makes of an element and of the indices of the result."""
    kept = tuple(() if place in axes else axis for place, axis in enumerate(array.axes))
    own = kept if keeps else tuple(axis for place, axis in enumerate(kept) if place not in axes)

    def element(indices: Indices) -> Expression:
        outer = indices if keeps else _with_gaps(indices, axes, len(array.axes))
        ranges, inner = _ranges(call.coordinates, array, axes, outer)
        value = body(array.at(inner), indices)
        return Reduce(combine, ranges, value, precision(dtype)) if ranges else value

    return Array(own, dtype, element)


def _with_gaps(indices: Indices, axes: Sequence[int], rank: int) -> Indices:
    left = iter(indices)
    return tuple(() if place in axes else next(left) for place in range(rank))


def _ranges(
    coordinates: Coordinates, array: Array, axes: Sequence[int], outer: Indices
) -> tuple[tuple[Range, ...], Indices]:
    """Returns a range for each factor of the axes, and the indices of the element at its coordinates."""
    ranges: list[Range] = []
    inner: list[tuple[Index, ...]] = []
    for place, axis in enumerate(array.axes):
        if place not in axes:
            inner.append(outer[place])
            continue
        names = [coordinates.fresh(extent) for extent in axis]
        ranges += [Range(name, whole(0), whole(extent)) for name, extent in zip(names, axis, strict=True)]
        inner.append(tuple(map(coordinate, names)))
    return tuple(ranges), tuple(inner)


def _itself(value: Expression, _: Indices) -> Expression:
    return value


def _count(array: Array, axes: Sequence[int]) -> int:
    return prod(array.shape[axis] for axis in axes)


def _scaled(array: Array, factor: Fraction) -> Array:
    return Array(array.axes, array.dtype, lambda indices: multiply(number(factor), array.at(indices)))


def summed(call: Call) -> Results:
    """Computes `sum` and `mean`."""
    array = converted(as_numbers(call.array(0)), call.dtype())
    has_axes = call.node.operator.endswith(("dim_IntList", "mean.dim"))
    axes = call.axes(len(array.axes), 1) if has_axes else tuple(range(len(array.axes)))
    keeps = has_axes and call.flag(2, "keepdim")
    total = reduced(call, array, axes, Combine.SUM, _itself, keeps=keeps, dtype=call.dtype())
    return (_scaled(total, Fraction(1, _count(array, axes))) if call.word == "mean" else total,)


def multiplied(call: Call) -> Results:
    """Computes `prod`."""
    array = converted(as_numbers(call.array(0)), call.dtype())
    has_axis = "dim" in call.node.operator
    axes = (call.integer(1, "dim") % len(array.axes),) if has_axis else tuple(range(len(array.axes)))
    keeps = has_axis and call.flag(2, "keepdim")
    return (reduced(call, array, axes, Combine.PRODUCT, _itself, keeps=keeps, dtype=call.dtype()),)


def extreme(call: Call) -> Results:
    """Computes `amax`, `amin`, and `max` and `min` of all elements."""
    array = call.array(0)
    combine = Combine.MAXIMUM if call.word.endswith("max") else Combine.MINIMUM
    axes = call.axes(len(array.axes), 1) if call.word.startswith("a") else tuple(range(len(array.axes)))
    keeps = call.word.startswith("a") and call.flag(2, "keepdim")
    return (reduced(call, array, axes, combine, _itself, keeps=keeps, dtype=call.dtype()),)


def extreme_along(call: Call) -> Results:
    """Computes `max.dim` and `min.dim`: the extreme of an axis and its place; of all elements without an axis."""
    if not call.node.operator.endswith(".dim"):
        return extreme(call)
    array = call.array(0)
    combine = Combine.MAXIMUM if call.word == "max" else Combine.MINIMUM
    axes, keeps = (call.integer(1, "dim") % len(array.axes),), call.flag(2, "keepdim")
    values = reduced(call, array, axes, combine, _itself, keeps=keeps, dtype=call.dtype())
    return values, _place_of(call, array, axes, combine, keeps=keeps)


def place_of_extreme(call: Call) -> Results:
    """Computes `argmax` and `argmin`, of an axis or of all elements."""
    array = call.array(0)
    combine = Combine.MAXIMUM if call.word == "argmax" else Combine.MINIMUM
    has_axis = call.given(1, "dim") is not None
    axes = (call.integer(1, "dim") % len(array.axes),) if has_axis else tuple(range(len(array.axes)))
    return (_place_of(call, array, axes, combine, keeps=call.flag(2, "keepdim")),)


def _place_of(call: Call, array: Array, axes: Sequence[int], combine: Combine, *, keeps: bool) -> Array:
    kept = tuple(() if place in axes else axis for place, axis in enumerate(array.axes))
    own = kept if keeps else tuple(axis for place, axis in enumerate(kept) if place not in axes)

    def element(indices: Indices) -> Expression:
        outer = indices if keeps else _with_gaps(indices, axes, len(array.axes))
        ranges, inner = _ranges(call.coordinates, array, axes, outer)
        if not ranges:
            return number(0)
        extents = [extent for axis in axes for extent in array.axes[axis]]
        place = flat((affine_of(index) for axis in axes for index in inner[axis]), extents)
        return ArgReduce(combine, ranges, array.at(inner), Position(place))

    return Array(own, DType.INT64, element)


def deviation(call: Call) -> Results:
    """Computes `var` and `var_mean`: squared deviations from the mean."""
    array = call.array(0)
    axes, keeps = call.axes(len(array.axes), 1), call.flag(3, "keepdim")
    correction = call.given(2, "correction")
    correction = 1 if correction is None else correction
    if not isinstance(correction, int | float):
        raise NotLiftedError("its correction is not a number")
    count = _count(array, axes)
    dtype = call.dtype()
    mean = _scaled(reduced(call, array, axes, Combine.SUM, _itself, keeps=keeps, dtype=dtype), Fraction(1, count))

    def squared(value: Expression, indices: Indices) -> Expression:
        return power(apply("subtract", value, mean.at(indices)), number(2))

    squares = reduced(call, array, axes, Combine.SUM, squared, keeps=keeps, dtype=dtype)
    if count <= correction:
        raise NotLiftedError("a variance is taken of too few elements")
    variance = _scaled(squares, 1 / (count - Fraction(correction)))
    return (variance, mean) if call.word == "var_mean" else (variance,)


def log_sum_exp(call: Call) -> Results:
    """Computes `logsumexp`, minus the largest element so that no exponential overflows."""
    array = call.array(0)
    axes, keeps = call.axes(len(array.axes), 1), call.flag(2, "keepdim")
    dtype = call.dtype()
    largest = reduced(call, array, axes, Combine.MAXIMUM, _itself, keeps=keeps, dtype=dtype)

    def exponential(value: Expression, indices: Indices) -> Expression:
        return apply("exp", apply("subtract", value, largest.at(indices)))

    total = reduced(call, array, axes, Combine.SUM, exponential, keeps=keeps, dtype=dtype)

    def element(indices: Indices) -> Expression:
        return apply("add", largest.at(indices), apply("log", total.at(indices)))

    return (Array(total.axes, dtype, element),)


def vector_norm(call: Call) -> Results:
    """Computes `linalg_vector_norm`: a root of the sum of powers, or an extreme."""
    array = call.array(0)
    order = call.given(1, "ord", 2)
    if not isinstance(order, int | float):
        raise NotLiftedError("its order is not a number")
    axes, keeps, dtype = call.axes(len(array.axes), 2), call.flag(3, "keepdim"), call.dtype()
    if abs(order) == inf:
        combine = Combine.MAXIMUM if order > 0 else Combine.MINIMUM
        return (reduced(call, array, axes, combine, _magnitude, keeps=keeps, dtype=dtype),)
    exponent = number(float(order))

    def body(value: Expression, _: Indices) -> Expression:
        if order == 0:
            return apply("select", is_not_zero(value), number(1), number(0))
        return power(value if order % 2 == 0 else apply("absolute", value), exponent)

    total = reduced(call, array, axes, Combine.SUM, body, keeps=keeps, dtype=dtype)
    if order == 0:
        return (total,)
    root = number(1 / Fraction(order))
    return (Array(total.axes, dtype, lambda indices: power(total.at(indices), root)),)


def _magnitude(value: Expression, _: Indices) -> Expression:
    return apply("absolute", value)


def some_or_all(call: Call) -> Results:
    """Computes `any` and `all` of truth values."""
    array = as_numbers(converted(call.array(0), DType.BOOL))
    has_axes = "dim" in call.node.operator
    axes = call.axes(len(array.axes), 1) if has_axes else tuple(range(len(array.axes)))
    combine = Combine.MAXIMUM if call.word == "any" else Combine.MINIMUM
    keeps = has_axes and call.flag(2, "keepdim")
    found = reduced(call, array, axes, combine, _itself, keeps=keeps, dtype=DType.INT32)
    return (Array(found.axes, DType.BOOL, lambda indices: is_not_zero(found.at(indices))),)


def running(call: Call) -> Results:
    """Computes `cumsum`, `cumprod`, and the values of `cummax` and `cummin`."""
    words = {
        "cumsum": Combine.SUM,
        "cumprod": Combine.PRODUCT,
        "cummax": Combine.MAXIMUM,
        "cummin": Combine.MINIMUM,
    }
    array = as_numbers(call.array(0))
    if not array.axes:
        return (array,)
    axis = call.integer(1, "dim") % len(array.axes)
    values = _running(call, array, axis, words[call.word])
    if call.word in ("cumsum", "cumprod"):
        return (values,)
    return values, Array(values.axes, DType.INT64, _no_place)


def _no_place(_: Indices) -> Expression:
    raise NotLiftedError("the places of running extremes are needed")


def _running(call: Call, array: Array, axis: int, combine: Combine) -> Array:
    length, factors = array.shape[axis], array.axes[axis]
    plain: Axis = (length,) if length > 1 else ()
    axes = (*array.axes[:axis], plain, *array.axes[axis + 1 :])

    def element(indices: Indices) -> Expression:
        if not plain:
            return array.at(indices)
        name, place = call.coordinates.fresh(length), affine_of(indices[axis][0])
        is_backward = any(factor.factor < 0 for _, factor in place.terms)
        index = plus(whole(length - 1), coordinate(name), -1) if is_backward else coordinate(name)
        own = refactored((index,), plain, factors, call.coordinates)
        value = array.at((*indices[:axis], own, *indices[axis + 1 :]))
        return Reduce(combine, (_up_to(name, place, length, is_backward=is_backward),), value, precision(call.dtype()))

    return Array(axes, call.dtype(), element)


def _up_to(name: str, place: Affine, length: int, *, is_backward: bool) -> Range:
    """Returns the range of all elements up to `place`, counted from the end where it runs backwards."""
    if is_backward:
        return Range(name, plus(whole(length - 1), place, -1), whole(length))
    return Range(name, whole(0), plus(place, whole(1)))


def matrix_product(call: Call) -> Results:
    """Computes `mm`, `bmm`, `mv` and `dot`: sums of products over the last axis of the first operand."""
    left, right = call.array(0), call.array(1)
    batch = 1 if call.word == "bmm" else 0
    factors = max(left.axes[-1], right.axes[batch], key=len)
    axes = (*left.axes[:-1], *right.axes[batch + 1 :])
    coordinates = call.coordinates

    def element(indices: Indices) -> Expression:
        names = [coordinates.fresh(extent) for extent in factors]
        along = tuple(map(coordinate, names))
        first = refactored(along, factors, left.axes[-1], coordinates)
        second = refactored(along, factors, right.axes[batch], coordinates)
        rows, columns = indices[: len(left.axes) - 1], indices[len(left.axes) - 1 :]
        batches = tuple(
            refactored(index, have, want, coordinates)
            for index, have, want in zip(rows[:batch], left.axes, right.axes[:batch], strict=False)
        )
        value = apply("multiply", left.at((*rows, first)), right.at((*batches, second, *columns)))
        ranges = tuple(Range(name, whole(0), whole(extent)) for name, extent in zip(names, factors, strict=True))
        return Reduce(Combine.SUM, ranges, value, precision(call.dtype())) if ranges else value

    return (Array(axes, call.dtype(), element),)
