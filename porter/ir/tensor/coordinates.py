"""Coordinates while a tensor program is computed: the points that they take, and affine functions of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, lcm

import torch

from porter.ir.tensor.expressions import Extent, Range, Window
from porter.ir.tensor.quantities import Affine, Floor, Quantity, Sizes
from porter.ir.tensor.traversal import coordinates
from porter.ir.tensor.values import Value, elementwise


@dataclass(frozen=True, slots=True)
class Axis:
    """The points of a coordinate: `origin + step * t` for `first <= t < last`."""

    origin: Affine
    step: int
    first: int
    last: int

    @property
    def length(self) -> int:
        """Returns how many points there are."""
        return self.last - self.first

    def pieces(self, length: int) -> list[Axis]:
        """Returns the axis as consecutive ones of at most `length` points, at least one each."""
        length = max(1, length)
        return [
            replace(self, first=first, last=min(first + length, self.last))
            for first in range(self.first, self.last, length)
        ]


Scope = Mapping[str, Axis]


class Coordinates:
    """Affine functions and ranges at one set of sizes; what is no integer is in one precision."""

    def __init__(self, sizes: Sizes, precision: torch.dtype, device: torch.device) -> None:
        self._sizes = sizes
        self._precision = precision
        self._device = device

    def quantity(self, quantity: Quantity) -> Fraction:
        """Returns the number that a quantity is."""
        return Fraction(quantity.value(self._sizes))

    def number(self, quantity: Quantity) -> Value:
        """Returns a quantity that is computed with: one over 0 is what floats make of it."""
        try:
            return self.constant(self.quantity(quantity))
        except ZeroDivisionError:
            return Value((), torch.tensor(quantity.as_float(self._sizes), dtype=self._precision, device=self._device))

    def constant(self, value: Fraction) -> Value:
        """Returns a number that is the same at all points."""
        if value.denominator == 1 and abs(value) < 1 << 63:
            return Value((), torch.tensor(int(value), dtype=torch.int64, device=self._device))
        return Value((), torch.tensor(float(value), dtype=self._precision, device=self._device))

    def reach(self, names: Iterable[str], scope: Scope) -> frozenset[str]:
        """Returns `names` and the coordinates on which their points depend."""
        found: set[str] = set()
        for name in names:
            found |= {name, *self.reach(coordinates([scope[name].origin]), scope)}
        return frozenset(found)

    def points(self, name: str, scope: Scope) -> Value:
        """Returns a coordinate at its points."""
        axis = scope[name]
        steps = Value((name,), torch.arange(axis.first, axis.last, device=self._device) * axis.step)
        return elementwise(torch.add, steps, self.ceiling(axis.origin, scope))

    def scaled(self, affine: Affine, scope: Scope) -> tuple[Value, int]:
        """Returns an affine function as exact numerators over one denominator."""
        constant = self.quantity(affine.constant)
        factors = [self.quantity(factor) for _, factor in affine.terms]
        below = lcm(constant.denominator, *(factor.denominator for factor in factors))
        total = self.constant(constant * below)
        for (term, _), factor in zip(affine.terms, factors, strict=True):
            total = _plus(total, int(factor * below), self._term(term, scope))
        return total, below

    def ceiling(self, affine: Affine, scope: Scope) -> Value:
        """Returns the smallest whole numbers that are not below an affine function."""
        above, below = self.scaled(affine, scope)
        return above if below == 1 else elementwise(lambda data: -torch.div(-data, below, rounding_mode="floor"), above)

    def position(self, affine: Affine, scope: Scope) -> Value:
        """Returns an affine function as integers where all that it consists of is whole, else in the precision."""
        factors = [self.quantity(quantity) for quantity in (affine.constant, *(factor for _, factor in affine.terms))]
        if all(factor.denominator == 1 for factor in factors):
            return self.scaled(affine, scope)[0]
        total = Value((), torch.tensor(float(factors[0]), dtype=self._precision, device=self._device))
        for (term, _), factor in zip(affine.terms, factors[1:], strict=True):
            total = _plus(total, float(factor), self._term(term, scope))
        return total

    def within(self, ranges: Sequence[Extent], scope: Scope) -> dict[str, Axis]:
        """Returns the scope within a reduction over `ranges`."""
        inner = dict(scope)
        for extent in ranges:
            inner[extent.name] = self._window(extent) if isinstance(extent, Window) else self._range(extent, inner)
        return inner

    def mask(self, extent: Extent, scope: Scope) -> Value | None:
        """Returns at which points of its axis a coordinate is in its range; None where it is at all."""
        points = self.points(extent.name, scope)
        if isinstance(extent, Window):
            limit = ceil(self.quantity(extent.extent))
            held = elementwise(lambda data: (data >= 0) & (data < limit), points)
            return None if bool(held.data.all()) else held
        if not extent.upper.terms and not extent.lower.terms:
            return None
        held = elementwise(torch.lt, points, self.ceiling(extent.upper, scope))
        reached = elementwise(torch.ge, points, self.ceiling(extent.lower, scope))
        return held if _is_moving(extent) else elementwise(torch.logical_and, reached, held)

    def counts(self, extent: Range, scope: Scope) -> Value:
        """Returns how many points of its axis a range with one fixed end has."""
        counts = elementwise(torch.sub, self.ceiling(extent.upper, scope), self.ceiling(extent.lower, scope))
        return elementwise(lambda data: data.clamp(0, scope[extent.name].length), counts)

    def _term(self, term: str | Floor, scope: Scope) -> Value:
        if isinstance(term, str):
            return self.points(term, scope)
        divisor = self.quantity(term.divisor)
        return elementwise(
            lambda data: torch.div(data * divisor.denominator, divisor.numerator, rounding_mode="floor"),
            self.points(term.coordinate, scope),
        )

    def _window(self, window: Window) -> Axis:
        moves = (window.start.constant, *(factor for _, factor in window.start.terms), window.step)
        if any(self.quantity(move).denominator != 1 for move in moves):
            raise ValueError(f"the window of '{window.name}' does not move in whole steps")
        return Axis(window.start, int(self.quantity(window.step)), 0, max(0, ceil(self.quantity(window.count))))

    def _range(self, extent: Range, scope: Scope) -> Axis:
        lower, upper = self.ceiling(extent.lower, scope), self.ceiling(extent.upper, scope)
        if not lower.data.numel() or not upper.data.numel():
            return Axis(Affine.of(0), 1, 0, 0)
        if _is_moving(extent):
            return Axis(extent.lower, 1, 0, max(0, int(elementwise(torch.sub, upper, lower).data.max())))
        first = int(lower.data.min())
        return Axis(Affine.of(first), 1, 0, max(0, int(upper.data.max()) - first))


def _plus(total: Value, factor: float, points: Value) -> Value:
    return elementwise(lambda data, others: data + others.to(data.dtype) * factor, total, points)


def _is_moving(extent: Range) -> bool:
    """Returns whether both ends depend on coordinates: the axis then counts from the lower one."""
    return bool(extent.lower.terms) and bool(extent.upper.terms)
