"""Recognises sums of squared deviations from a mean, in any spelling.

Welford's recurrence, its parallel merges, `E[x^2] - E[x]^2` and a sum of `(x - mean)^2` are one quadratic form in the
elements. There is one candidate for it, `c * sum (x_k - mean)^2`, tested at random points modulo a prime: expanding the
form in fractions took 120 s where the test takes 1 to 3 s (a batch norm of 40 elements a channel).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from random import Random

from porter.lift.forms import PRODUCT, SUM, Factor, Form, Forms, Product, Sum, Weighted

_PRIME = (1 << 61) - 1
_POINTS = 2
_Linear = Mapping[Form, Fraction]
_Square = tuple[Fraction, Factor, Factor]  # weight, and the two factors


def centred(forms: Forms, constant: Fraction, terms: Mapping[Form, Fraction]) -> Form | None:
    """Returns `constant` and `terms` with squares written as deviations from a mean; None where they are not."""
    squares, rest = _squares(forms, terms)
    told: list[_Linear] = []
    for group in _connected(squares):
        own = _deviations(forms, group)
        if own is None:
            return None
        told.append(own)
    for own in told:
        for term, weight in own.items():
            rest[term] = rest.get(term, Fraction(0)) + weight
    return _sum(forms, constant, rest) if told else None


def _connected(squares: Sequence[_Square]) -> list[list[_Square]]:
    """Returns the squares in groups that have no element in common."""
    groups: list[tuple[frozenset[Form], list[_Square]]] = []
    for square in squares:
        atoms, members = square[1].atoms | square[2].atoms, [square]
        apart = []
        for own, others in groups:
            if own is not atoms and own.isdisjoint(atoms):
                apart.append((own, others))
            else:
                atoms, members = atoms | own, others + members
        groups = [*apart, (atoms, members)]
    return [members for _, members in groups]


def _deviations(forms: Forms, squares: Sequence[_Square]) -> _Linear | None:
    """Returns squares as weighted deviations from the mean of all their elements; None if they are not."""
    atoms = sorted(frozenset[Form]().union(*(part for _, left, right in squares for part in (left.atoms, right.atoms))))
    if len(atoms) < 3:  # the square of a difference is one of two deviations
        return None
    first = atoms[0]
    products = (w * left.weights.get(first, 0) * right.weights.get(first, 0) for w, left, right in squares)
    weight = sum(products, Fraction(0))
    told = [_value(squares, number) for number in range(_POINTS)]
    if weight == 0 and not any(told):
        return {}
    if 2 * len(squares) < len(atoms) - 1:  # a product of two factors has the rank 2, deviations of n have n - 1
        return None
    trials = [_trial(atoms, number) for number in range(_POINTS)]
    if all(one == modulo(weight) * plain % _PRIME for one, (plain, _) in zip(told, trials, strict=True)):
        return {_square(forms, atom): weight for atom in atoms}
    scale = weight / (1 - Fraction(1, len(atoms)))
    if any(one != modulo(scale) * deviations % _PRIME for one, (_, deviations) in zip(told, trials, strict=True)):
        return None
    forms.used.add("squared deviations from a mean")
    mean = Fraction(-1, len(atoms))
    alike = [(atom, mean) for atom in atoms]
    parts = ((*alike[:place], (atom, mean + 1), *alike[place + 1 :]) for place, atom in enumerate(atoms))
    return {_square(forms, forms.put(Sum(SUM, Fraction(0), terms))): scale for terms in parts}


def is_square_of_sum(forms: Forms, form: Form) -> bool:
    """Returns whether a form is the product of two factors, a sum among them."""
    factors = _factors(forms, form)
    return factors is not None and any(forms.kind(factor) == SUM for factor in factors)


def _factors(forms: Forms, form: Form) -> tuple[Form, Form] | None:
    key = forms[form]
    if not isinstance(key, Product) or any(power not in (1, 2) for _, power in key.factors):
        return None
    spread = [factor for factor, power in key.factors for _ in range(int(power))]
    return (spread[0], spread[1]) if len(spread) == 2 else None


def _squares(forms: Forms, terms: Mapping[Form, Fraction]) -> tuple[list[_Square], dict[Form, Fraction]]:
    squares: list[_Square] = []
    rest: dict[Form, Fraction] = {}
    for term, weight in terms.items():
        factors = _factors(forms, term)
        told = [_factor(forms, factor) for factor in factors or ()]
        if not told or any(factor.constant for factor in told):
            rest[term] = weight
        else:
            squares.append((weight, told[0], told[1]))
    return squares, rest


def _factor(forms: Forms, form: Form) -> Factor:
    """Returns `form` as a factor, computed once: each of n squares may depend on n elements."""
    found = forms.factors.get(form)
    if found is None:
        constant, terms = forms.linear(form)
        values = tuple(
            sum(modulo(weight) * _coordinate(atom, number) for atom, weight in terms) % _PRIME
            for number in range(_POINTS)
        )
        found = forms.factors[form] = Factor(constant, dict(terms), frozenset(atom for atom, _ in terms), values)
    return found


def _value(squares: Sequence[_Square], number: int) -> int:
    """Returns the form at one point."""
    values = (modulo(w) * (left.values[number] * right.values[number] % _PRIME) for w, left, right in squares)
    return sum(values) % _PRIME


def _trial(atoms: Sequence[Form], number: int) -> tuple[int, int]:
    """Returns the sum of squares and that of squared deviations at one point."""
    point = [_coordinate(atom, number) for atom in atoms]
    plain = sum(value * value for value in point) % _PRIME
    total = sum(point) % _PRIME
    return plain, (plain - total * total * pow(len(atoms), -1, _PRIME)) % _PRIME


def _square(forms: Forms, form: Form) -> Form:
    return forms.put(Product(PRODUCT, ((form, Fraction(2)),)))


@lru_cache(maxsize=1 << 16)
def _coordinate(atom: Form, number: int) -> int:
    """Returns the value of an element at a random point."""
    return Random(f"point {number} {atom}").randrange(_PRIME)


def modulo(value: Fraction) -> int:
    """Returns the residue of a fraction."""
    return _modulo(value.numerator, value.denominator)


@lru_cache(maxsize=1 << 12)
def _modulo(numerator: int, denominator: int) -> int:
    return numerator * pow(denominator, -1, _PRIME) % _PRIME


def _sum(forms: Forms, constant: Fraction, terms: _Linear) -> Form:
    kept: tuple[Weighted, ...] = tuple(sorted((term, weight) for term, weight in terms.items() if weight))
    if not kept:
        return forms.number(constant)
    if constant == 0 and len(kept) == 1 and kept[0][1] == 1:
        return kept[0][0]
    return forms.put(Sum(SUM, constant, kept))
