"""Draws the sizes and parameters at which an operator is executed on symbols.

A number of the program is recognised by how it changes over the probes; so no two products of symbols may be
proportional over them, and every extent is at least 3 where sizes allow: among two elements a mean and a remainder, or
an arg-maximum and an arg-minimum, are the same graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from math import prod
from random import Random

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract, ScalarArg, Workload
from porter.contract.model.expressions import names_in, number
from porter.contract.model.validate import satisfies
from porter.contract.workload.workloads import choose_sizes
from porter.ir.tensor.quantities import Sizes
from porter.lift.nodes import NotLiftedError

_COUNT = 5  # three were enough for 41 operators, two wrong for three of them; one may lie badly
_COUNT_OF_MANY = 8  # where so many values change that four let several products pass for one another
_MANY_VALUES = 5
_POOL = 60
_DRAWN_SETS = 100
_EQUAL = 5
_ALIKE = 20  # products that are confused are as bad as one symbol that has one value in two probes
_FEW_SYMBOLS = (4, 5, 7, 9, 11, 13)
_THREE_SYMBOLS = (3, 4, 5, 6, 7)
_MANY_SYMBOLS = (2, 3, 4, 5, 6)

_MULTIPLES = (1, 1, 2, 3, 4)
_FARTHER = (1, 8, 16)  # times as large, where conditions leave none of the sizes that were drawn
_MOST_BLOCKS = 64  # where extents of the grid are symbols of their own
_MOST_BOUND = 12  # the value of a bound that no tensor has as an extent
_MOST_BEYOND = 400  # of a size that crosses a block
_TRIALS = 40  # of sizes drawn at random, before some are looked for
_MOST_WORK = 90_000  # elements that windows read
_WHOLE = (1, 2, 2, 3, 3, 3, 4, 4, 5, 6)  # values of whole parameters, such as the extent of a window
_FLOATS = frozenset({"float", "double", "half", "at::Half", "c10::Half"})
_FACTORS = (Fraction(71, 100), Fraction(113, 100), Fraction(89, 100), Fraction(137, 100), Fraction(97, 100))
_NOUGHT = (Fraction(23, 100), Fraction(41, 100), Fraction(59, 100), Fraction(83, 100))  # in place of a parameter of 0
_EXPONENTS = (0, 1, -1)
_MOST_FACTORS = 4  # of products that have to differ
_MOST_TOLD_APART = 7  # symbols of which products are looked at


@dataclass(frozen=True)
class Probe:
    """Sizes, and the values of whole and of fractional parameters."""

    sizes: Mapping[str, int]
    whole: Mapping[str, int] = field(default_factory=dict)
    fractional: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def values(self) -> Sizes:
        """All of them by name."""
        whole = {name: Fraction(value) for name, value in (*self.sizes.items(), *self.whole.items())}
        return {**whole, **self.fractional}

    def applied(self, contract: Contract) -> Contract:
        """Returns the contract with this probe as its workload."""
        arguments = tuple(
            replace(a, value=repr(float(self.fractional[a.name])))
            if isinstance(a, ScalarArg) and a.name in self.fractional
            else a
            for a in contract.arguments
        )
        workload = Workload("probe", self.sizes, seed=0, scalars=dict(self.whole))
        return replace(contract, arguments=arguments, workloads=(workload,))


def parameters(contract: Contract) -> tuple[tuple[ScalarArg, ...], tuple[ScalarArg, ...]]:
    """Returns the whole and the fractional parameters of a contract: scalars that no size decides."""
    free = [a for a in contract.arguments if isinstance(a, ScalarArg) and not names_in(a.value) and not a.choices]
    fractional = tuple(a for a in free if a.type in _FLOATS)
    return tuple(a for a in free if a.type not in _FLOATS and a.type != "bool"), fractional


@dataclass(frozen=True)
class Style:
    """A way to draw sizes: as multiples of `multiple`, with parameters that are `fixed` to the contract's value.

    Sizes that are `crossing` are larger than the numbers given for them. In probes that are `covering` a size that no
    tensor has, such as a number of rows beside a pointer, is as large as the axis it bounds could be.
    """

    fixed: frozenset[str] = frozenset()
    multiple: int = 1
    covering: bool = False
    crossing: tuple[tuple[str, int], ...] = ()


PLAIN = Style()


def chosen(
    contract: Contract,
    seed: int,
    accepts: Callable[[Probe], bool],
    style: Style = PLAIN,
) -> tuple[Probe, ...]:
    """Returns probes that the operator `accepts`, over which products of symbols differ as much as they can.

    Raises `NotLiftedError` where it takes too few of them.
    """
    random = Random(f"probes {seed}")
    drawn = (_Draw(contract, random, style).probe(turn) for turn in range(_POOL))
    pool = list({repr(probe): probe for probe in drawn if probe is not None}.values())
    taken: dict[str, bool] = {}
    while True:
        count = _COUNT_OF_MANY if pool and len(pool[0].values) >= _MANY_VALUES else _COUNT
        if len(pool) < count:
            raise NotLiftedError(f"it takes {sum(taken.values())} of {_POOL} sizes that were drawn")
        sets = (random.sample(pool, count) for _ in range(_DRAWN_SETS))
        best = min(sets, key=lambda probes: _confusions([probe.values for probe in probes]))
        for probe in best:
            if repr(probe) not in taken:
                taken[repr(probe)] = accepts(probe)
        pool = [probe for probe in pool if taken.get(repr(probe), True)]
        if all(taken[repr(probe)] for probe in best):
            return tuple(best)


_Sized = tuple[dict[str, int], dict[str, int]]  # sizes, and whole parameters


@dataclass(frozen=True)
class _Draw:
    """Draws probes of a contract."""

    contract: Contract
    random: Random
    style: Style

    def probe(self, turn: int) -> Probe | None:
        """Returns a probe that meets the contract's conditions; None where none is found."""
        _, fractional = parameters(self.contract)
        drawn = [self._sized() for _ in range(_TRIALS)]
        fitting = [one for one in drawn if satisfies(self.contract, one[0])]
        if len(fitting) < _TRIALS // 2:  # `n % 4 == 0` leaves few of the small sizes
            drawn = [(self._scaled(sizes, _MULTIPLES), whole) for sizes, whole in drawn]
            fitting += [one for one in drawn if satisfies(self.contract, one[0])]
            self.random.shuffle(fitting)
        sizes, told = next(
            (one for one in fitting if _work(*one) <= _MOST_WORK), min(fitting or drawn, key=lambda o: _work(*o))
        )
        if not fitting:
            found = choose_sizes(self.contract, {}, self._scaled(sizes, _FARTHER))
            if found is None:
                return None
            sizes = found
        values = {a.name: _fraction(a, turn, place, self.random) for place, a in enumerate(fractional)}
        covering = self._covering(sizes)
        return Probe(covering if satisfies(self.contract, covering) else sizes, told, values)

    def _covering(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Returns `sizes` with blocks for all elements where an extent of the grid has no other meaning."""
        extents = {name for tensor in self.contract.tensors for extent in tensor.shape for name in names_in(extent)}
        scalars = {name for a in self.contract.arguments if isinstance(a, ScalarArg) for name in names_in(a.value)}
        whole = prod(size for name, size in sizes.items() if name in extents)
        blocks = [name for name in sizes if name not in extents | scalars]
        wanted = dict.fromkeys(blocks, round(_MOST_BLOCKS ** (1 / max(len(blocks), 1))))
        if self.style.covering:
            wanted |= dict.fromkeys(scalars & sizes.keys() - extents, _MOST_BOUND)
        return {name: max(size, min(whole, wanted.get(name, 0))) for name, size in sizes.items()}

    def _sized(self) -> _Sized:
        free = [a for a in parameters(self.contract)[0] if a.name not in self.style.fixed]
        told = {a.name: _whole_value(a, self.random) for a in free}
        sizes = _targets(self.contract.symbols, list(told.values()), self.random)
        drawn = {symbol: size * self.style.multiple for symbol, size in sizes.items()}
        for symbol, least in self.style.crossing:
            drawn[symbol] = least + self.random.randrange(3, max(12, min(least, _MOST_BEYOND)))
        return drawn, told

    def _scaled(self, sizes: Mapping[str, int], factors: Sequence[int]) -> dict[str, int]:
        """Returns `sizes`, those that a condition is about times one of `factors` each."""
        asked = frozenset[str]().union(*map(names_in, self.contract.conditions))
        return {name: size * self.random.choice(factors) if name in asked else size for name, size in sizes.items()}


def _work(sizes: Mapping[str, int], whole: Mapping[str, int]) -> int:
    """Returns how many elements are read, where every axis but the outer ones has windows."""
    window: int = max(whole.values(), default=1) ** max(1, len(sizes) - 2)
    return prod(sizes.values()) * window


def _targets(symbols: Sequence[str], whole: Sequence[int], random: Random) -> dict[str, int]:
    """Returns sizes, of which the inner ones hold several windows where there are whole parameters."""
    if whole:
        largest, second = (*sorted(whole, reverse=True), 1)[:2]
        window = (largest - 1) * max(second, 1) + 1
        outer = symbols[: min(2, len(symbols) - 1)]
        inner = {symbol: window + random.randrange(3, 10) for symbol in symbols}
        return inner | dict(zip(outer, random.sample((2, 3, 4), len(outer)), strict=True))
    pool = _FEW_SYMBOLS if len(symbols) < 3 else _THREE_SYMBOLS if len(symbols) == 3 else _MANY_SYMBOLS
    values = random.sample(pool, len(symbols)) if len(symbols) <= len(pool) else random.choices(pool, k=len(symbols))
    return dict(zip(symbols, values, strict=True))


def _whole_value(argument: ScalarArg, random: Random) -> int:
    own = int(number(argument.value, {}))
    if own < 0:
        return own
    return random.choice(_WHOLE if own > 1 else (1, 2, 3) if own else (0, 1, 1, 2))


def _fraction(argument: ScalarArg, turn: int, place: int, random: Random) -> Fraction:
    """Returns a value near the contract's own, so that the operator's conditions on it still hold.

    It has six digits: it is the shortest decimal of the single precision float that a kernel gets.
    """
    own = Fraction(repr(float(number(argument.value, {}))))
    jitter = Fraction(random.randrange(1, 1000), 100_000)
    factor = _FACTORS[(turn + place) % len(_FACTORS)] + jitter
    if own == 0:
        return _NOUGHT[(turn + place) % len(_NOUGHT)] + jitter
    value = 1 - (1 - own) * factor / 2 if Fraction(1, 2) < own < 1 else own * factor
    return Fraction(f"{float(value):.6g}")


def _confusions(values: Sequence[Sizes]) -> int:
    """Returns how many products of symbols are proportional to another over the probes, or do not change at all."""
    symbols = [name for name in values[0] if all(at[name] for at in values)][:_MOST_TOLD_APART]
    logarithms = np.log(
        np.array([[abs(float(at[name])) for at in values] for name in symbols]).reshape(-1, len(values))
    )
    told = _powers(len(symbols)) @ logarithms
    rows = np.round(told - told[:, :1], 9) + 0.0  # which has no negative zero: rows that are equal have equal bytes
    distinct = set(rows.view(np.dtype((np.void, rows.itemsize * len(values)))).reshape(-1).tolist())
    alike = sum(len(values) - len({at[name] for at in values}) for name in symbols)
    # As many groups as channels are groups of one, which are no groups.
    equal = sum(len(at) - len(set(at.values())) for at in values)
    return len(told) - len(distinct) + _ALIKE * alike + _EQUAL * equal


@cache
def _powers(symbols: int) -> NDArray[np.int64]:
    """Returns the exponents of `symbols` factors in the products that have to differ."""
    every = itertools.product(_EXPONENTS, repeat=symbols)
    return np.array([p for p in every if sum(map(abs, p)) <= _MOST_FACTORS])
