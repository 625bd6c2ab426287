"""Combines the parts of a statistic that several programs found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import Axis, Compute, Fold, Value
from porter.schedule.accumulate import first_extreme, payload
from porter.schedule.host_values import Names
from porter.schedule.kernel_writer import Block, KernelWriter
from porter.schedule.loops import ArgReduce, Node, Reduce
from porter.schedule.means import mean_of
from porter.schedule.moments import moments_of_parts
from porter.schedule.statistics import Kind, Statistic
from porter.schedule.values import Values

_COLUMNS = Axis.COLUMNS


@dataclass(frozen=True, slots=True)
class Partial:
    """A number that each program of a row hands on, in the buffer of that name."""

    buffer: str
    word: str
    dtype: DType


_WORDS = {
    Kind.PLAIN: ("totals",),
    Kind.PLACE: ("extremes", "places"),
    Kind.MOMENTS: ("counts", "means", "squares"),
    Kind.EXPONENTIALS: ("maxima", "totals"),
}


def partials(statistic: Statistic, precision: DType, names: Names) -> tuple[Partial, ...]:
    """Returns what is handed on of a statistic, each in a buffer of its own."""
    first = statistic.folds[0]
    own = first.precision if isinstance(first, Reduce) else precision
    words = _WORDS[statistic.kind]
    dtypes = (own, DType.INT32) if statistic.kind is Kind.PLACE else (own,) * len(words)
    return tuple(Partial(names.fresh(word), word, dtype) for word, dtype in zip(words, dtypes, strict=True))


def combined(
    statistic: Statistic, loaded: Sequence[Value], writer: KernelWriter, block: Block, values: Values
) -> dict[Node, Value]:
    """Returns the reductions of a statistic, from what all programs of the row found."""
    let = writer.let
    first = statistic.folds[0]
    match statistic.kind, first:
        case Kind.PLACE, ArgReduce():
            extremes, places = loaded
            _, place = first_extreme(first.combine, extremes, places, writer, block)
            return {first: payload(first, place, values, writer, block)}
        case Kind.MOMENTS, Reduce():
            counts, means, found = loaded
            mean, squares = moments_of_parts(counts, means, found, writer, block)
            return {mean_of(first): mean, statistic.folds[1]: squares}
        case Kind.EXPONENTIALS, _:
            maxima, totals = loaded
            largest = let(block, "largest", Fold(Combine.MAXIMUM, maxima, _COLUMNS))
            rescaled = Compute("multiply", (totals, Compute("exp", (Compute("subtract", (maxima, largest)),))))
            return {first: largest, statistic.folds[1]: let(block, "total", Fold(Combine.SUM, rescaled, _COLUMNS))}
    assert isinstance(first, Reduce)
    return {first: let(block, "total", Fold(first.combine, loaded[0], _COLUMNS))}
