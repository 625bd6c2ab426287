"""Lifts calls of operators that move elements and compute nothing: views, slices, concatenations, indexing."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression, Gathered, Position
from porter.lift.exported.arrays import Array, Axis, Indices, broadcast_at, plain_axes, refactored, viewed
from porter.lift.exported.calls import Call, Results, constant_array
from porter.lift.exported.graph import Items
from porter.lift.exported.indices import Index, affine_of, flat, plus, scaled, shifted, whole
from porter.lift.exported.pointwise import add, apply, number
from porter.lift.nodes import NotLiftedError


def view(call: Call) -> Results:
    """Returns the same elements, row by row, along the axes of the result."""
    return (viewed(call.array(0), call.result().shape, call.coordinates),)


def squeezed(call: Call) -> Results:
    """Adds or removes axes of one element; no other axis changes."""
    array, rank = call.array(0), len(call.result().shape)
    axes = _placed_ones(array, call, rank)
    places = [place for place, axis in enumerate(axes) if axis is not None]
    left = [place for place in range(len(array.axes)) if len(places) == len(array.axes) or array.axes[place]]
    if len(left) != len(places):
        return view(call)

    def element(indices: Indices) -> Expression:
        own = dict(zip(left, (indices[place] for place in places), strict=True))
        return array.at(tuple(own.get(place, ()) for place in range(len(array.axes))))

    return (Array(tuple(axis or () for axis in axes), array.dtype, element),)


def _placed_ones(array: Array, call: Call, rank: int) -> list[Axis | None]:
    """Returns the axes of the result, None for those of one element that the array has not."""
    if call.word == "unsqueeze":
        at = call.integer(1, "dim") % rank
        return [*array.axes[:at], None, *array.axes[at:]]
    axes: list[Axis | None] = [axis for axis in array.axes if axis]
    ones = rank - len(axes)
    if ones:
        kept = list(call.result().shape)
        full = iter(axes)
        return [None if extent == 1 else next(full) for extent in kept]
    return axes


def permuted(call: Call) -> Results:
    """Returns the axes in another order."""
    array, rank = call.array(0), len(call.array(0).axes)
    order = _order(call, rank)

    def element(indices: Indices) -> Expression:
        own: list[tuple[Index, ...]] = [()] * rank
        for place, axis in enumerate(order):
            own[axis] = indices[place]
        return array.at(tuple(own))

    return (Array(tuple(array.axes[axis] for axis in order), array.dtype, element),)


def _order(call: Call, rank: int) -> list[int]:
    if call.word == "permute":
        return [axis % rank for axis in call.integers(1, "dims")]
    order = list(range(rank))
    if call.word == "t":
        return order[::-1]
    first, second = call.integer(1, "dim0") % rank, call.integer(2, "dim1") % rank
    order[first], order[second] = order[second], order[first]
    return order


def expanded(call: Call) -> Results:
    """Repeats axes of one element, and adds axes in front."""
    array, shape = call.array(0), call.result().shape
    first = len(shape) - len(array.axes)
    own = [axis or plain_axes([extent])[0] for axis, extent in zip(array.axes, shape[first:], strict=True)]
    axes = (*plain_axes(shape[:first]), *own)
    coordinates = call.coordinates
    return (Array(axes, array.dtype, lambda indices: broadcast_at(array, axes, indices, coordinates)),)


def _along(array: Array, axis: int, extent: int, move: _Move, call: Call) -> Array:
    """Returns `array` with an axis of `extent` elements, of which `move` gives the place in its own."""
    axes = (*array.axes[:axis], *plain_axes([extent]), *array.axes[axis + 1 :])
    want, length = array.axes[axis], array.shape[axis]

    def element(indices: Indices) -> Expression:
        index = indices[axis][0] if indices[axis] else whole(0)
        have = (length,) if want else ()
        own = refactored((move(index),), have, want, call.coordinates)
        return array.at((*indices[:axis], own, *indices[axis + 1 :]))

    return Array(axes, array.dtype, element)


class _Move:
    """The place of an element that is moved, `offset + factor * index`."""

    def __init__(self, offset: int, factor: int = 1) -> None:
        self._offset = offset
        self._factor = factor

    def __call__(self, index: Index) -> Index:
        """Returns the place."""
        return shifted(index, self._offset) if self._factor == 1 else scaled(index, self._factor, self._offset)


def sliced(call: Call) -> Results:
    """Takes every nth element of an axis, from a first one on."""
    array = call.array(0)
    axis, step = call.integer(1, "dim") % len(array.axes), call.integer(4, "step", 1)
    start = call.integer(2, "start")
    length = array.shape[axis]
    start = min(max(start + length if start < 0 else start, 0), length)
    return (_along(array, axis, call.result().shape[axis], _Move(start, step), call),)


def selected(call: Call) -> Results:
    """Takes one element of an axis, which vanishes."""
    array = call.array(0)
    axis = call.integer(1, "dim") % len(array.axes)
    place = call.integer(2, "index") % array.shape[axis]
    return (_without(array, axis, place, call),)


def _without(array: Array, axis: int, place: int, call: Call) -> Array:
    one = _along(array, axis, 1, _Move(place), call)

    def element(indices: Indices) -> Expression:
        return one.at((*indices[:axis], (), *indices[axis:]))

    return Array((*one.axes[:axis], *one.axes[axis + 1 :]), array.dtype, element)


def unbound(call: Call) -> Results:
    """Takes each element of an axis by itself."""
    array = call.array(0)
    axis = call.integer(1, "dim") % len(array.axes)
    return tuple(_without(array, axis, place, call) for place in range(array.shape[axis]))


def split(call: Call) -> Results:
    """Cuts an axis into consecutive parts."""
    array = call.array(0)
    axis = call.integer(2, "dim") % len(array.axes)
    parts, start = [], 0
    for result in call.node.results:
        extent = result.shape[axis]
        parts.append(_along(array, axis, extent, _Move(start), call))
        start += extent
    return tuple(parts)


def flipped(call: Call) -> Results:
    """Reverses axes."""
    array = call.array(0)
    for axis in call.axes(len(array.axes), 1, "dims"):
        if array.shape[axis] > 1:
            array = _along(array, axis, array.shape[axis], _Move(array.shape[axis] - 1, -1), call)
    return (array,)


def repeated(call: Call) -> Results:
    """Repeats axes, one copy after the other; adds more of them in front."""
    array, shape = call.array(0), call.result().shape
    first = len(shape) - len(array.axes)
    axes = plain_axes(shape)

    def element(indices: Indices) -> Expression:
        own: list[tuple[Index, ...]] = []
        for index, extent, want in zip(indices[first:], array.shape, array.axes, strict=True):
            place = affine_of(index[0]) if index else whole(0)
            _, rest = call.coordinates.divided(place, extent)
            own.append(refactored((rest,), (extent,), want, call.coordinates) if want else ())
        return array.at(tuple(own))

    return (Array(axes, array.dtype, element),)


def concatenated(call: Call) -> Results:
    """Joins tensors one behind the other along an axis."""
    given = call.given(0)
    assert isinstance(given, Items)
    arrays = [array for item in given.items if 0 not in (array := call.arrays_of(item)[0]).shape]
    shape = call.result().shape
    axis = call.integer(1, "dim") % len(shape)
    starts = [sum(array.shape[axis] for array in arrays[:place]) for place in range(len(arrays))]
    moved = [_along(array, axis, shape[axis], _Move(-start), call) for array, start in zip(arrays, starts, strict=True)]
    axes = (*arrays[0].axes[:axis], *plain_axes([shape[axis]]), *arrays[0].axes[axis + 1 :])

    def element(indices: Indices) -> Expression:
        values = [broadcast_at(array, axes, indices, call.coordinates) for array in moved]
        result, place = values[-1], position(indices[axis], axes[axis])
        for value, end in zip(values[-2::-1], starts[:0:-1], strict=True):
            result = apply("select", apply("less", place, number(end)), value, result)
        return result

    return (Array(axes, arrays[0].dtype, element),)


def position(index: Sequence[Index], axis: Axis) -> Expression:
    """Returns the place along an axis as a number."""
    if len(index) == 1 and isinstance(index[0], Gathered):
        return add(Position(index[0].affine), index[0].value)
    return Position(flat(map(affine_of, index), axis))


def padded(call: Call) -> Results:
    """Puts a number around the elements; the last axis is named first."""
    array, shape = call.array(0), call.result().shape
    amounts = call.integers(1, "pad")
    filling = call.given(2, "value", 0)
    if not isinstance(filling, int | float):
        raise NotLiftedError("it is not filled with a number")
    rank, around = len(shape), number(float(filling))
    before = {rank - 1 - place // 2: amounts[place] for place in range(0, len(amounts), 2)}
    moved = array
    for axis, amount in before.items():
        moved = _along(moved, axis, shape[axis], _Move(-amount), call)
    lengths = {axis: (amount, array.shape[axis]) for axis, amount in before.items() if array.shape[axis] != shape[axis]}

    def element(indices: Indices) -> Expression:
        value = moved.at(indices)
        for axis, (amount, length) in lengths.items():
            place = position(indices[axis], moved.axes[axis])
            if amount > 0:
                value = apply("select", apply("less", place, number(amount)), around, value)
            if amount + length < shape[axis]:
                value = apply("select", apply("less", place, number(amount + length)), value, around)
        return value

    return (Array(moved.axes, array.dtype, element),)


def counted(call: Call) -> Results:
    """Computes `arange` and `iota`: numbers at equal distances."""
    if call.word == "iota":
        start, step = call.integer(1, "start"), call.integer(2, "step", 1)
    else:
        first, second = call.given(0, "start", 0), call.given(2, "step", 1)
        if not isinstance(first, int) or not isinstance(second, int):
            raise NotLiftedError("it counts in fractions")
        start, step = first, second
    (axis,) = plain_axes(call.result().shape)
    dtype = call.dtype()

    def element(indices: Indices) -> Expression:
        place = flat(map(affine_of, indices[0]), axis) if indices[0] else whole(0)
        return Position(plus(whole(start), place, step))

    return (Array((axis,), dtype, element),)


def filled(call: Call) -> Results:
    """Fills all elements with one number."""
    words = {"zeros": 0, "zeros_like": 0, "ones": 1, "ones_like": 1, "empty": 0, "empty_permuted": 0, "empty_like": 0}
    if call.word in words:
        value: object = words[call.word]
    else:
        value = call.given(0 if call.word == "scalar_tensor" else 1, "fill_value")
    if not isinstance(value, bool | int | float):
        raise NotLiftedError("it is not filled with a number")
    dtype, told = call.dtype(), number(float(value))
    made = apply("equal", number(1), told) if dtype is DType.BOOL else told
    constant = constant_array(made, dtype)
    axes = plain_axes(call.result().shape)
    return (Array(axes, dtype, lambda _: constant.at(())),)


def asserted(_: Call) -> Results:
    """Skips an assertion, which holds at the sizes and types of the export: nothing is computed."""
    return ()


def gathered(call: Call) -> Results:
    """Computes `gather`: takes, along one axis, the element that an index says."""
    array, index = call.array(0), call.array(2)
    axis = call.integer(1, "dim") % len(array.axes)
    _require_plain(array, axis)

    def element(indices: Indices) -> Expression:
        pick: tuple[Index, ...] = (Gathered(whole(0), index.at(indices)),) if array.axes[axis] else ()
        own = [
            pick if place == axis else refactored(given, index.axes[place], want, call.coordinates)
            for place, (given, want) in enumerate(zip(indices, array.axes, strict=True))
        ]
        return array.at(tuple(own))

    return (Array(index.axes, array.dtype, element),)


def indexed(call: Call) -> Results:
    """Computes `index` and `index_select`: replaces an axis by those of a tensor of indices."""
    array = call.array(0)
    axis, index = _index_of(call, array)
    _require_plain(array, axis)
    width = len(index.axes)
    axes = (*array.axes[:axis], *index.axes, *array.axes[axis + 1 :])

    def element(indices: Indices) -> Expression:
        value = index.at(indices[axis : axis + width])
        pick: tuple[Index, ...] = (Gathered(whole(0), value),) if array.axes[axis] else ()
        return array.at((*indices[:axis], pick, *indices[axis + width :]))

    return (Array(axes, array.dtype, element),)


def _index_of(call: Call, array: Array) -> tuple[int, Array]:
    if call.word == "index_select":
        return call.integer(1, "dim") % len(array.axes), call.array(2)
    given = call.given(1, "indices")
    items = given.items if isinstance(given, Items) else ()
    found = [(place, item) for place, item in enumerate(items) if item is not None]
    if len(found) != 1:
        raise NotLiftedError("several axes are indexed at once")
    ((place, item),) = found
    (index,) = call.arrays_of(item)
    if index.dtype is DType.BOOL:
        raise NotLiftedError("data decide how many elements there are")
    return place, index


def _require_plain(array: Array, axis: int) -> None:
    if len(array.axes[axis]) > 1:
        raise NotLiftedError("an axis that a view has joined is indexed by data")
