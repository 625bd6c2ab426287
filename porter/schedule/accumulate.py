"""Accumulates statistics of a row over its tiles, and computes their values in the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import (
    NO_AXES,
    Axes,
    Axis,
    Cast,
    Compute,
    Filled,
    Fold,
    FoldIndex,
    Literal,
    Name,
    Value,
    axes,
)
from porter.schedule.kernel_writer import ZERO, Block, KernelWriter, Point
from porter.schedule.loops import Apply, ArgReduce, Node, Reduce
from porter.schedule.means import mean_of
from porter.schedule.moments import deviations, finite, origin, tile_moments
from porter.schedule.polynomial import NotSchedulableError, Polynomial
from porter.schedule.statistics import Kind, Statistic
from porter.schedule.strength import ONE
from porter.schedule.values import OPERATOR, Values, identity, vanishes

_COLUMNS = Axis.COLUMNS
_BEYOND = Literal(Fraction((1 << 31) - 1))  # behind every column
_HINTS = {Combine.SUM: "total", Combine.PRODUCT: "product", Combine.MAXIMUM: "largest", Combine.MINIMUM: "smallest"}


@dataclass(frozen=True)
class Tile:
    """The columns of a tile: its start and their number, as whole numbers."""

    start: Value
    count: Value


class Accumulator(ABC):
    """A statistic over the tiles of a row; `of_row` are the values that are the same for all tiles."""

    def __init__(self, of_row: Values, rows: Axes) -> None:
        self.writer = of_row.writer
        self.outer = of_row.outer
        self.rows = rows

    @abstractmethod
    def add(self, values: Values, tile: Tile) -> None:
        """Adds a tile."""

    @abstractmethod
    def finish(self, values: Values) -> dict[Node, Value]:
        """Returns the values of the statistic's reductions, once all tiles are added."""

    @abstractmethod
    def partial(self) -> tuple[Value, ...]:
        """Returns what a program that saw only some tiles hands on, in the order of `combine.partials`."""

    def masked(self, value: Value, other: Fraction | float) -> Value:
        """Returns `value` with `other` beyond the end of the row."""
        mask = self.writer.inside()
        return value if mask is None else Compute("select", (mask, value, Literal(other)))


def accumulator(statistic: Statistic, of_row: Values, rows: Axes) -> Accumulator:
    """Returns the accumulator of a statistic, with what it starts from."""
    first = statistic.folds[0]
    match statistic.kind, first:
        case Kind.PLACE, ArgReduce():
            return _Place(first, of_row, rows)
        case Kind.MEAN, Reduce():
            return _Mean(first, of_row, rows)
        case Kind.MOMENTS, _:
            return _Moments(statistic, of_row, rows)
        case Kind.EXPONENTIALS, _:
            return _Exponentials(statistic, of_row, rows)
        case _, Reduce():
            return _Plain(first, of_row, rows)
    raise AssertionError(statistic)


def at_once(statistic: Statistic, values: Values) -> dict[Node, Value]:
    """Returns what a statistic finds in a row that lies in one tile."""
    (fold,), writer, block = statistic.folds, values.writer, values.outer
    held = _Held(values, NO_AXES)
    if isinstance(fold, ArgReduce):
        if len(fold.loops) != 1:
            raise NotSchedulableError("the place of an extreme is sought over several axes")
        key = held.masked(ordered(values.value(fold.key), fold.combine), identity(fold.combine))
        index = writer.let(block, "place", FoldIndex(fold.combine, key, _COLUMNS))
        return {fold: payload(fold, index, values, writer, block)}
    if statistic.kind is Kind.MEAN:
        start = writer.let(block, "origin", origin(fold, values))
        mean = _mean(start, _shift(fold, start, values), values)
        return {mean_of(fold): _corrected(mean, fold, values) if statistic.is_result else mean}
    return {fold: writer.let(block, _HINTS[fold.combine], writer.folded(fold.combine, held.element(fold, values)))}


class _Plain(Accumulator):
    """One value for each lane; the lanes are combined in the end."""

    def __init__(self, fold: Reduce, of_row: Values, rows: Axes) -> None:
        super().__init__(of_row, rows)
        self._fold = fold
        start = Filled(least(fold), rows | {_COLUMNS}, fold.precision)
        self._lanes = self.writer.let(self.outer, f"{_HINTS[fold.combine]}_lanes", start)

    def add(self, values: Values, tile: Tile) -> None:  # noqa: ARG002 - lanes beyond the end are masked
        value = self.element(self._fold, values)
        combined = Compute(OPERATOR[self._fold.combine], (self._lanes, value))
        self.writer.again(values.inner, self._lanes, combined)

    def element(self, fold: Reduce, values: Values) -> Value:
        """Returns a tile's value for each lane; the identity beyond the end of the row."""
        value = values.value(fold.body)
        if fold.combine is Combine.SUM and vanishes(fold.body) and axes(value) >= self.writer.column_axes:
            return value
        return self.masked(value, least(fold))

    def partial(self) -> tuple[Value, ...]:
        return (Fold(self._fold.combine, self._lanes, _COLUMNS),)

    def finish(self, values: Values) -> dict[Node, Value]:  # noqa: ARG002 - nothing else is needed
        folded = Fold(self._fold.combine, self._lanes, _COLUMNS)
        return {self._fold: self.writer.let(self.outer, _HINTS[self._fold.combine], folded)}


class _Held(_Plain):
    """The elements of a row in one tile; nothing is accumulated."""

    def __init__(self, of_row: Values, rows: Axes) -> None:
        Accumulator.__init__(self, of_row, rows)


class _Place(Accumulator):
    """The first extreme so far of each lane, and the start of its tile; the first lane is found in the end."""

    def __init__(self, fold: ArgReduce, of_row: Values, rows: Axes) -> None:
        super().__init__(of_row, rows)
        if len(fold.loops) != 1:
            raise NotSchedulableError("the place of an extreme is sought over several axes")
        self._fold = fold
        tile = rows | {_COLUMNS}
        start = Filled(identity(fold.combine), tile, self.writer.precision)
        self._best = self.writer.let(self.outer, "best_lanes", start)
        self._starts = self.writer.let(self.outer, "start_lanes", Filled(Fraction(0), tile, DType.INT32))

    def add(self, values: Values, tile: Tile) -> None:
        combine, block, writer = self._fold.combine, values.inner, self.writer
        key = self.masked(ordered(values.named(self._fold.key), combine), identity(combine))
        key = writer.let(block, "key", key)
        pair = (self._best, key) if combine is Combine.MAXIMUM else (key, self._best)
        is_better = writer.let(block, "is_better", Compute("less", pair))
        writer.again(block, self._starts, Compute("select", (is_better, tile.start, self._starts)))
        writer.again(block, self._best, Compute("select", (is_better, key, self._best)))

    def partial(self) -> tuple[Name, Name]:
        lanes = self.writer.points[self._fold.loops[0].name].lanes
        assert lanes is not None
        places = Compute("add", (self._starts, lanes))
        return first_extreme(self._fold.combine, self._best, places, self.writer, self.outer)

    def finish(self, values: Values) -> dict[Node, Value]:
        _, place = self.partial()
        return {self._fold: payload(self._fold, place, values, self.writer, self.outer)}


class _Mean(Accumulator):
    """The distance of the mean of a row from its first element."""

    def __init__(self, fold: Reduce, of_row: Values, rows: Axes) -> None:
        super().__init__(of_row, rows)
        self._fold = fold
        self._start = self.writer.let(self.outer, "origin", origin(fold, of_row))
        start = Filled(Fraction(0), rows | {_COLUMNS}, fold.precision)
        self._lanes = self.writer.let(self.outer, "total_lanes", start)

    def add(self, values: Values, tile: Tile) -> None:  # noqa: ARG002 - lanes beyond the end are masked
        shift = _shift(self._fold, self._start, values)
        self.writer.again(values.inner, self._lanes, Compute("add", (self._lanes, shift)))

    def partial(self) -> tuple[Value, ...]:
        raise AssertionError("programs that share a row find the squares, too")

    def finish(self, values: Values) -> dict[Node, Value]:
        return {mean_of(self._fold): _mean(self._start, self._lanes, values)}


def _shift(fold: Reduce, start: Value, values: Values) -> Value:
    """Returns how far each element of a tile takes the mean of its row from `start`."""
    share = values.named(Apply("divide", (ONE, mean_of(fold).operands[1])))
    off = deviations(values.value(fold.body), start, values.writer, values.inner)
    return Compute("multiply", (off, share))


def _mean(start: Value, shifts: Value, values: Values) -> Value:
    return values.writer.let(values.outer, "mean", Compute("add", (start, values.writer.folded(Combine.SUM, shifts))))


def _corrected(mean: Value, fold: Reduce, values: Values) -> Value:
    """Returns the mean as exactly as a sum has it: `mean` is off by a rounding of the row's first element.

    It is no step for a row that is not finite: its mean is that of the sum.
    """
    near = values.writer.let(values.outer, "near_mean", finite(mean))
    return _mean(near, _shift(fold, near, values), values)


class _Moments(Accumulator):
    """The mean so far and the sum of squared deviations from it, merged tile by tile (Chan, Golub and LeVeque)."""

    def __init__(self, statistic: Statistic, of_row: Values, rows: Axes) -> None:
        super().__init__(of_row, rows)
        let = self.writer.let
        self._statistic = statistic
        self._seen = let(self.outer, "seen", Filled(Fraction(0), NO_AXES, self.writer.precision))
        self._squares = let(self.outer, "squares", Filled(Fraction(0), rows, self.writer.precision))
        (first, _) = statistic.folds
        assert isinstance(first, Reduce)
        start = origin(first, of_row)
        if axes(start) != rows:
            start = Compute("add", (self._squares, start))
        self._mean = let(self.outer, "mean", start)

    def add(self, values: Values, tile: Tile) -> None:
        block = values.inner
        count = self.writer.let(block, "count", Cast(tile.count, self.writer.precision))
        shift, squares = tile_moments(values.value(self._statistic.element), self._mean, count, self.writer, block)
        self._merge(block, count, shift, squares)

    def _merge(self, block: Block, count: Value, shift: Value, squares: Value) -> None:
        let, again = self.writer.let, self.writer.again
        share = let(block, "share", Compute("divide", (count, Compute("add", (self._seen, count)))))
        between = Compute("multiply", (self._seen, share, shift, shift))  # 0 of an infinite square is none
        again(block, self._squares, Compute("add", (self._squares, squares, between)))
        again(block, self._mean, Compute("add", (self._mean, Compute("multiply", (shift, share)))))
        again(block, self._seen, Compute("add", (self._seen, count)))

    def partial(self) -> tuple[Value, ...]:
        return (self._seen, self._mean, self._squares)

    def finish(self, values: Values) -> dict[Node, Value]:  # noqa: ARG002 - nothing else is needed
        first, second = self._statistic.folds
        assert isinstance(first, Reduce)
        return {mean_of(first): self._mean, second: self._squares}


class _Exponentials(Accumulator):
    """The largest element so far and the sum of exponentials minus it, rescaled when it grows."""

    def __init__(self, statistic: Statistic, of_row: Values, rows: Axes) -> None:
        super().__init__(of_row, rows)
        self._statistic = statistic
        self._largest = self.writer.let(self.outer, "largest", Filled(-inf, rows, self.writer.precision))
        self._total = self.writer.let(self.outer, "total", Filled(Fraction(0), rows, self.writer.precision))

    def add(self, values: Values, tile: Tile) -> None:  # noqa: ARG002 - lanes beyond the end are masked
        let, again, block = self.writer.let, self.writer.again, values.inner
        element = let(block, "element", self.masked(values.value(self._statistic.element), -inf))
        largest = let(
            block, "largest_now", Compute("maximum", (self._largest, Fold(Combine.MAXIMUM, element, _COLUMNS)))
        )
        rescaled = Compute("multiply", (self._total, _exponential(self._largest, largest)))
        added = Fold(Combine.SUM, _exponential(element, largest), _COLUMNS)
        again(block, self._total, Compute("add", (rescaled, added)))
        again(block, self._largest, largest)

    def partial(self) -> tuple[Value, ...]:
        return (self._largest, self._total)

    def finish(self, values: Values) -> dict[Node, Value]:  # noqa: ARG002 - nothing else is needed
        first, second = self._statistic.folds
        return {first: self._largest, second: self._total}


def _exponential(value: Value, less: Value) -> Value:
    return Compute("exp", (Compute("subtract", (value, less)),))


def least(fold: Reduce) -> Fraction | float:
    """Returns the initial value of a reduction; whole numbers have no infinity."""
    start = identity(fold.combine)
    if fold.precision.is_float or isinstance(start, Fraction):
        return start
    bits = 8 * fold.precision.bytes
    is_signed = not fold.precision.value.startswith("u")
    if start > 0:
        return Fraction((1 << (bits - is_signed)) - 1)
    return Fraction(-(1 << (bits - 1)) if is_signed else 0)


def ordered(key: Value, combine: Combine) -> Value:
    """Returns a key in which NaN is the extreme."""
    return Compute("select", (Compute("equal", (key, key)), key, Literal(-identity(combine))))


def first_extreme(
    combine: Combine, extremes: Value, places: Value, writer: KernelWriter, block: Block
) -> tuple[Name, Name]:
    """Returns the extreme of what lanes found, and the first of the places where they found it."""
    best = writer.let(block, "best", Fold(combine, extremes, _COLUMNS))
    chosen = Compute("select", (Compute("equal", (extremes, best)), places, _BEYOND))
    return best, writer.let(block, "place", Fold(Combine.MINIMUM, chosen, _COLUMNS))


def payload(fold: ArgReduce, place: Name, values: Values, writer: KernelWriter, block: Block) -> Value:
    """Returns the payload at the column `place`."""
    (column,) = (loop.name for loop in fold.loops)
    before = writer.points.get(column)
    writer.points[column] = Point(place)
    value = Values(writer, block, block, frozenset(), values.folds).value(fold.payload)
    if before is not None:
        writer.points[column] = before
    return writer.let(block, "found", value)


def count_of(extent: Polynomial, start: Value, block_size: Value, writer: KernelWriter) -> Value:
    """Returns how many columns a tile has that begins at `start`."""
    left = writer.size(extent) if start == ZERO else Compute("subtract", (writer.size(extent), start))
    return Compute("at_most", (left, block_size))
