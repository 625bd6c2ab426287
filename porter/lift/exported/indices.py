"""Indices at the sizes of one export: affine functions of coordinates whose extents are known."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from porter.ir.tensor.expressions import Gathered
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.lift.nodes import NotLiftedError

Index = Affine | Gathered
_Terms = Mapping[str | Floor, int]


def whole(value: int) -> Affine:
    """Returns an index that is the same everywhere."""
    return Affine.of(value)


def coordinate(name: str) -> Affine:
    """Returns a coordinate as an index."""
    return Affine(Quantity.of(0), ((name, Quantity.of(1)),))


def _parts(affine: Affine) -> tuple[int, dict[str | Floor, int]]:
    return int(affine.constant.factor), {term: int(factor.factor) for term, factor in affine.terms}


def _made(constant: int, terms: _Terms) -> Affine:
    """Returns an affine function; combines a coordinate and its quotients where one of them vanishes."""
    kept = tuple((term, Quantity.of(factor)) for term, factor in terms.items() if factor)
    return Affine(Quantity.of(constant), kept)


def plus(left: Affine, right: Affine, times: int = 1) -> Affine:
    """Returns `left` and `times` of `right`."""
    constant, terms = _parts(left)
    other, others = _parts(right)
    for term, factor in others.items():
        terms[term] = terms.get(term, 0) + times * factor
    return _made(constant + times * other, terms)


def shifted(index: Index, offset: int) -> Index:
    """Returns an index `offset` places further on."""
    if isinstance(index, Gathered):
        return Gathered(plus(index.affine, whole(offset)), index.value)
    return plus(index, whole(offset))


def scaled(index: Index, factor: int, offset: int) -> Affine:
    """Returns `offset + factor * index`. Raises `NotLiftedError` for one that data decide."""
    return plus(whole(offset), affine_of(index), factor)


def affine_of(index: Index) -> Affine:
    """Returns an index that no data decide. Raises `NotLiftedError` for any other."""
    if isinstance(index, Gathered):
        raise NotLiftedError("an index that data decide is computed with")
    return index


@dataclass
class Coordinates:
    """The coordinates of one output and of reductions, each with its extent; names are given in order."""

    extents: dict[str, int] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def fresh(self, extent: int) -> str:
        """Returns the name of a new coordinate that runs below `extent`."""
        name = f"c{next(self._numbers)}"
        self.extents[name] = extent
        return name

    def named(self, name: str, extent: int) -> Affine:
        """Returns the coordinate `name`, which runs below `extent`."""
        self.extents[name] = extent
        return coordinate(name)

    def bounds(self, affine: Affine) -> tuple[int, int]:
        """Returns the least and the largest value."""
        low, terms = _parts(affine)
        high = low
        for factor, last in self._independent(terms):
            low, high = low + min(0, factor * last), high + max(0, factor * last)
        return low, high

    def _independent(self, terms: _Terms) -> Iterator[tuple[int, int]]:
        """Yields factors, with how far the terms below them reach; a remainder (`i - 4 * (i // 4)`) is one factor."""
        left = dict(terms)
        for coarse, factor in terms.items():
            if not isinstance(coarse, Floor) or coarse not in left:
                continue
            for fine, own in terms.items():
                ratio = _ratio(fine, coarse)
                if fine in left and ratio and factor == -own * ratio:
                    yield own, min(ratio - 1, self._last(fine))
                    del left[fine], left[coarse]
                    break
        yield from ((factor, self._last(term)) for term, factor in left.items())

    def _last(self, term: str | Floor) -> int:
        name = term.coordinate if isinstance(term, Floor) else term
        if name not in self.extents:
            raise NotLiftedError("a window is divided into parts")
        last = max(self.extents[name] - 1, 0)
        return last // int(term.divisor.factor) if isinstance(term, Floor) else last

    def divided(self, affine: Affine, divisor: int) -> tuple[Affine, Affine]:
        """Returns quotient and remainder. Raises `NotLiftedError` where the quotient is no affine function."""
        if divisor == 1:
            return affine, whole(0)
        constant, terms = _parts(affine)
        quotient = {term: factor // divisor for term, factor in terms.items() if factor % divisor == 0}
        rest = {term: factor for term, factor in terms.items() if factor % divisor}
        above, below = divmod(constant, divisor)
        remainder = _made(below, rest)
        low, high = self.bounds(remainder)
        if low >= 0 and high < divisor:
            return _made(above, quotient), remainder
        if len(rest) == 1 and not below:
            ((term, factor),) = rest.items()
            if factor == 1:
                floor = self._floor(term, divisor)
                quotient[floor] = quotient.get(floor, 0) + 1
                return _made(above, quotient), _made(0, {term: 1, floor: -divisor})
        raise NotLiftedError("elements are laid out anew in a way that no affine index says")

    def _floor(self, term: str | Floor, divisor: int) -> Floor:
        if isinstance(term, Floor):
            return Floor(term.coordinate, Quantity.of(int(term.divisor.factor) * divisor))
        return Floor(term, Quantity.of(divisor))

    def taken_apart(self, affine: Affine, extents: Sequence[int]) -> tuple[Affine, ...]:
        """Returns the places along axes of `extents` of the element at `affine`, counted row by row."""
        found: list[Affine] = []
        for extent in reversed(extents[1:]):
            affine, rest = self.divided(affine, extent)
            found.append(rest)
        return (*([affine] if extents else []), *reversed(found))


def _ratio(fine: str | Floor, coarse: Floor) -> int:
    """Returns the number that `fine` is divided by to give `coarse`; 0 where it is no quotient of it."""
    name, divisor = (fine.coordinate, int(fine.divisor.factor)) if isinstance(fine, Floor) else (fine, 1)
    ratio, rest = divmod(int(coarse.divisor.factor), divisor)
    return ratio if name == coarse.coordinate and not rest and ratio > 1 else 0


def flat(indices: Iterable[Affine], extents: Sequence[int]) -> Affine:
    """Returns the place, counted row by row, of the element at `indices` along axes of `extents`."""
    total = whole(0)
    for place, index in enumerate(indices):
        total = plus(total, index, prod(extents[place + 1 :]))
    return total


def fraction(value: float) -> Fraction:
    """Returns a finite number as a source writes it, 1e-5 as 1/100000. Raises `NotLiftedError` for any other."""
    try:
        return Fraction(repr(float(value)))
    except (OverflowError, ValueError):
        raise NotLiftedError(f"the number {value} is not finite") from None
