"""Sums of products of whole numbers, by name: what the extents of tensors are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd

Factors = tuple[str, ...]  # sorted


@dataclass(frozen=True)
class Polynomial:
    """`terms` maps the factors of each product to how often it is added; none is added 0 times."""

    terms: Mapping[Factors, int]

    @classmethod
    def number(cls, value: int) -> Polynomial:
        """Returns a number."""
        return cls({(): value} if value else {})

    @classmethod
    def name(cls, name: str) -> Polynomial:
        """Returns what goes by a name."""
        return cls({(name,): 1})

    @property
    def constant(self) -> int | None:
        """The number that it is; None if names are in it."""
        return self.terms.get((), 0) if not self.names else None

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(name for factors in self.terms for name in factors)

    def __add__(self, other: Polynomial) -> Polynomial:
        total = Counter(self.terms)
        for factors, count in other.terms.items():
            total[factors] += count
        return Polynomial({factors: count for factors, count in total.items() if count})

    def __neg__(self) -> Polynomial:
        return self * Polynomial.number(-1)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        total = Counter[Factors]()
        for ours, count in self.terms.items():
            for theirs, times in other.terms.items():
                total[tuple(sorted((*ours, *theirs)))] += count * times
        return Polynomial({factors: count for factors, count in total.items() if count})

    def with_names(self, meanings: Mapping[str, Polynomial]) -> Polynomial:
        """Returns it with what some of its names stand for."""
        if not self.names & meanings.keys():
            return self
        one = Polynomial.number(1)
        products = (
            reduce(
                Polynomial.__mul__, (meanings.get(n, Polynomial.name(n)) for n in factors), one * Polynomial.number(c)
            )
            for factors, c in self.terms.items()
        )
        return reduce(Polynomial.__add__, products, Polynomial({}))

    def over(self, divisor: Polynomial) -> Polynomial | None:
        """Returns it divided by a single product; None where that leaves a rest."""
        if len(divisor.terms) != 1:
            return None
        ((factors, count),) = divisor.terms.items()
        found = {}
        for own, times in self.terms.items():
            rest = Counter(own)
            rest.subtract(factors)
            if times % count or min(rest.values(), default=0) < 0:
                return None
            found[tuple(sorted(rest.elements()))] = times // count
        return Polynomial(found)

    def primitive(self) -> Polynomial:
        """Returns it without the factors that all its products share: `b * w - 3 * b * s` is 0 where `w - 3 * s` is."""
        if not self.terms:
            return self
        shared = reduce(lambda a, b: a & b, map(Counter, self.terms))
        whole = gcd(*self.terms.values())
        return self.over(Polynomial({tuple(sorted(shared.elements())): whole})) or self

    def solutions(self) -> Iterator[tuple[str, Polynomial]]:
        """Yields the names that being 0 gives a value by the others, each with it: `w` is `3 * s` for `w - 3 * s`."""
        for factors, count in self.terms.items():
            if len(factors) == 1 and abs(count) == 1:
                rest = Polynomial({f: -c * count for f, c in self.terms.items() if f != factors})
                if factors[0] not in rest.names:
                    yield factors[0], rest

    def __str__(self) -> str:
        """Returns it as a contract writes it: `3 * n + m`."""
        ordered = sorted(self.terms.items(), key=lambda item: (item[1] < 0, -len(item[0]), item[0]))
        text = ""
        for factors, count in ordered:
            size = abs(count)
            product = " * ".join((*((str(size),) if size != 1 or not factors else ()), *factors))
            sign = " - " if count < 0 else " + " if text else ""
            text += (sign if text else sign.strip()) + product
        return text or "0"
