"""Collects the values that host code computes for kernels: sizes and numbers, with telling names."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from porter.ir.tensor.quantities import Quantity
from porter.ir.tile.program import Host
from porter.schedule.polynomial import Monomial, Polynomial


class Names:
    """Names that are taken; a later equal name gets a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def fresh(self, name: str) -> str:
        """Returns `name`, or that with a number, and takes it."""
        number, found = 1, name
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found


class HostValues:
    """Sizes and numbers by name, in the order in which they were asked for."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.sizes: dict[Polynomial, str] = {}
        self.numbers: dict[Quantity, str] = {}

    def size(self, polynomial: Polynomial) -> str:
        """Returns the name of a size that is not constant."""
        if polynomial not in self.sizes:
            word = _word(polynomial)
            is_symbol = polynomial == Polynomial.atom(word)
            self.sizes[polynomial] = word if is_symbol else self._names.fresh(word)
        return self.sizes[polynomial]

    def number(self, quantity: Quantity) -> str:
        """Returns the name of a number that is not constant."""
        if quantity not in self.numbers:
            plain = quantity == Quantity(Fraction(1), quantity.powers) and len(quantity.powers) == 1
            is_parameter = plain and quantity.powers[0][1] == 1
            self.numbers[quantity] = quantity.powers[0][0] if is_parameter else self._names.fresh("scale")
        return self.numbers[quantity]


def host(polynomial: Polynomial) -> Host:
    """Returns the text by which host code computes a size."""
    if not polynomial.terms:
        return Host("0")
    first, *others = sorted(polynomial.terms, key=lambda term: term[1] < 0)
    text = ("-" if first[1] < 0 else "") + _term(first[0], abs(first[1]))
    for monomial, factor in others:
        text += (" - " if factor < 0 else " + ") + _term(monomial, abs(factor))
    return Host(text)


def _term(monomial: Monomial, factor: Fraction) -> str:
    above = [_atom(atom) for atom, power in monomial for _ in range(power)]
    below = [_atom(atom) for atom, power in monomial for _ in range(-power)]
    if factor.numerator != 1 or not above:
        above.insert(0, str(factor.numerator))
    if factor.denominator != 1:
        below.append(str(factor.denominator))
    return " // ".join([" * ".join(above), *below])


def _atom(atom: str) -> str:
    return atom if atom.isidentifier() else f"({atom})"


def _word(polynomial: Polynomial) -> str:
    """Returns a name for a size: its factors, and its divisors."""
    if len(polynomial.terms) != 1 or not all(atom.isidentifier() for atom in polynomial.atoms):
        return "extent"
    ((monomial, factor),) = polynomial.terms
    above = [atom for atom, power in monomial for _ in range(power)]
    below = [atom for atom, power in monomial for _ in range(-power)]
    word = "_".join(above) + ("_per_" + "_".join(below) if below else "")
    return (
        word
        if factor == 1
        else f"{word}_times_{factor.numerator}"
        if factor.denominator == 1 and factor > 0
        else "extent"
    )
