"""Finds the statistics of a row, and how its parts are combined.

A reduction whose elements depend on another reduction of the same row takes a pass of its own, unless the two can be
found in one: the sum of squared deviations from a mean (Chan, Golub and LeVeque 1979), and the sum of exponentials less
their maximum (Milakov and Gimelshein 2018). Both are recognised by what they compute, not by how it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from porter.ir.tensor.expressions import Combine
from porter.schedule.linear_terms import factor_between, linear_terms
from porter.schedule.loops import Apply, ArgReduce, Folding, Node, Reduce, is_fold, walk
from porter.schedule.means import adds_squares, mean_of
from porter.schedule.nests import Nest
from porter.schedule.polynomial import Polynomial


class Kind(Enum):
    """The ways of combining the parts of a statistic."""

    PLAIN = auto()
    PLACE = auto()
    MEAN = auto()
    MOMENTS = auto()
    EXPONENTIALS = auto()


@dataclass(frozen=True, slots=True)
class Statistic:
    """Reductions that are computed together. Of several the later ones depend on the first.

    `element` is the value at each point of the row: the deviations and exponentials are those of `element`. With
    `is_result` a result is the mean itself.
    """

    kind: Kind
    folds: tuple[Folding, ...]
    element: Node
    is_result: bool = False


def keeps_lanes(nest: Nest) -> bool:
    """Returns whether each lane of a tile keeps its values until the end: sums, extremes and their places."""
    found = (statistic for one in statistics(nest, in_one_pass=True) for statistic in one)
    return all(statistic.kind in (Kind.PLAIN, Kind.PLACE) for statistic in found)


def statistics(nest: Nest, *, in_one_pass: bool) -> tuple[tuple[Statistic, ...], ...]:
    """Returns the statistics of a nest by pass; they depend on those of earlier passes only."""
    left, returned = list(nest.folds), {result.body for result in nest.results}
    found: list[Statistic] = []
    while left:
        statistic = _next(left.pop(0), left, in_one_pass=in_one_pass)
        for other in statistic.folds[1:]:
            left.remove(other)
        first = statistic.folds[0]
        is_result = isinstance(first, Reduce) and bool(first.loops) and mean_of(first) in returned
        found.append(replace(statistic, is_result=is_result))
    return _by_pass(found)


def _next(fold: Folding, others: Sequence[Folding], *, in_one_pass: bool) -> Statistic:
    """Returns the statistic of `fold`, with one of `others` where both are found in one pass."""
    if isinstance(fold, ArgReduce):
        return Statistic(Kind.PLACE, (fold,), fold.key)
    pair = _pair(fold, others)
    if pair is not None and in_one_pass:
        return pair
    kind = Kind.MEAN if pair is not None and pair.kind is Kind.MOMENTS else Kind.PLAIN
    return Statistic(kind, (fold,), fold.body)


def _by_pass(found: Sequence[Statistic]) -> tuple[tuple[Statistic, ...], ...]:
    passes: dict[Folding, int] = {}
    rows: list[list[Statistic]] = []
    for statistic in found:
        used = {n for fold in statistic.folds for n in walk(fold) if is_fold(n)} - set(statistic.folds)
        number = max((passes[fold] + 1 for fold in used if fold in passes), default=0)
        passes.update(dict.fromkeys(statistic.folds, number))
        rows += [[] for _ in range(number + 1 - len(rows))]
        rows[number].append(statistic)
    return tuple(map(tuple, rows))


def _pair(first: Reduce, others: Sequence[Folding]) -> Statistic | None:
    """Returns `first` and one of `others` as one statistic; None where no pair fits."""
    for other in others:
        if adds_squares(first, other):
            return Statistic(Kind.MOMENTS, (first, other), first.body)
        if _adds_exponentials(first, other):
            return Statistic(Kind.EXPONENTIALS, (first, other), first.body)
    return None


def _adds_exponentials(first: Reduce, other: Folding) -> bool:
    """Returns whether `other` is the sum of the exponentials of what `first` is the largest of, less that."""
    match first, other:
        case Reduce(combine=Combine.MAXIMUM), Reduce(combine=Combine.SUM, body=Apply("exp", (base,))):
            terms, element = linear_terms(base), linear_terms(first.body)
            one = Polynomial.of(1)
            return factor_between(terms, element, first) == one and terms.get(first) == -one
    return False
