"""Reductions and scans that threads of a block or warp make together, carried out on numbers that tell them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from porter.ir.simt.interpret.domain import Data, numpy_type
from porter.ir.simt.interpret.exchange import WARP_SIZE
from porter.ir.simt.ops import Attribute
from porter.ir.simt.types import Scalar

DRAWS = 5
_LARGEST = 6000  # of the numbers, so that 1,024 of them add up in 24 bits
_HUGE = 2**30  # of one number among zeros, which tells where sums are cut off
_RANGES = ((-_LARGEST, _LARGEST), (-_LARGEST, -1), (1, _LARGEST))
_TWO = 2  # of few factors, so that products are exact
_TWOS = 20
_FUNCTIONS: Mapping[str, np.ufunc] = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}


@dataclass(frozen=True, slots=True)
class Combination:
    """An operation of the IR: `kind` is `reduce` or `scan`.

    A scan may begin at the end, and may leave a thread's own number out.
    """

    kind: str
    op: str
    scope: str
    backward: bool = False
    exclusive: bool = False

    @property
    def attributes(self) -> tuple[tuple[str, Attribute], ...]:
        """Returns the attributes of the operation."""
        own: tuple[tuple[str, Attribute], ...] = (("op", self.op), ("scope", self.scope))
        if self.kind == "reduce":
            return own
        return (("backward", self.backward), ("exclusive", self.exclusive), *own)

    def of(self, given: Data) -> NDArray[np.generic]:
        """Returns what each thread has of these numbers, one a thread."""
        width = len(given) if self.scope == "block" else WARP_SIZE
        return np.concatenate([self._row(given[begin : begin + width]) for begin in range(0, len(given), width)])

    def _row(self, row: NDArray[np.generic]) -> NDArray[np.generic]:
        function = _FUNCTIONS[self.op]
        if self.kind == "reduce":
            return np.full(len(row), function.reduce(row), row.dtype)
        ordered = row[::-1] if self.backward else row
        made = function.accumulate(ordered)
        if self.exclusive:
            neutral = np.array([1 if self.op == "mul" else 0], row.dtype)
            made = np.concatenate([neutral, made[:-1]])
        return made[::-1] if self.backward else made


def reductions() -> Iterator[Combination]:
    """Yields all reductions."""
    yield from (Combination("reduce", op, scope) for op in _FUNCTIONS for scope in ("block", "warp"))


def scans() -> Iterator[Combination]:
    """Yields all scans. Those of extremes leave nothing out, for what the first thread has then is anything."""
    for op in _FUNCTIONS:
        for scope in ("block", "warp"):
            for backward in (False, True):
                yield from (
                    Combination("scan", op, scope, backward, exclusive)
                    for exclusive in ((False, True) if op in ("add", "mul") else (False,))
                )


@lru_cache(maxsize=4096)
def expected(one: Combination, threads: int, seed: int, type_: Scalar) -> NDArray[np.generic]:
    """Returns what so many threads have of the numbers of one draw."""
    return one.of(numbers(threads, seed, type_, factors=one.op == "mul"))


@lru_cache(maxsize=1024)
def numbers(threads: int, seed: int, type_: Scalar, *, factors: bool) -> Data:
    """Returns what threads put in: numbers of both signs, of one, or one that is far from the others.

    `factors` are few twos among ones of both signs.
    """
    chance = np.random.default_rng(seed)
    if factors:
        given = chance.choice((-1, 1), threads)
        given[chance.integers(threads, size=_TWOS)] = _TWO
    elif seed < len(_RANGES):
        given = chance.integers(*_RANGES[seed], threads, endpoint=True)
    else:
        given = np.zeros(threads, np.int64)
        given[chance.integers(threads)] = (_HUGE, -_HUGE)[seed % 2]
    return given.astype(numpy_type(type_))
