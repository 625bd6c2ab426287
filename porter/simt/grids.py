"""Finds where the grids of launches stop growing, as calls that are not executed show, and whether that was executed.

A grid may be as large in a call as in one with smaller tensors because every block takes more turns, or because the
rest is left out. Axes of a grid are looked at one by one: what one axis lacks another one may hide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from porter.execution.job import TensorValue, Value

Grid = tuple[int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Stop:
    """A number of blocks along an axis of its grid that a kernel does not go beyond however large a call is."""

    kernel: str
    axis: int
    blocks: int

    def described(self, blocks: str) -> str:
        """Returns it in words, with the platform's own word for `blocks`."""
        return f"stops at {self.blocks} {blocks} along {'xyz'[self.axis]}, which no workload reaches"


@dataclass
class Grids:
    """The numbers of blocks that `executed` launches of each kernel had along each axis, and where these `stop`.

    `rehearsed` are those of the last call that was not executed.
    """

    executed: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))
    stops: set[Stop] = field(default_factory=set)
    rehearsed: frozenset[Stop] = frozenset()

    def add(self, kernel: str, grid: Grid) -> None:
        """Counts a launch as executed."""
        for axis, blocks in enumerate(grid):
            self.executed[kernel, axis].add(blocks)

    def unreached(self, launches: Iterable[tuple[str, Grid]], fewest: int | None) -> list[Stop]:
        """Returns where launches of a call that is not executed stop growing at more blocks than any executed one had.

        `fewest` is what `fewest_that_shrink` says of that call and the one before.
        """
        found = frozenset(Stop(kernel, axis, blocks) for kernel, grid in launches for axis, blocks in enumerate(grid))
        if fewest is not None:
            self.stops |= {stop for stop in found & self.rehearsed if stop.blocks >= fewest}
        self.rehearsed = found
        return sorted(stop for stop in found & self.stops if self._has_outgrown(stop))

    def _has_outgrown(self, stop: Stop) -> bool:
        """Returns True where executed grids differ, and none has so many blocks."""
        known = self.executed[stop.kernel, stop.axis]
        return len(known) > 1 and stop.blocks > max(known)


def fewest_that_shrink(larger: Sequence[Value], smaller: Sequence[Value]) -> int | None:
    """Returns how many blocks there are at the least along an axis of tiles of which `smaller` arguments have fewer.

    None where an extent is larger in these, or none is smaller.
    """
    pairs = list(_extents(larger, smaller))
    parts = [Fraction(b, a) for a, b in pairs if b < a]
    if not parts or any(b > a for a, b in pairs):
        return None
    return ceil(1 / (1 - max(parts)))


def _extents(larger: Sequence[Value], smaller: Sequence[Value]) -> Iterator[tuple[int, int]]:
    for a, b in zip(larger, smaller, strict=False):
        if isinstance(a, TensorValue) and isinstance(b, TensorValue):
            yield from zip(a.shape, b.shape, strict=False)
