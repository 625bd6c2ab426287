"""Chooses workloads at which the numbers of a program matter: its tiles, steps and limits.

A loop over rows by 1,024 comes round again where there are 1,025 of them; a tile of 128 columns is half masked with 97.
Each axis is put next to each number that original and candidate name, where no workload has that yet, while the others
are small or next to a number, too. Each choice that the contract has workloads for, of element types or of arguments,
has its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from random import Random

from porter.contract.model.contract import Contract, Distribution, ScalarArg, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.reference.drawn_numbers import may_be_unmeant
from porter.evaluate.reference.size_space import LARGEST, PRODUCT, TILE, Axis, SizeSpace

# How much a number tells: what the candidate alone has may be wrong.
_ANY, _NEW = 0.6, 1.5
_LEAST_OF_PRODUCTS = 32
_VECTORS = (2, 4, 8, 16)
_MOST_NUMBERS = 32
_MOST, _MOST_CHOICES, _MOST_OF_CHOICE = 22, 6, 2
# Milliseconds, and more for each operation of what is interpreted: that takes longer at all other workloads, too.
_BUDGET_MS, _BUDGET_OF_CHOICE_MS, _BUDGET_OF_OPERATION = 1_000.0, 200.0, 0.005
_LARGEST_ARGUMENT = 4_096  # a larger one is not a size but a seed or an address


@dataclass(frozen=True, slots=True)
class Named:
    """The whole numbers that a candidate's code and launches name, and how many operations its kernels have.

    No operations count where kernels are compiled for the CPU.
    """

    numbers: frozenset[int] = frozenset()
    operations: int = 0

    def __or__(self, other: Named) -> Named:
        """Returns what both name."""
        return Named(self.numbers | other.numbers, max(self.operations, other.operations))


Choice = tuple[tuple[tuple[str, DType], ...], tuple[tuple[str, float], ...]]


def telling_workloads(
    contract: Contract, own: Named, others: Set[int], fixed: Mapping[str, int], seed: int
) -> tuple[Workload, ...]:
    """Returns workloads beyond those of `contract`; the candidate names its `own` numbers, `others` are the original's.

    `fixed` sizes stay.
    """
    numbers = _weighed(own.numbers, others)
    vectors = _of_vectors(n for n in own.numbers | others if n > 1)
    more = 1.0 + _BUDGET_OF_OPERATION * own.operations
    choices: dict[Choice, list[Workload]] = {}
    for workload in contract.workloads:
        is_asked = not workload.device_only and 0 not in workload.sizes.values()
        if is_asked and not may_be_unmeant(contract, workload):
            choices.setdefault(_choice(workload), []).append(workload)
    plain: Choice = ((), ())
    arguments = _arguments(contract)
    found: list[Workload] = []
    for choice in [c for c in (plain, *(c for c in choices if c != plain)) if c in choices][: 1 + _MOST_CHOICES]:
        alike = choices[choice]
        axes = [Axis(symbol) for symbol in contract.symbols if symbol not in fixed]
        axes += arguments if choice == plain else []
        most, budget_ms = (_MOST, _BUDGET_MS) if choice == plain else (_MOST_OF_CHOICE, _BUDGET_OF_CHOICE_MS)
        random = Random(f"{seed} {contract.name} {choice}")
        space = SizeSpace(
            contract, axes, alike, numbers=numbers, vectors=vectors, operations=own.operations, random=random
        )
        found += [
            _workload(alike[0], point, contract, axes, len(found) + n)
            for n, point in enumerate(space.chosen(most, more * budget_ms), 1)
        ]
    return tuple(found)


def _weighed(own: Set[int], others: Set[int]) -> dict[int, float]:
    """Returns the numbers that may be sizes of something, and products of tiles, each with its weight."""
    possible = [n for n in own | others if 1 < n <= LARGEST]
    worth = {n: (TILE if _is_tile(n) else _ANY) * (1.0 if n in others else _NEW) for n in possible}
    most = dict(sorted(worth.items(), key=lambda item: (-item[1], item[0]))[:_MOST_NUMBERS])
    tiles = [n for n in most if _is_tile(n)]
    products = {a * b for a in tiles for b in tiles if _LEAST_OF_PRODUCTS <= a * b <= LARGEST // 2}
    return dict(sorted({**dict.fromkeys(products, PRODUCT), **most}.items()))


def _of_vectors(numbers: Iterable[int]) -> frozenset[tuple[int, int]]:
    """Returns the tiles of vectors: how many elements a tile has, and how many a thread takes at once."""
    tiles = list(filter(_is_tile, numbers))
    return frozenset(
        (t * v, v) for t in tiles for v in tiles if v in _VECTORS and _LEAST_OF_PRODUCTS <= t * v <= LARGEST
    )


def _is_tile(number: int) -> bool:
    return number & (number - 1) == 0


def _choice(workload: Workload) -> Choice:
    """Returns what a workload chooses of the operator beside its sizes; a fraction chooses nothing."""
    scalars = {name: value for name, value in workload.scalars.items() if float(value).is_integer()}
    return tuple(sorted(workload.dtypes.items())), tuple(sorted(scalars.items()))


def _arguments(contract: Contract) -> list[Axis]:
    """Returns the whole numbers that workloads give several values: each is one between these."""
    found = []
    for argument in contract.arguments:
        if isinstance(argument, ScalarArg) and argument.value.isdecimal() and argument.type != "bool":
            given = {int(w.scalars[argument.name]) for w in contract.workloads if argument.name in w.scalars}
            values = {int(argument.value), *given}
            if len(values) > 1 and max(values) <= _LARGEST_ARGUMENT:
                found.append(Axis(argument.name, min(values), max(values), int(argument.value)))
    return found


def _workload(base: Workload, point: Mapping[str, int], contract: Contract, axes: list[Axis], number: int) -> Workload:
    """Returns `base` at another point."""
    scalars = {axis.name: point[axis.name] for axis in axes if axis.is_argument}
    choice = f"{base.name}, " if base.dtypes or base.scalars else ""
    return replace(
        base,
        name=f"{choice}telling sizes {number}",
        sizes={symbol: point[symbol] for symbol in contract.symbols},
        scalars={**base.scalars, **scalars},
        scale=1.0,
        distribution=Distribution.ENDS,
        takes="",
    )
