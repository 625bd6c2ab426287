"""Exact numbers that depend on sizes and parameters, and affine functions of coordinates with such coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, prod

Sizes = Mapping[str, Fraction]  # the value of each symbol and of each parameter


@dataclass(frozen=True, slots=True)
class Quantity:
    """`factor` times the product of symbols to their `powers`, plus `offset`; one over that where `inverse`.

    `powers` has each symbol once, sorted, and no exponent 0.
    """

    factor: Fraction
    powers: tuple[tuple[str, int], ...] = ()
    offset: Fraction = Fraction(0)
    inverse: bool = False

    @classmethod
    def of(cls, value: Fraction | int) -> Quantity:
        """Returns the number `value`, at all sizes."""
        return cls(Fraction(value))

    @property
    def constant(self) -> Fraction | None:
        """Returns the number that this is at all sizes; None where there is none."""
        return None if self.powers else self.value({})

    def value(self, sizes: Sizes) -> Fraction:
        """Returns the number at `sizes`. Raises `ZeroDivisionError` where there is none."""
        told = self.factor * prod((sizes[symbol] ** power for symbol, power in self.powers), start=Fraction(1))
        told += self.offset
        return 1 / told if self.inverse else told

    def as_float(self, sizes: Sizes) -> float:
        """Returns the number at `sizes` as floats compute it: one over 0 is infinite, and 0 times that is NaN."""
        powers = (float(sizes[symbol]) ** power if sizes[symbol] or power > 0 else inf for symbol, power in self.powers)
        told = prod(powers, start=float(self.factor)) + float(self.offset)
        if not self.inverse:
            return told
        return 1 / told if told else inf


@dataclass(frozen=True, slots=True)
class Floor:
    """The quotient of a coordinate and `divisor`, rounded down."""

    coordinate: str
    divisor: Quantity


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant` plus the sum of coordinates, or of their quotients, each times its coefficient.

    No coefficient is 0.
    """

    constant: Quantity
    terms: tuple[tuple[str | Floor, Quantity], ...] = ()

    @classmethod
    def of(cls, value: Fraction | int) -> Affine:
        """Returns the number `value`, at all coordinates."""
        return cls(Quantity.of(value))
