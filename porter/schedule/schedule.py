"""Defines the decisions of a schedule, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

HINTED = "hints to the cache"  # how a schedule with such says so


class Algorithm(StrEnum):
    """The ways in which the columns of a row reach the programs that reduce them."""

    FLAT = "flat"  # nothing is reduced: each program computes one tile
    HELD = "held"  # a row lies in the registers of one program, which reads it once
    STREAMED = "streamed"  # one program reads a row tile by tile, again for each pass
    SPLIT = "split"  # several programs reduce parts of a row, a second launch puts them together, a third applies it
    APART = "apart"  # rows are split and reduced, then programs of their own store a tile of points each
    SHARED = (
        "shared"  # several programs hold a row in their registers, and wait for each other's part of its statistics
    )


@dataclass(frozen=True, slots=True)
class Schedule:
    """The decisions: `rows` and `columns` are the extents of a tile, powers of two; `parts` programs share a row.

    `in_one_pass` computes dependent reductions together, which reassociates them. `stages` of 0 leaves loops to the
    compiler. `evict_first` tells the cache that data read for the last time, and data written, is not needed again.
    `backwards` stores the columns of a row from its end, where the cache still holds what was read last. A step of a
    loop over tiles goes through `unrolled` tiles. Where long rows are read twice, a port `holds_short` ones in
    registers, in a kernel of their own.
    """

    algorithm: Algorithm
    rows: int = 1
    columns: int = 1024
    parts: int = 1
    warps: int = 4
    stages: int = 0
    in_one_pass: bool = True
    evict_first: bool = False
    backwards: bool = False
    unrolled: int = 1
    holds_short: bool = False

    def __str__(self) -> str:
        """Returns the schedule in words."""
        tile = f"{self.rows} x {self.columns}" if self.rows > 1 else str(self.columns)
        if self.algorithm is Algorithm.HELD:  # as wide as the rows of a call are
            tile = f"{self.rows} whole rows" if self.rows > 1 else "one whole row"
        words = [f"{self.algorithm}, tiles of {tile}", f"{self.warps} warps"]
        if self.algorithm is Algorithm.SHARED:
            return f"shared, {self.parts} programs a row, {self.warps} warps"
        if self.algorithm in (Algorithm.SPLIT, Algorithm.APART):
            words.insert(1, f"{self.parts} programs a row")
        if self.unrolled > 1:
            words.append(f"{self.unrolled} tiles a step")
        if self.stages:
            words.append(f"{self.stages} stages")
        if self.algorithm in (Algorithm.STREAMED, Algorithm.SPLIT, Algorithm.APART) and not self.in_one_pass:
            words.append("a pass for each reduction")
        if self.backwards:
            words.append("stored from the end")
        if self.evict_first:
            words.append(HINTED)
        return ", ".join(words)
