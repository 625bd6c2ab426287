"""Finds values of numbers at which an answer jumps, because of comparisons: `random >= p`, `x > threshold`.

Drawn values do not show which side equality is on: of 5,000 random numbers none is `p`. So the interval between two
values is halved until the original's answer jumps between two neighbours. It decides where the equality is exact: where
the original's twin, which computes in double precision, jumps at that very number. Elsewhere rounding decides the place
(`x * p > 0.5`), and an honest candidate may round otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract, Role, Workload
from porter.evaluate.reference.drawn_numbers import fractions, like
from porter.execution.job import Execute
from porter.oracle.jobs import job
from porter.oracle.outputs import numbers_in, outputs

_MOST = 3  # numbers
_HALVINGS = 5  # after which an answer that changes steadily has changed by a thirty-second
_PART = 0.25  # of the change between two values that is left where an answer jumps
_FIRST = 256  # elements, which smaller workloads have, too
_PLACES = 4  # elements next to one another are often worked on by different statements: unrolled loops, vectors
_BESIDE = 2.0**-45  # far less than lies between two numbers of single precision

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Number:
    """One number of the contract, of which `execute` answers for any value."""

    contract: Contract
    base: Workload
    name: str

    def at(self, value: float) -> Workload:
        """Returns the workload with that value."""
        return replace(self.base, scalars={**self.base.scalars, self.name: value}, scale=1.0, takes="")

    def answer(self, execute: Execute, value: float) -> Floats | None:
        """Returns all that is written, each output in parts of its largest number; None if the run does not finish."""
        run = execute(job(self.contract, self.at(value)))
        if not run.finished or any(fault.fatal for fault in run.faults):
            return None
        read = {tensor.name for tensor in self.contract.parts if tensor.role is Role.IN}
        found = [numbers_in(v).reshape(-1) for name, v in outputs(self.contract, run).tensors if name not in read]
        return np.concatenate([_scaled(numbers) for numbers in found]) if found else None


def jumping(
    contract: Contract, bases: Sequence[Workload], execute: Execute, twin: Callable[[], Execute | None], seed: int
) -> Iterator[Workload]:
    """Yields workloads like `bases` with values that something is equal to, as found at the first of them.

    `twin` gives the original's twin.
    """
    random = Random(f"{seed} {contract.name} jumps")
    for argument in fractions(contract)[:_MOST] if bases else ():
        number = _Number(contract, bases[0], argument.name)
        low, high = sorted((_single(float(argument.value)), _single(like(argument, random))))
        places = _places(number, execute, low, high, random)
        exact = twin() if places else None
        values = {value for place in places for value in place.values if exact and _jumps(number, exact, value, place)}
        for value in sorted(values):
            name = f"{argument.name} = {value:.9g}, a value that the source compares with"
            for base in bases:
                chosen = f"{base.name}, " if base.dtypes else ""
                yield replace(_Number(contract, base, argument.name).at(value), name=f"{chosen}{name}")


@dataclass(frozen=True, slots=True)
class _Place:
    """Two neighbours in single precision between which an element jumps."""

    values: tuple[float, float]
    element: int


def _places(number: _Number, execute: Execute, low: float, high: float, random: Random) -> list[_Place]:
    """Returns places between `low` and `high` at which elements jump; none where the answer changes steadily."""
    halving = _Halving(number, execute)
    first, last = halving.answer(low), halving.answer(high)
    if first is None or last is None or first.shape != last.shape or low * high <= 0:
        return []
    apart = np.abs(first - last)
    if not apart.any() or halving.place(low, high, slice(None), _HALVINGS) is None:
        return []
    far = np.flatnonzero((apart > 0) & (2 * apart >= np.maximum(np.abs(first), np.abs(last))))
    far = far[far < _FIRST] if (far < _FIRST).any() else far
    chosen = [random.choice(own) for n in range(_PLACES) if (own := far[far % _PLACES == n].tolist())]
    found = (halving.place(low, high, slice(element, element + 1)) for element in chosen)
    return [_Place(values, element) for values, element in zip(found, chosen, strict=True) if values is not None]


class _Halving:
    """Asks the original for its answers at values of a number, once for each."""

    def __init__(self, number: _Number, execute: Execute) -> None:
        self._number = number
        self._execute = execute
        self._known: dict[float, Floats | None] = {}

    def answer(self, value: float) -> Floats | None:
        """Returns the answer of the original where the number is `value`."""
        if value not in self._known:
            self._known[value] = self._number.answer(self._execute, value)
        return self._known[value]

    def place(self, low: float, high: float, elements: slice, most: int = 64) -> tuple[float, float] | None:
        """Returns what is left of `low` to `high` after `most` halvings, each the half where `elements` change more.

        None where they change steadily.
        """
        whole = change = self._change(low, high, elements)
        for halving in range(1, most + 1):
            if abs(_ordinal(high) - _ordinal(low)) <= 1:
                break
            middle = _between(low, high)
            below, above = self._change(low, middle, elements), self._change(middle, high, elements)
            low, high, change = (low, middle, below) if below >= above else (middle, high, above)
            if halving >= _HALVINGS and change < _PART * whole:
                return None
        return (low, high) if change else None

    def _change(self, low: float, high: float, elements: slice) -> float:
        """Returns the largest change of the elements; none where one of the calls does not finish."""
        one, other = self.answer(low), self.answer(high)
        if one is None or other is None or one.shape != other.shape:
            return 0.0
        return float(np.abs(one[elements] - other[elements]).max(initial=0.0))


def _jumps(number: _Number, exact: Execute, value: float, place: _Place) -> bool:
    """Returns whether the element of the exact answer is another one right below `value` than right above."""
    below, above = (number.answer(exact, value * (1 + beside)) for beside in (-_BESIDE, _BESIDE))
    if below is None or above is None or below.shape != above.shape or place.element >= below.size:
        return False
    low, high = below[place.element], above[place.element]
    return bool(abs(low - high) > _PART * max(abs(low), abs(high)))


def _scaled(numbers: Floats) -> Floats:
    finite = np.where(np.isfinite(numbers), numbers, 0.0)
    return np.asarray(finite / (np.abs(finite).max(initial=0.0) or 1.0))


def _single(value: float) -> float:
    return float(np.float32(value))


def _ordinal(value: float) -> int:
    return int(np.float32(value).view(np.int32))


def _between(low: float, high: float) -> float:
    """Returns the middle one of the single precision numbers between two of one sign."""
    return float(np.int32((_ordinal(low) + _ordinal(high)) // 2).view(np.float32))
