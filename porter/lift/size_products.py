"""Recognises the numbers of all probes as products of powers of the sizes at which they were seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.ir.tensor.quantities import Quantity, Sizes
from porter.lift.nodes import NotLiftedError

_OFFSETS = (Fraction(0), Fraction(1), Fraction(-1))
_MOST_TOGETHER = 4  # symbols of one product
_DENOMINATOR = 1000  # the largest of a factor that is taken for a fraction
_PLAIN = 8
_MOST_COMPARED = 4
_EXACTLY = 1e-9  # relative: what host code lost when it divided sizes
_NEARLY = 1e-6  # relative: floats of products that are compared as fractions afterwards
_Powers = tuple[tuple[str, int], ...]
_Floats = NDArray[np.float64]


class Quantities:
    """Recognises numbers over `sizes`, those of each probe.

    All products are compared as floats at once, and those that fit as fractions: one by one took a third of the time
    of lifting a group norm.
    """

    def __init__(self, sizes: Sequence[Sizes]) -> None:
        self._sizes = sizes
        names = sorted(sizes[0])
        never_zero = {name for name in names if all(at[name] for at in sizes)}
        self._powers = [
            powers for powers in _monomials(names) if all(power > 0 or name in never_zero for name, power in powers)
        ]
        values = {name: np.array([float(at[name]) for at in sizes]) for name in names}
        products = [np.prod([values[name] ** power for name, power in powers], axis=0) for powers in self._powers]
        self._products = np.array(products).reshape(len(products), len(sizes))

    def fitted(self, values: Sequence[Fraction]) -> Quantity:
        """Returns the simplest quantity that has `values` at the sizes.

        Raises `NotLiftedError` where no product of powers, plus or minus 1, or one over that, has them.
        """
        if all(value == values[0] for value in values):
            return Quantity.of(values[0])
        found = list(itertools.islice(self._fitting(values), _MOST_COMPARED))
        if not found:
            shown = ", ".join(f"{float(value):.6g}" for value in values)
            raise NotLiftedError(f"a number has no known form over the sizes: {shown}")
        return next((quantity for quantity in found if _is_plain(quantity.factor)), found[0])

    def _fitting(self, values: Sequence[Fraction]) -> Iterator[Quantity]:
        """Yields the quantities that have `values`, simple ones first."""
        for offset in _OFFSETS:
            for inverse in (False, True):
                if inverse and not (offset and all(values)):
                    continue
                wanted = [(1 / value if inverse else value) - offset for value in values]
                for number in self._proportional(np.array([float(value) for value in wanted])):
                    factor = self._factor(wanted, self._powers[number])
                    if factor is not None:
                        yield Quantity(factor, self._powers[number], offset, inverse)

    def _proportional(self, wanted: _Floats) -> list[int]:
        """Returns the numbers of the products that are nearly proportional to what is wanted."""
        zero = self._products == 0
        alike = (zero == (wanted == 0)).all(axis=1) & ~zero.all(axis=1)
        ratios = np.divide(wanted, self._products, out=np.full(zero.shape, np.nan), where=~zero)[alike]
        first, last = np.nanmin(ratios, axis=1), np.nanmax(ratios, axis=1)
        near = last - first <= _NEARLY * np.maximum(np.abs(first), np.abs(last))
        found: list[int] = np.flatnonzero(alike)[near].tolist()
        return found

    def _factor(self, wanted: Sequence[Fraction], powers: _Powers) -> Fraction | None:
        """Returns the factor between a product of powers and the numbers; None where there is none."""
        told = [prod((at[symbol] ** power for symbol, power in powers), start=Fraction(1)) for at in self._sizes]
        ratios = [value / product for value, product in zip(wanted, told, strict=True) if product]
        first = ratios[0]
        if first == 0 or any(abs(ratio - first) > _EXACTLY * abs(first) for ratio in ratios):
            return None
        near = first.limit_denominator(_DENOMINATOR)
        return near if abs(near - first) <= _EXACTLY * abs(first) else first


def _is_plain(factor: Fraction) -> bool:
    """Returns whether host code would write such a factor: other factors are often a coincidence of the sizes."""
    return max(abs(factor.numerator), factor.denominator) <= _PLAIN


def _monomials(symbols: Sequence[str]) -> Iterator[_Powers]:
    """Yields products of powers, simple ones first."""
    yield from (((symbol, power),) for power in (1, -1, 2, -2, 3, -3) for symbol in symbols)
    for count in range(2, min(len(symbols), _MOST_TOGETHER) + 1):
        for chosen in itertools.combinations(symbols, count):
            for powers in itertools.product((1, -1), repeat=count):
                yield tuple(zip(chosen, powers, strict=True))
    for count in range(2, min(len(symbols), _MOST_TOGETHER) + 1):  # where two axes have one extent
        for chosen in itertools.combinations(symbols, count):
            for squared, powers in itertools.product(range(count), itertools.product((1, -1), repeat=count)):
                yield tuple(
                    (name, power * (2 if place == squared else 1))
                    for place, (name, power) in enumerate(zip(chosen, powers, strict=True))
                )
