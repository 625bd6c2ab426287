"""The axes of an archive: declared before a run, and the same to its end."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """One trait by which candidates differ: a name for each of its coordinates.

    A trait that is a number has `edges`, ascending, one fewer than labels: an edge belongs to the coordinate above it.
    """

    name: str
    labels: tuple[str, ...]
    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.labels or (self.edges and len(self.edges) != len(self.labels) - 1):
            raise ValueError(f"axis {self.name}: {len(self.labels)} labels do not fit {len(self.edges)} edges")
        if any(low >= high for low, high in pairwise(self.edges)):
            raise ValueError(f"axis {self.name}: its edges do not ascend")

    def coordinate(self, value: float) -> int:
        """Returns where a number lies."""
        return bisect_right(self.edges, value)


def numeric(name: str, edges: tuple[float, ...]) -> Axis:
    """Returns an axis of numbers, labelled by its edges: `<0.5`, `0.5-0.8`, ..., `>8`."""
    between = (f"{low:g}-{high:g}" for low, high in pairwise(edges))
    return Axis(name, (f"<{edges[0]:g}", *between, f">{edges[-1]:g}"), edges)


def inside(cell: Cell, axes: tuple[Axis, ...]) -> bool:
    """Returns whether a cell is one of these axes."""
    return len(cell) == len(axes) and all(0 <= place < len(axis.labels) for place, axis in zip(cell, axes, strict=True))
