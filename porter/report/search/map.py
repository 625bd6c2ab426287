"""Draws the archive of each island as a map: a square for each cell, the hotter the better its elite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from porter.evolve.archive import Archive
from porter.evolve.axis import Axis, Cell
from porter.evolve.proposer import Member
from porter.report.search.course import Course
from porter.report.search.words import factor, number

_LEAST_SPAN = math.log(2)  # of heat: elites that are about as good as each other are about as hot


@dataclass(frozen=True, slots=True)
class Square:
    """The elite of a cell: its digest, its factor in words, and its heat, up to 1 for the best."""

    digest: str
    text: str
    heat: float
    best: bool


@dataclass(frozen=True, slots=True)
class Row:
    """The cells along the last axis, at the coordinates on the others that `labels` name; None for an empty one."""

    labels: tuple[str, ...]
    squares: tuple[Square | None, ...]


@dataclass(frozen=True, slots=True)
class Elite:
    """The owner of a cell, for a list: the labels of the cell, and its elite."""

    cell: tuple[str, ...]
    digest: str
    proposer: str
    factor: str


@dataclass(frozen=True, slots=True)
class IslandMap:
    """One island. `across` is the last axis, `down` are the others; `left_out` rows hold nothing on any island."""

    island: int
    across: Axis
    down: tuple[Axis, ...]
    rows: tuple[Row, ...]
    left_out: int
    elites: tuple[Elite, ...]
    cells: int


def island_maps(course: Course) -> tuple[IslandMap, ...]:
    """Returns a map for each island, all with the same rows."""
    axes, archives = course.state.settings.axes, course.state.islands.archives
    *down, across = axes
    rows = list(product(*(range(len(axis.labels)) for axis in down)))
    occupied = {cell[:-1] for archive in archives for cell in archive.elites}
    shown = rows if len(axes) <= 2 else [row for row in rows if row in occupied]  # of several axes most are empty
    heats = _heats(archives)
    best = course.state.best
    top = best.scored.digest if best else ""
    return tuple(
        IslandMap(
            island=island,
            across=across,
            down=tuple(down),
            rows=tuple(_row(row, archive.elites, axes, heats, top) for row in shown),
            left_out=len(rows) - len(shown),
            elites=tuple(_elite(member, axes) for member in archive.ranked()),
            cells=math.prod(len(axis.labels) for axis in axes),
        )
        for island, archive in enumerate(archives)
    )


def _heats(archives: Sequence[Archive]) -> Mapping[str, float]:
    """Returns the heat of each digest, on one logarithmic scale for all islands."""
    factors = {m.scored.digest: m.scored.score.factor for a in archives for m in a.elites.values() if m.scored.score}
    low, high = min(factors.values(), default=1.0), max(factors.values(), default=1.0)
    span = max(math.log(high / low), _LEAST_SPAN)
    return {digest: 1 - math.log(high / value) / span for digest, value in factors.items()}


def _row(row: Cell, elites: Mapping[Cell, Member], axes: Sequence[Axis], heats: Mapping[str, float], top: str) -> Row:
    cells = [elites.get((*row, place)) for place in range(len(axes[-1].labels))]
    labels = tuple(axis.labels[place] for axis, place in zip(axes[:-1], row, strict=True))
    return Row(labels, tuple(_square(member, heats, top) for member in cells))


def _square(member: Member | None, heats: Mapping[str, float], top: str) -> Square | None:
    if member is None or member.scored.score is None:
        return None
    digest = member.scored.digest
    return Square(digest, number(member.scored.score.factor), round(heats[digest], 3), digest == top)


def _elite(member: Member, axes: Sequence[Axis]) -> Elite:
    cell = tuple(axis.labels[place] for axis, place in zip(axes, member.scored.cell, strict=True))
    return Elite(cell, member.scored.digest, member.candidate.origin.proposer, factor(member.scored.score))
