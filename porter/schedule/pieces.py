"""Computes a program's part of a statistic, over a piece of a row that lies in one tile."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import Axis, Cast, Compute, Fold, FoldIndex, Literal, Value
from porter.schedule.accumulate import least, ordered
from porter.schedule.kernel_writer import KernelWriter
from porter.schedule.loops import ArgReduce, Reduce
from porter.schedule.moments import deviations, origin
from porter.schedule.statistics import Kind, Statistic
from porter.schedule.values import Values, identity, vanishes

_COLUMNS = Axis.COLUMNS


@dataclass(frozen=True)
class Piece:
    """A tile of `count` columns from `start` on, which is not empty."""

    start: Value
    count: Value


def found_in(statistic: Statistic, piece: Piece, values: Values) -> tuple[Value, ...]:
    """Returns what the piece hands on of `statistic`, in the order of `combine.partials`."""
    writer, block, first = values.writer, values.inner, statistic.folds[0]
    match statistic.kind, first:
        case Kind.PLACE, ArgReduce():
            return _place(first, piece, values)
        case Kind.MOMENTS, Reduce():
            return _moments(first, piece, values)
        case Kind.EXPONENTIALS, _:
            element = writer.let(block, "element", _masked(values.value(statistic.element), -inf, writer))
            largest = writer.let(block, "largest_here", Fold(Combine.MAXIMUM, element, _COLUMNS))
            exponentials = Compute("exp", (Compute("subtract", (element, largest)),))
            return largest, writer.let(block, "total_here", Fold(Combine.SUM, exponentials, _COLUMNS))
    assert isinstance(first, Reduce)
    value = values.value(first.body)
    if not (first.combine is Combine.SUM and vanishes(first.body)):
        value = _masked(value, least(first), writer)
    return (writer.let(block, "total_here", Fold(first.combine, value, _COLUMNS)),)


def _place(fold: ArgReduce, piece: Piece, values: Values) -> tuple[Value, ...]:
    writer, block = values.writer, values.inner
    key = writer.let(
        block, "key", _masked(ordered(values.named(fold.key), fold.combine), identity(fold.combine), writer)
    )
    best = writer.let(block, "best_here", Fold(fold.combine, key, _COLUMNS))
    index = FoldIndex(fold.combine, key, _COLUMNS)
    return best, writer.let(block, "place_here", Compute("add", (piece.start, index)))


def _moments(fold: Reduce, piece: Piece, values: Values) -> tuple[Value, ...]:
    """Returns the count, the mean and the sum of squared deviations from that mean.

    The deviations are computed from the elements again, not from the distances to the first element: these would stay
    in registers beside the elements, and 32,768 of them in 512 threads did not fit.
    """
    writer, block = values.writer, values.inner
    element, start = values.named(fold.body), writer.let(block, "origin", origin(fold, values))
    count = writer.let(block, "count_here", Cast(piece.count, writer.precision))
    share = writer.let(block, "share_of_one", Compute("divide", (Literal(Fraction(1)), count)))
    shifts = Compute("multiply", (deviations(element, start, writer, block), share))
    mean = writer.let(block, "mean_here", Compute("add", (start, Fold(Combine.SUM, shifts, _COLUMNS))))
    off = deviations(element, mean, writer, block)
    return count, mean, writer.let(block, "squares_here", Fold(Combine.SUM, Compute("multiply", (off, off)), _COLUMNS))


def _masked(value: Value, other: Fraction | float, writer: KernelWriter) -> Value:
    mask = writer.masks.get(_COLUMNS)
    return value if mask is None else Compute("select", (mask, value, Literal(other)))
