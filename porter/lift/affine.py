"""Fits affine functions to values at points: exactly, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.ir.tensor.quantities import Affine, Floor, Quantity

_Column = NDArray[np.float64]
_DENOMINATOR = 5000  # the largest of a coefficient that is not the same everywhere
_SOLVED_ROWS = 64
_EXACTLY = 1e-9  # relative: the rest that rounding leaves


@dataclass(frozen=True)
class Points:
    """Points in the space of the coordinates `names`: one row of `values` each."""

    names: tuple[str, ...]
    values: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str], shape: Sequence[int]) -> Points:
        """Returns all points of a box, row by row."""
        return cls(tuple(names), np.array(list(np.ndindex(*shape)), np.int64).reshape(prod(shape), len(shape)))

    def __len__(self) -> int:
        return len(self.values)

    def at(self, rows: Sequence[int]) -> Points:
        """Returns some of the points, each as often as it is named."""
        return Points(self.names, self.values[np.asarray(rows, np.int64)])

    def with_coordinate(self, name: str, column: NDArray[np.int64]) -> Points:
        """Returns the points with one coordinate more."""
        return Points((*self.names, name), np.column_stack([self.values, column]))


def fitted(points: Points, values: Sequence[Fraction | int], *, floors: bool = True) -> Affine | None:
    """Returns the affine function of the coordinates that has `values` at `points`, earlier coordinates preferred.

    With `floors` the quotient of one coordinate may be a term. Returns None where there is no such function.
    """
    first = values[0]
    if all(value == first for value in values):
        return Affine.of(first)
    wanted = np.array([float(value) for value in values])
    plain = [(name, points.values[:, place].astype(float)) for place, name in enumerate(points.names)]
    found = _solved(plain, wanted)
    if found is None and floors:
        found = next(filter(None, (_solved([term, *plain], wanted) for term in _quotients(points))), None)
    return found


def value_at(affine: Affine, names: Sequence[str], point: Sequence[int]) -> Fraction:
    """Returns the value of a function with constant coefficients at a point."""
    place = dict(zip(names, point, strict=True))
    total = affine.constant.value({})
    for term, weight in affine.terms:
        if isinstance(term, Floor):
            total += weight.value({}) * (int(place[term.coordinate]) // int(term.divisor.value({})))
        else:
            total += weight.value({}) * int(place[term])
    return total


def _quotients(points: Points) -> Iterable[tuple[Floor, _Column]]:
    for place, name in enumerate(points.names):
        column = points.values[:, place]
        for divisor in range(2, int(column.max(initial=0)) + 1):
            yield Floor(name, Quantity.of(divisor)), (column // divisor).astype(float)


def _solved(terms: Sequence[tuple[str | Floor, _Column]], wanted: _Column) -> Affine | None:
    """Returns the combination of independent terms that gives `wanted`.

    It is solved at some rows and checked at all: with 5,000 rows that takes a tenth of the time.
    """
    if len(wanted) > _SOLVED_ROWS:
        rows = np.linspace(0, len(wanted) - 1, _SOLVED_ROWS).astype(np.int64)
        found = _combined([(term, column[rows]) for term, column in terms], wanted[rows])
        if found is None:
            return None
        if _is_right(found, terms, wanted):
            return found
    found = _combined(terms, wanted)
    return found if found is not None and _is_right(found, terms, wanted) else None


def _combined(terms: Sequence[tuple[str | Floor, _Column]], wanted: _Column) -> Affine | None:
    matrix = np.ones((len(wanted), 1))
    used: list[str | Floor] = []
    for term, column in terms:
        wider = np.column_stack([matrix, column])
        if np.linalg.matrix_rank(wider) > matrix.shape[1]:
            matrix, used = wider, [*used, term]
    weights = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    if np.abs(matrix @ weights - wanted).max(initial=0) > _EXACTLY * _size(wanted):
        return None
    exact = [Fraction(float(weight)).limit_denominator(_DENOMINATOR) for weight in weights]
    kept = ((term, Quantity.of(weight)) for term, weight in zip(used, exact[1:], strict=True) if weight)
    return Affine(Quantity.of(exact[0]), tuple(kept))


def _is_right(affine: Affine, terms: Sequence[tuple[str | Floor, _Column]], wanted: _Column) -> bool:
    columns = dict(terms)
    told = np.full(len(wanted), float(affine.constant.factor))
    for term, weight in affine.terms:
        told += float(weight.factor) * columns[term]
    return bool(np.abs(told - wanted).max(initial=0) <= _EXACTLY * _size(wanted))


def _size(wanted: _Column) -> float:
    return max(1.0, float(np.abs(wanted).max(initial=0)))
