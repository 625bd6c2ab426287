"""Computes the mean of a row, and the squared deviations from it, measured from the row's first element.

A sum of numbers near the largest is infinite, and a sum of squares of numbers far from zero loses the digits in which
they differ. Here parts of the mean's distance from the first element are added up, which is 0 where all elements are
equal.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import Axis, Compute, Fold, Literal, Name, Value
from porter.schedule.kernel_writer import ZERO, Block, KernelWriter
from porter.schedule.linear import Linear
from porter.schedule.loops import Guard, Node, Read, Reduce, rewritten, with_places
from porter.schedule.values import Values

_COLUMNS = Axis.COLUMNS
_ONE = Literal(Fraction(1))


def origin(fold: Reduce, of_row: Values) -> Value:
    """Returns the summand of `fold` at the first column of the row; 0 where it is not finite, or there is no column."""
    columns = [loop.name for loop in fold.loops]
    guards = tuple(Guard(Linear(), loop.extent) for loop in fold.loops)

    def guarded(node: Node) -> Node:
        return replace(node, guards=(*node.guards, *guards)) if isinstance(node, Read) else node

    first = rewritten(with_places(fold.body, lambda place: place.without(columns)), guarded)
    return finite(Values(of_row.writer, of_row.outer, of_row.outer, frozenset(), of_row.folds).named(first))


def finite(value: Value) -> Value:
    """Returns a value, or 0 where it is not finite: an infinite value has no distance from itself."""
    return Compute("select", (Compute("less", (Compute("absolute", (value,)), Literal(inf))), value, ZERO))


def deviations(element: Value, start: Value, writer: KernelWriter, block: Block) -> Name:
    """Returns the distance of a tile's elements from `start`; 0 for those beyond the end of the row."""
    mask, distance = writer.inside(), Compute("subtract", (element, start))
    return writer.let(block, "deviation", distance if mask is None else Compute("select", (mask, distance, ZERO)))


def tile_moments(element: Value, start: Value, count: Value, writer: KernelWriter, block: Block) -> tuple[Name, Name]:
    """Returns the distance of a tile's mean from `start`, and the sum of squared deviations from that mean.

    The tile has `count` elements.
    """
    off = deviations(element, start, writer, block)
    share = writer.let(block, "share_of_one", Compute("divide", (_ONE, count)))
    shift = writer.let(block, "shift", Fold(Combine.SUM, Compute("multiply", (off, share)), _COLUMNS))
    off = deviations(off, shift, writer, block)
    squares = Fold(Combine.SUM, Compute("multiply", (off, off)), _COLUMNS)
    return shift, writer.let(block, "squares_here", squares)


def moments_of_parts(
    counts: Value, means: Value, squares: Value, writer: KernelWriter, block: Block
) -> tuple[Name, Name]:
    """Returns the mean of a row and its sum of squared deviations, from those of its parts; some may be empty."""
    let = writer.let
    is_part = let(block, "has_columns", Compute("less", (ZERO, counts)))
    largest = Fold(Combine.MAXIMUM, Compute("select", (is_part, means, Literal(-inf))), _COLUMNS)
    start = let(block, "origin", finite(let(block, "largest", largest)))
    means = let(block, "means", Compute("select", (is_part, means, start)))
    count = let(block, "count", Fold(Combine.SUM, counts, _COLUMNS))
    shares = Compute("divide", (counts, count))
    shift = Fold(Combine.SUM, Compute("multiply", (shares, Compute("subtract", (means, start)))), _COLUMNS)
    mean = let(block, "mean", Compute("add", (start, shift)))
    off = let(block, "shift", Compute("subtract", (means, mean)))
    between = Compute("multiply", (counts, off, off))  # in this order: an empty part has none of an infinite square
    return mean, let(block, "square", Fold(Combine.SUM, Compute("add", (squares, between)), _COLUMNS))
