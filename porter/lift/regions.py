"""Finds the coordinates of a reduction, and their bounds as functions of the coordinates outside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.ir.tensor.expressions import Extent, Range, Window
from porter.ir.tensor.quantities import Affine, Quantity
from porter.lift.affine import Points, fitted, value_at
from porter.lift.forms import Form
from porter.lift.items import Items, Place
from porter.lift.nodes import NotLiftedError

_Sets = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Region:
    """The coordinates of a reduction; `points` are those of all its items, list by list, and `owners` their lists."""

    ranges: tuple[Extent, ...]
    points: Points
    owners: NDArray[np.int64]

    def common_share(self, weights: Sequence[Fraction]) -> Fraction | None:
        """Returns the number that is shared out evenly as weights among the items of each list.

        A mean of a window that a border clips has such weights. None where there is no such number.
        """
        counts = np.bincount(self.owners)[self.owners].tolist()
        shares = {weight * count for weight, count in zip(weights, counts, strict=True)}
        return shares.pop() if len(shares) == 1 else None


def region(items: Items, points: Points, lists: Sequence[Sequence[Form]], names: Iterator[str]) -> Region:
    """Returns the coordinates that distinguish the items of each list, one list for each of `points`.

    Raises `NotLiftedError` where there are none, or where their bounds are not affine.
    """
    flat = [(row, item) for row, own in enumerate(lists) for item in own]
    places = [items.places(item) for _, item in flat]
    if len({len(place) for place in places}) != 1:
        raise NotLiftedError("the items of a reduction are not alike")
    owners = np.array([row for row, _ in flat])
    table = np.array([[index for index, _ in place] for place in places], np.int64).reshape(len(flat), -1)
    refusal = NotLiftedError("the items of a reduction have nothing that tells them apart")
    columns = list(range(table.shape[1]))
    for turn in range(max(1, len(columns))):
        try:
            return _over(_Table(points, owners, table, places[0]), [*columns[turn:], *columns[:turn]], names)
        except NotLiftedError as error:
            refusal = refusal if turn else error
    raise refusal


@dataclass(frozen=True)
class _Table:
    """The items at `points`: the point that owns each, its indices, and the extents of their axes."""

    points: Points
    owners: NDArray[np.int64]
    indices: NDArray[np.int64]
    places: Sequence[Place]


def _over(table: _Table, columns: Sequence[int], names: Iterator[str]) -> Region:
    """Returns the region whose coordinates are the first of `columns` that tell items apart."""
    points, owners = table.points, table.owners
    inside, chosen = _told_apart(points.at(owners.tolist()), table.indices, columns, names)
    per = [table.indices[np.flatnonzero(owners == row)][:, chosen] for row in range(len(points))]
    if any(len(own) != prod(len(set(own[:, axis])) for axis in range(len(chosen))) for own in per if len(own)):
        raise NotLiftedError("a reduction does not run over a box of coordinates")
    new = inside.names[len(points.names) :]
    ranges = []
    for axis, (name, column) in enumerate(zip(new, chosen, strict=True)):
        sets = [sorted({int(value) for value in own[:, axis]}) for own in per]
        ranges.append(_extent(name, points, sets, table.places[column][1]))
    for row in (row for row, own in enumerate(per) if not len(own)):
        point = points.values[row].tolist()
        if not any(_is_empty(extent, points.names, point) for extent in ranges):
            raise NotLiftedError("a reduction has no element where its bounds have some")
    return Region(tuple(ranges), inside, owners)


def _is_empty(extent: Extent, names: Sequence[str], point: Sequence[int]) -> bool:
    """Returns whether a range of a reduction has no value at a point."""
    if isinstance(extent, Range):
        return value_at(extent.lower, names, point) >= value_at(extent.upper, names, point)
    return not _values(extent, names, point)


def _values(window: Window, names: Sequence[str], point: Sequence[int]) -> list[int]:
    """Returns the values of a window's coordinate at a point."""
    begin, step = int(value_at(window.start, names, point)), int(window.step.factor)
    reached = (begin + step * turn for turn in range(int(window.count.factor)))
    return [value for value in reached if 0 <= value < window.extent.factor]


def _told_apart(
    points: Points, table: NDArray[np.int64], columns: Sequence[int], names: Iterator[str]
) -> tuple[Points, list[int]]:
    """Returns the points with a coordinate for each column that no function of those before it gives."""
    chosen: list[int] = []
    for column in columns:
        if fitted(points, table[:, column].tolist(), floors=False) is None:
            chosen.append(column)
            points = points.with_coordinate(next(names), table[:, column])
    varying = [column for column in columns if len(set(table[:, column])) > 1]
    if not chosen and varying:  # windows and prefixes of one element
        chosen = varying[-1:]
        points = points.with_coordinate(next(names), table[:, chosen[0]])
    if not chosen:
        raise NotLiftedError("the items of a reduction have nothing that tells them apart")
    return points, chosen


def _extent(name: str, points: Points, sets: _Sets, extent: int) -> Extent:
    """Returns the bounds of one coordinate, whose values at each of `points` are `sets`.

    A set is empty where any coordinate of the reduction has no value.
    """
    if all(len(values) in (0, extent) for values in sets):
        return Range(name, Affine.of(0), Affine.of(extent))
    plain = _range(name, points, sets)
    if plain is not None and not (plain.lower.terms and plain.upper.terms):
        return plain  # one end is fixed: a prefix or a suffix
    found = _window(name, points, sets, extent) or plain
    if found is None:
        raise NotLiftedError("the bounds of a reduction are not an affine function")
    return found


def _range(name: str, points: Points, sets: _Sets) -> Range | None:
    some = [row for row, values in enumerate(sets) if values]
    if any(values != list(range(values[0], values[-1] + 1)) for values in sets if values):
        return None
    lower = fitted(points.at(some), [sets[row][0] for row in some])
    upper = fitted(points.at(some), [sets[row][-1] + 1 for row in some])
    return None if lower is None or upper is None else Range(name, lower, upper)


def _window(name: str, points: Points, sets: _Sets, extent: int) -> Window | None:
    step = min((after - value for own in sets for value, after in pairwise(own)), default=1)
    count = max(map(len, sets))
    starts = dict(_starts(sets, step, count, extent))
    if not starts:
        return None
    start = fitted(points.at(list(starts)), list(starts.values()))
    if start is None:
        return None
    window = Window(name, start, Quantity.of(step), Quantity.of(count), Quantity.of(extent))
    rows = ((points.values[row].tolist(), values) for row, values in enumerate(sets) if values)
    return window if all(_values(window, points.names, point) == values for point, values in rows) else None


def _starts(sets: _Sets, step: int, count: int, extent: int) -> Iterator[tuple[int, int]]:
    """Yields the starts of windows that show the extent: whole ones, and those with one end beside a border."""
    for row, values in enumerate(sets):
        if values and (len(values) == count or values[0] >= step):
            yield row, values[0]
        elif values and values[-1] + step < extent:
            yield row, values[-1] - step * (count - 1)
