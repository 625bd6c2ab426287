"""Computes with linear functions of loop variables, with polynomials of sizes as coefficients: places in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from porter.schedule.polynomial import Polynomial

ZERO = Polynomial()


@dataclass(frozen=True, slots=True)
class Linear:
    """`constant` plus the sum of loop variables times their coefficients; no coefficient is 0, variables sorted."""

    constant: Polynomial = ZERO
    terms: tuple[tuple[str, Polynomial], ...] = ()

    @classmethod
    def of(cls, constant: Polynomial, terms: Mapping[str, Polynomial]) -> Linear:
        """Returns the function with these coefficients, of which some may be 0."""
        return cls(constant, tuple(sorted((name, factor) for name, factor in terms.items() if factor.terms)))

    @classmethod
    def variable(cls, name: str) -> Linear:
        """Returns the loop variable itself."""
        return cls.of(Polynomial(), {name: Polynomial.of(1)})

    @property
    def variables(self) -> frozenset[str]:
        """Returns the loop variables that this depends on."""
        return frozenset(name for name, _ in self.terms)

    def coefficient(self, name: str) -> Polynomial:
        """Returns the coefficient of a loop variable, 0 where it does not occur."""
        return dict(self.terms).get(name, Polynomial())

    def __add__(self, other: Linear) -> Linear:
        total = dict(self.terms)
        for name, factor in other.terms:
            total[name] = total.get(name, Polynomial()) + factor
        return Linear.of(self.constant + other.constant, total)

    def times(self, factor: Polynomial) -> Linear:
        """Returns the function times `factor`."""
        return Linear.of(self.constant * factor, {name: own * factor for name, own in self.terms})

    def without(self, names: Iterable[str]) -> Linear:
        """Returns the function without the terms in `names`."""
        left_out = frozenset(names)
        return Linear(self.constant, tuple(term for term in self.terms if term[0] not in left_out))

    def renamed(self, names: Mapping[str, str]) -> Linear:
        """Returns the function of other loop variables; two that get the same name are added up."""
        total = Linear(self.constant)
        for name, factor in self.terms:
            total += Linear.variable(names.get(name, name)).times(factor)
        return total
