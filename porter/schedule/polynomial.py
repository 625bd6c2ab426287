"""Computes with extents, strides and offsets: sums of products of sizes with exact coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from porter.contract.model.expressions import parsed, render
from porter.contract.model.syntax import Binary, Name, Node, Number, Unary
from porter.ir.tensor.quantities import Quantity

Monomial = tuple[tuple[str, int], ...]  # each atom once, sorted, with its exponent, which is not 0


class NotSchedulableError(Exception):
    """A tensor program, or a request of a schedule, cannot be expressed here; the message says what."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The sum of monomials times their coefficients; no coefficient is 0, and monomials stand sorted.

    An atom is a size, or the text of a whole expression over sizes that is no polynomial (`(n + 3) // 4`).
    """

    terms: tuple[tuple[Monomial, Fraction], ...] = ()

    @classmethod
    def of(cls, value: Fraction | int) -> Polynomial:
        """Returns a constant."""
        return cls._from({(): Fraction(value)})

    @classmethod
    def atom(cls, name: str) -> Polynomial:
        """Returns a size, or the value of an opaque expression."""
        return cls((((((name, 1),)), Fraction(1)),))

    @classmethod
    def of_quantity(cls, quantity: Quantity) -> Polynomial:
        """Returns a quantity. Raises `NotSchedulableError` for one over a sum."""
        if quantity.inverse and quantity.offset:
            raise NotSchedulableError("an index or extent is one over a sum of sizes")
        sign = -1 if quantity.inverse else 1
        factor = 1 / quantity.factor if quantity.inverse else quantity.factor
        powers = tuple((name, sign * power) for name, power in quantity.powers)
        return cls._from({powers: factor}) + cls.of(quantity.offset)

    @classmethod
    def of_extent(cls, text: str) -> Polynomial:
        """Returns the value of an extent as a contract writes it."""
        return _of_node(parsed(text))

    @classmethod
    def _from(cls, terms: Mapping[Monomial, Fraction]) -> Polynomial:
        return cls(tuple(sorted((monomial, factor) for monomial, factor in terms.items() if factor)))

    @property
    def constant(self) -> Fraction | None:
        """The number that this is at all sizes; None where it depends on one."""
        if not self.terms:
            return Fraction(0)
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def atoms(self) -> frozenset[str]:
        """Returns the sizes and opaque expressions that occur."""
        return frozenset(atom for monomial, _ in self.terms for atom, _ in monomial)

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.terms)
        for monomial, factor in other.terms:
            total[monomial] = total.get(monomial, Fraction(0)) + factor
        return Polynomial._from(total)

    def __neg__(self) -> Polynomial:
        return self * Polynomial.of(-1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Monomial, Fraction] = {}
        for left, factor in self.terms:
            for right, other_factor in other.terms:
                monomial = _product(left, right)
                total[monomial] = total.get(monomial, Fraction(0)) + factor * other_factor
        return Polynomial._from(total)

    def over(self, divisor: Polynomial) -> Polynomial:
        """Returns the quotient by a single monomial. Raises `NotSchedulableError` for any other divisor."""
        if len(divisor.terms) != 1:
            raise NotSchedulableError("a size is divided by a sum of sizes")
        ((monomial, factor),) = divisor.terms
        inverse = tuple((atom, -power) for atom, power in monomial)
        return self * Polynomial._from({inverse: 1 / factor})

    def value(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Returns the number at `sizes`, which has every atom."""
        total = Fraction(0)
        for monomial, factor in self.terms:
            for atom, power in monomial:
                factor *= sizes[atom] ** power  # noqa: PLW2901 - the coefficient becomes the term's value
            total += factor
        return total


def product(parts: Iterable[Polynomial]) -> Polynomial:
    """Returns the product of all `parts`."""
    total = Polynomial.of(1)
    for part in parts:
        total *= part
    return total


def _product(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((atom, power) for atom, power in powers.items() if power))


def _of_node(node: Node) -> Polynomial:
    match node:
        case Number(int() as literal):
            return Polynomial.of(literal)
        case Name(name):
            return Polynomial.atom(name)
        case Unary("-", operand):
            return -_of_node(operand)
        case Binary("+", left, right):
            return _of_node(left) + _of_node(right)
        case Binary("-", left, right):
            return _of_node(left) - _of_node(right)
        case Binary("*", left, right):
            return _of_node(left) * _of_node(right)
        case Binary("/", left, right):  # of sizes, which are not below zero: the same in every language as this
            return Polynomial.atom(render(Binary("//", left, right)))
    return Polynomial.atom(render(node))
