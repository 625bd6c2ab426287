"""A value of an exported graph: the expression of its element at any indices.

An axis is a list of factors, row by row: where axes were joined by a view their extents are kept, so that a view that
takes them apart again, or a reduction over all of them, needs no quotient. An axis of one element has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Expression
from porter.lift.exported.indices import Coordinates, Index, affine_of, flat
from porter.lift.nodes import NotLiftedError

Axis = tuple[int, ...]
Indices = tuple[tuple[Index, ...], ...]  # for each axis one for each of its factors


@dataclass(frozen=True, eq=False)
class Array:
    """`element` gives the expression at indices that are of its own factors."""

    axes: tuple[Axis, ...]
    dtype: DType
    element: Callable[[Indices], Expression]
    _known: dict[Indices, Expression] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Returns the extents."""
        return tuple(map(prod, self.axes))

    def at(self, indices: Indices) -> Expression:
        """Returns the element at indices, the same expression for the same indices."""
        if indices not in self._known:
            self._known[indices] = self.element(indices)
        return self._known[indices]


def plain_axes(shape: Iterable[int]) -> tuple[Axis, ...]:
    """Returns axes of these extents, each of one factor."""
    return tuple(() if extent == 1 else (extent,) for extent in shape)


def refactored(indices: Sequence[Index], have: Axis, want: Axis, coordinates: Coordinates) -> tuple[Index, ...]:
    """Returns indices along the factors `have` of an axis as those along `want`."""
    if have == want:
        return tuple(indices)
    if not want:
        return ()
    if len(have) == 1 == len(want):
        return tuple(indices)
    place = flat(map(affine_of, indices), have)
    return coordinates.taken_apart(place, want)


def broadcast(arrays: Sequence[Array]) -> tuple[Axis, ...]:
    """Returns the axes of what is computed of `arrays` element by element, each with the factors of one of them."""
    rank = max((len(array.axes) for array in arrays), default=0)
    padded = [((),) * (rank - len(array.axes)) + array.axes for array in arrays]
    return tuple(max(column, key=lambda axis: (prod(axis) != 1, len(axis))) for column in zip(*padded, strict=True))


def broadcast_at(array: Array, axes: tuple[Axis, ...], indices: Indices, coordinates: Coordinates) -> Expression:
    """Returns the element of `array` at indices of `axes`, of which it may have fewer."""
    first = len(axes) - len(array.axes)
    own = tuple(
        refactored(index, have, want, coordinates)
        for index, have, want in zip(indices[first:], axes[first:], array.axes, strict=True)
    )
    return array.at(own)


def viewed(array: Array, shape: Sequence[int], coordinates: Coordinates) -> Array:
    """Returns `array` with the same elements, row by row, along axes of `shape`."""
    factors = [factor for axis in array.axes for factor in axis]
    axes = _distributed(factors, shape)
    groups = list(_groups([factor for axis in axes for factor in axis], factors))

    def element(indices: Indices) -> Expression:
        given = iter([index for axis in indices for index in axis])
        parts: list[Index] = []
        for have, want in groups:
            parts += refactored([next(given) for _ in have], have, want, coordinates)
        left = iter(parts)
        return array.at(tuple(tuple(next(left) for _ in axis) for axis in array.axes))

    return Array(axes, array.dtype, element)


def _groups(have: Sequence[int], want: Sequence[int]) -> Iterator[tuple[Axis, Axis]]:
    """Yields the shortest runs of both, in order, that have as many elements as each other."""
    left, right = list(have), list(want)
    while left or right:
        first, second = left[:1], right[:1]
        del left[:1], right[:1]
        while prod(first) != prod(second):
            own, rest = (first, left) if prod(first) < prod(second) else (second, right)
            own.append(rest.pop(0))
        yield tuple(first), tuple(second)


def _distributed(factors: Sequence[int], shape: Sequence[int]) -> tuple[Axis, ...]:
    """Returns axes of `shape` that have the same factors in order as far as these can be kept or taken apart."""
    left = list(factors)
    axes: list[Axis] = []
    for extent in shape:
        axis: list[int] = []
        missing = extent
        while missing > 1:
            if not left:
                raise NotLiftedError("a view has other elements than what it is a view of")
            if missing % left[0] == 0:
                axis.append(left.pop(0))
                missing //= axis[-1]
            elif left[0] % missing == 0:
                left[0] //= missing
                axis.append(missing)
                missing = 1
            else:
                return plain_axes(shape)
        axes.append(tuple(axis))
    return tuple(axes)
