"""Lifts calls of operators that slide a window over axes: pools and convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine, Expression, Extent, Range, Reduce, Window
from porter.ir.tensor.quantities import Affine, Quantity
from porter.lift.exported.arrays import Array, Indices, plain_axes, refactored
from porter.lift.exported.calls import Call, Results
from porter.lift.exported.indices import Index, affine_of, coordinate, plus, scaled, whole
from porter.lift.exported.pointwise import apply, multiply, number
from porter.lift.exported.reductions import precision
from porter.lift.nodes import NotLiftedError


def _each(values: Sequence[int], axes: int, default: int) -> list[int]:
    """Returns a number for each axis of a window."""
    if not values:
        return [default] * axes
    return list(values) * axes if len(values) == 1 else list(values)


class _Sliding:
    """Windows along the last axes of an array."""

    def __init__(
        self, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
    ) -> None:
        self.kernel = kernel
        self.stride = stride
        self.padding = padding
        self.dilation = dilation

    def extents(self, call: Call, array: Array, indices: Indices) -> tuple[list[Extent], list[tuple[Index, ...]]]:
        """Returns the windows at the indices of a result, and the indices of the element of `array` in each."""
        first = len(array.axes) - len(self.kernel)
        windows: list[Extent] = []
        places: list[tuple[Index, ...]] = []
        for place, index in enumerate(indices[-len(self.kernel) :]):
            start = scaled(index[0] if index else whole(0), self.stride[place], -self.padding[place])
            length = array.shape[first + place]
            window, at = self._window(call, place, start, length)
            windows += window
            want = array.axes[first + place]
            places.append(refactored((at,), (length,), want, call.coordinates) if want else ())
        return windows, places

    def _window(self, call: Call, place: int, start: Affine, length: int) -> tuple[list[Extent], Affine]:
        """Returns a window and the place in it: a plain range where the whole window lies inside at each start."""
        kernel, step = self.kernel[place], self.dilation[place]
        low, high = call.coordinates.bounds(start)
        name = call.coordinates.fresh(kernel)
        if low >= 0 and high + step * (kernel - 1) < length:
            return [Range(name, whole(0), whole(kernel))], plus(start, coordinate(name), step)
        del call.coordinates.extents[name]
        window = Window(name, start, Quantity.of(step), Quantity.of(kernel), Quantity.of(length))
        return [window], coordinate(name)


def _pooling(call: Call, *, has_dilation: bool) -> _Sliding:
    kernel = call.integers(1, "kernel_size")
    axes = int(call.word.removesuffix("_with_indices")[-2])
    kernel = tuple(_each(kernel, axes, 1))
    stride = _each(call.integers(2, "stride") or kernel, axes, 1)
    padding = _each(call.integers(3, "padding"), axes, 0)
    dilation = _each(call.integers(4, "dilation"), axes, 1) if has_dilation else [1] * axes
    if call.flag(5 if has_dilation else 4, "ceil_mode"):
        raise NotLiftedError("its last window may reach beyond the end (ceil_mode)")
    return _Sliding(kernel, stride, padding, dilation)


def _pooled(call: Call, sliding: _Sliding, combine: Combine) -> Array:
    array, dtype = call.array(0), call.dtype()
    axes = (*array.axes[: -len(sliding.kernel)], *plain_axes(call.result().shape[-len(sliding.kernel) :]))

    def element(indices: Indices) -> Expression:
        windows, places = sliding.extents(call, array, indices)
        value = array.at((*indices[: -len(sliding.kernel)], *places))
        return Reduce(combine, tuple(windows), value, precision(dtype))

    return Array(axes, dtype, element)


def average_pool(call: Call) -> Results:
    """Computes `avg_pool1d` to `avg_pool3d`, which may count the padding."""
    sliding = _pooling(call, has_dilation=False)
    if any(sliding.padding) and call.given(5, "count_include_pad", default=True) is False:
        raise NotLiftedError("its windows have less elements at the borders (count_include_pad)")
    divisor = call.given(6, "divisor_override")
    count = divisor if isinstance(divisor, int) else prod(sliding.kernel)
    total = _pooled(call, sliding, Combine.SUM)
    return (Array(total.axes, total.dtype, lambda at: multiply(number(Fraction(1, count)), total.at(at))),)


def largest_pool(call: Call) -> Results:
    """Computes `max_pool2d_with_indices` and the like; the indices are not lifted."""
    values = _pooled(call, _pooling(call, has_dilation=True), Combine.MAXIMUM)
    return values, Array(values.axes, DType.INT64, _no_indices)


def _no_indices(_: Indices) -> Expression:
    raise NotLiftedError("the places of the largest elements of windows are needed")


def convolved(call: Call) -> Results:
    """Computes `convolution`, not transposed and not dilated: sums of products over channels and a window."""
    array, weight = call.array(0), call.array(1)
    if call.flag(6, "transposed"):
        raise NotLiftedError("it is a transposed convolution")
    axes = len(weight.axes) - 2
    dilation = _each(call.integers(5, "dilation"), axes, 1)
    if any(step != 1 for step in dilation):
        raise NotLiftedError("its window has gaps (dilation)")
    stride, padding = _each(call.integers(3, "stride"), axes, 1), _each(call.integers(4, "padding"), axes, 0)
    sliding = _Sliding(weight.shape[2:], stride, padding, dilation)
    sums = _Convolution(call, array, weight, sliding)
    result = Array(plain_axes(call.result().shape), call.dtype(), sums.element)
    if call.given(2, "bias") is None:
        return (result,)
    bias = call.array(2)

    def with_bias(indices: Indices) -> Expression:
        return apply("add", result.at(indices), bias.at((indices[1],)))

    return (Array(result.axes, result.dtype, with_bias),)


class _Convolution:
    """The sum for an element of a convolution's result."""

    def __init__(self, call: Call, array: Array, weight: Array, sliding: _Sliding) -> None:
        self._call = call
        self._array = array
        self._weight = weight
        self._sliding = sliding
        self._groups = call.integer(8, "groups", 1)

    def element(self, indices: Indices) -> Expression:
        """Returns it."""
        call, array, weight = self._call, self._array, self._weight
        windows, places = self._sliding.extents(call, array, indices)
        channels = weight.shape[1]
        names = [call.coordinates.fresh(channels)] if channels > 1 else []
        own = coordinate(names[0]) if names else whole(0)
        group, _ = self._group(indices)
        channel = plus(own, group, channels)
        read = array.at((indices[0], *self._refactored(channel, array, 1), *places))
        steps = tuple(self._step(window, place) for place, window in enumerate(windows))
        factor = weight.at((indices[1], *self._refactored(own, weight, 1), *steps))
        ranges = (*(Range(name, whole(0), whole(channels)) for name in names), *windows)
        return Reduce(Combine.SUM, ranges, apply("multiply", read, factor), precision(call.dtype()))

    def _group(self, indices: Indices) -> tuple[Affine, Affine]:
        channel = affine_of(indices[1][0]) if indices[1] else whole(0)
        return self._call.coordinates.divided(channel, self._weight.shape[0] // self._groups)

    def _refactored(self, place: Affine, array: Array, axis: int) -> tuple[tuple[Index, ...]]:
        want, extent = array.axes[axis], array.shape[axis]
        return (refactored((place,), (extent,), want, self._call.coordinates) if want else (),)

    def _step(self, window: Extent, place: int) -> tuple[Index, ...]:
        """Returns which element of the kernel a place of a window meets."""
        if self._weight.shape[2 + place] == 1:
            return ()
        if isinstance(window, Range):
            return (coordinate(window.name),)
        return (plus(coordinate(window.name), window.start, -1),)
