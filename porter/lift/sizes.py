"""Joins expressions of several probes to one whose numbers are quantities over the sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Protocol, TypeVar

from porter.ir.tensor.expressions import (
    ArgReduce,
    Expression,
    Extent,
    Gathered,
    Number,
    Pointwise,
    Position,
    Range,
    Read,
    Reduce,
    Window,
)
from porter.ir.tensor.quantities import Affine, Floor, Quantity, Sizes
from porter.lift.nodes import NotLiftedError
from porter.lift.size_products import Quantities

_T = TypeVar("_T")
_MOST_SPANS = 3  # of one number: the axes of a volume


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class Joining:
    """Joins one expression of each probe; `sizes` are the values of symbols and parameters at each of them.

    `spans` are extents that are no product of sizes, such as `height - 2`, and may be part of numbers. Raises
    `NotLiftedError` where the expressions differ in more than their numbers, or a number has no known form.
    """

    def __init__(self, sizes: Sequence[Sizes], spans: Sequence[Quantity] = ()) -> None:
        self._sizes = sizes
        self._spans = spans
        self._quantities = Quantities(sizes)
        self._names: list[dict[str, str]] = [{} for _ in sizes]
        self._fresh = (f"k{number}" for number in itertools.count())

    def expression(self, parts: Sequence[Expression]) -> Expression:
        """Returns the joined expression."""
        match parts[0]:
            case Number():
                return self._number([one.quantity for one in _all(Number, parts)])
            case Position():
                return Position(self.affine([one.affine for one in _all(Position, parts)]))
            case Read():
                return self._read(_all(Read, parts))
            case Pointwise():
                return self._pointwise(_all(Pointwise, parts))
            case Reduce(combine, _, _, precision):
                reductions = _all(Reduce, parts)
                _same([one.combine for one in reductions])
                ranges = self._ranges([one.ranges for one in reductions])
                return Reduce(combine, ranges, self.expression([one.body for one in reductions]), precision)
            case ArgReduce(combine):
                arguments = _all(ArgReduce, parts)
                _same([one.combine for one in arguments])
                ranges = self._ranges([one.ranges for one in arguments])
                keys, payloads = [one.key for one in arguments], [one.payload for one in arguments]
                return ArgReduce(combine, ranges, self.expression(keys), self.expression(payloads))

    def quantity(self, numbers: Sequence[Quantity]) -> Quantity:
        """Returns the quantity that has these numbers at the sizes of the probes."""
        values = [number.value({}) for number in numbers]
        try:
            return self._quantities.fitted(values)
        except NotLiftedError:
            spans = (span for span in self._spans if [span.value(at) for at in self._sizes] == values)
            if (span := next(spans, None)) is None:
                raise
            return span

    def _number(self, numbers: Sequence[Quantity]) -> Expression:
        """Returns the number, a square or fourth root, or a symbol over a difference: `momentum / (count - 1)`."""
        try:
            return Number(self.quantity(numbers))
        except NotLiftedError:
            values = [number.value({}) for number in numbers]
        for depth in (1, 2) if all(value > 0 for value in values) else ():
            with suppress(NotLiftedError):
                root: Expression = Number(self._quantities.fitted([value ** (2**depth) for value in values]))
                for _ in range(depth):
                    root = Pointwise("sqrt", (root,))
                return root
        if (product := self._over_spans(values)) is not None:
            return product
        for symbol, power in itertools.product(self._sizes[0], (1, -1)):
            apart = Quantity(Fraction(1), ((symbol, power),))
            if any(at[symbol] == 0 for at in self._sizes):
                continue
            rest = [value / apart.value(at) for value, at in zip(values, self._sizes, strict=True)]
            with suppress(NotLiftedError):
                return Pointwise("multiply", (Number(apart), Number(self._quantities.fitted(rest))))
        return Number(self.quantity(numbers))

    def _over_spans(self, values: Sequence[Fraction]) -> Expression | None:
        """Returns a number over the product of some spans, as is the mean over what a window leaves of an image."""
        for count in range(1, _MOST_SPANS + 1):
            for spans in itertools.combinations_with_replacement(self._spans, count):
                below = [prod(span.value(at) for span in spans) for at in self._sizes]
                with suppress(NotLiftedError):
                    above = self._quantities.fitted([v * b for v, b in zip(values, below, strict=True)])
                    inverse = (Number(replace(span, inverse=True)) for span in spans)
                    return Pointwise("multiply", (Number(above), *inverse))
        return None

    def affine(self, parts: Sequence[Affine]) -> Affine:
        """Returns the joined function: a coefficient that is missing at the sizes of one probe is 0 there."""
        found = [dict(self._named_terms(probe, one)) for probe, one in enumerate(parts)]
        terms: list[tuple[str | Floor, Quantity]] = []
        for name, quotient in dict.fromkeys(key for one in found for key in one):
            own = [one.get((name, quotient)) for one in found]
            weight = self.quantity([term[1] if term else Quantity.of(0) for term in own])
            divisors = [term[0].divisor for term in own if term and isinstance(term[0], Floor)]
            if quotient and len(divisors) != len(own):
                raise NotLiftedError("a coordinate is divided at some sizes only")
            terms.append((Floor(name, self.quantity(divisors)) if quotient else name, weight))
        return Affine(self.quantity([one.constant for one in parts]), tuple(terms))

    def _named_terms(self, probe: int, part: Affine) -> Iterator[tuple[tuple[str, int], tuple[str | Floor, Quantity]]]:
        """Yields each term by its coordinate and the number of its quotient, from 1 on, or else 0."""
        quotients: dict[str, int] = {}
        for term, weight in part.terms:
            name = term.coordinate if isinstance(term, Floor) else term
            if isinstance(term, Floor):
                quotients[name] = quotients.get(name, 0) + 1
            number = quotients[name] if isinstance(term, Floor) else 0
            yield (self._names[probe].get(name, name), number), (term, weight)

    def _read(self, parts: Sequence[Read]) -> Read:
        _same([one.tensor for one in parts])
        _same([len(one.indices) for one in parts])
        columns = zip(*(one.indices for one in parts), strict=True)
        return Read(parts[0].tensor, tuple(map(self._index, columns)))

    def _index(self, parts: Sequence[Affine | Gathered]) -> Affine | Gathered:
        if isinstance(parts[0], Gathered):
            gathered = _all(Gathered, parts)
            affine = self.affine([one.affine for one in gathered])
            return Gathered(affine, self.expression([one.value for one in gathered]))
        return self.affine(_all(Affine, parts))

    def _pointwise(self, parts: Sequence[Pointwise]) -> Pointwise:
        _same([(one.op, len(one.operands)) for one in parts])
        columns = zip(*(one.operands for one in parts), strict=True)
        return Pointwise(parts[0].op, tuple(map(self.expression, columns)))

    def _ranges(self, parts: Sequence[tuple[Extent, ...]]) -> tuple[Extent, ...]:
        _same([len(one) for one in parts])
        return tuple(map(self._range, zip(*parts, strict=True)))

    def _range(self, parts: Sequence[Extent]) -> Extent:
        if isinstance(parts[0], Range):
            ranges = _all(Range, parts)
            lower, upper = self.affine([one.lower for one in ranges]), self.affine([one.upper for one in ranges])
            return Range(self._renamed(ranges), lower, upper)
        windows = _all(Window, parts)
        start = self.affine([one.start for one in windows])
        told = [self.quantity([pick(one) for one in windows]) for pick in (_step, _count, _extent)]
        return Window(self._renamed(windows), start, *told)

    def _renamed(self, parts: Sequence[_Named]) -> str:
        """Returns the name in the joined expression of what each probe has a name of its own for."""
        name = next(self._fresh)
        for names, part in zip(self._names, parts, strict=True):
            names[part.name] = name
        return name


def _all(kind: type[_T], parts: Sequence[object]) -> list[_T]:
    found = [part for part in parts if isinstance(part, kind)]
    if len(found) != len(parts):
        words = ", ".join(type(part).__name__.lower() for part in parts)
        raise NotLiftedError(f"what is computed differs with the sizes ({words})")
    return found


def _same(values: Sequence[object]) -> None:
    if any(value != values[0] for value in values):
        shown = ", ".join(map(str, values))
        raise NotLiftedError(f"what is computed differs with the sizes ({shown})")


def _step(window: Window) -> Quantity:
    return window.step


def _count(window: Window) -> Quantity:
    return window.count


def _extent(window: Window) -> Quantity:
    return window.extent
