"""Groups the items of sums, products and extremes by reductions, and finds the elements each of them reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from porter.lift.forms import (
    MAXIMUM,
    MINIMUM,
    PRODUCT,
    SUM,
    Argument,
    Extreme,
    Form,
    Forms,
    Gather,
    Product,
    Read,
    Weighted,
)
from porter.lift.nodes import NotLiftedError

Part = tuple[str, Fraction]  # the skeleton of items, and what sets them apart among those of one skeleton
Place = tuple[int, int]  # an index, and the extent of its axis
Split = Mapping[Part, list[Weighted]]
COMBINED = (MAXIMUM, MINIMUM, SUM, PRODUCT)
_MANY = -1  # in place of an index that differs among the items of a nested reduction
_LEAST_FOR_COMMON = 3  # items, of which all but some have one weight


class Items:
    """Items of forms; `shapes` are the extents of the inputs."""

    def __init__(self, forms: Forms, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._forms = forms
        self.shapes = shapes
        self._splits: dict[tuple[Form, str], tuple[Fraction, Split]] = {}
        self._places: dict[Form, tuple[Place, ...]] = {}

    def split(self, form: Form, kind: str) -> tuple[Fraction, Split]:
        """Returns a form as a `kind`: the constant of a sum, and its items, grouped by reduction."""
        if (form, kind) not in self._splits:
            self._splits[form, kind] = self._split(form, kind)
        return self._splits[form, kind]

    def _split(self, form: Form, kind: str) -> tuple[Fraction, Split]:
        key = self._forms[form]
        constant = Fraction(0)
        found: dict[Part, list[Weighted]] = {}
        if kind == SUM:
            constant, items = self._forms.linear(form)
        elif kind == PRODUCT:
            one = () if self._forms.value(form) == 1 else ((form, Fraction(1)),)
            items = key.factors if isinstance(key, Product) else one
        else:
            own = key.items if isinstance(key, Extreme) and key.kind == kind else (form,)
            items = tuple((item, Fraction(1)) for item in own)
        for item, weight in items:
            apart = weight if kind == PRODUCT else Fraction(0)
            found.setdefault((self._forms.skeleton(item), apart), []).append((item, weight))
        return constant, _with_remainders(found) if kind == SUM else found

    def places(self, form: Form) -> tuple[Place, ...]:
        """Returns the indices of all elements that a form reads, in an order that its skeleton decides.

        They distinguish the items of a reduction. An index that differs among the items of a nested one is `_MANY`.
        """
        if form not in self._places:
            self._places[form] = tuple(self._gathered(form))
        return self._places[form]

    def _gathered(self, form: Form) -> Iterator[Place]:
        key = self._forms[form]
        if isinstance(key, Read):
            shape = self.shapes[key.tensor]
            if shape:
                yield from zip(map(int, np.unravel_index(key.at, shape)), shape, strict=True)
        elif isinstance(key, Gather):
            constant, _ = self._forms.linear(key.place)
            shape = self.shapes[key.tensor]
            if not 0 <= constant < prod(shape):
                raise NotLiftedError("an address that data decide begins outside of its input")
            yield from zip(map(int, np.unravel_index(int(constant), shape)), shape, strict=True)
            yield from self.places(gathered_term(self._forms, key.place))
        elif key.kind in COMBINED:
            for _, items in sorted(self.split(form, key.kind)[1].items()):
                yield from _common([self.places(item) for item, _ in items])
        elif not isinstance(key, Argument):
            for part in self._forms.operands(form):
                yield from self.places(part)


def gathered_term(forms: Forms, place: Form) -> Form:
    """Returns the one datum that an address depends on. Raises `NotLiftedError` where there are several."""
    terms = forms.linear(place)[1]
    if len(terms) != 1:
        raise NotLiftedError("an address is computed from several elements")
    return terms[0][0]


def _common(rows: Sequence[tuple[Place, ...]]) -> list[Place]:
    if len({len(row) for row in rows}) != 1:
        raise NotLiftedError("the items of a reduction are not alike")
    return [column[0] if len(set(column)) == 1 else (_MANY, column[0][1]) for column in zip(*rows, strict=True)]


def _with_remainders(found: dict[Part, list[Weighted]]) -> Split:
    """Splits items into a weight that most of them have, and the rest of the weights of the others.

    In `x_j` minus the mean every element has the weight -1/n, and one of them 1 besides.
    """
    told: dict[Part, list[Weighted]] = {}
    for (skeleton, _), items in found.items():
        counted = Counter(weight.as_integer_ratio() for _, weight in items)  # hashing a fraction inverts it
        ratio, times = counted.most_common(1)[0]
        if len(items) >= _LEAST_FOR_COMMON and len(counted) == 2 and times > 1:
            common = Fraction(*ratio)
            told[skeleton, Fraction(0)] = [(item, common) for item, _ in items]
            told[skeleton, Fraction(1)] = [(item, own - common) for item, own in items if own != common]
        else:
            told[skeleton, Fraction(0)] = items
    return told
