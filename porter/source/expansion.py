"""Text after macro expansion, and where each of its characters comes from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Segment:
    """`length` characters that come from `[start, end)` of the file.

    Copied text (`end - start == length`, `copied`) maps character by character; text of a macro's body belongs as a
    whole to the place where the macro is used.
    """

    length: int
    start: int
    end: int
    copied: bool


@dataclass(frozen=True)
class Expansion:
    """The text the grammar reads; `pieces` cover it from beginning to end."""

    text: str
    pieces: Sequence[Segment]

    @cached_property
    def _begins(self) -> list[int]:
        begins = [0]
        for piece in self.pieces:
            begins.append(begins[-1] + piece.length)
        return begins

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the file that `text[start:end]` comes from: the smallest that holds its two ends."""
        first_start, first_end = self._origin_of(start)
        if end <= start:
            return first_start, first_start
        last_start, last_end = self._origin_of(end - 1)
        return min(first_start, last_start), max(first_end, last_end)

    def is_copied(self, start: int, end: int) -> bool:
        """Returns whether `text[start:end]` stands in the file exactly so."""
        index = bisect_right(self._begins, start) - 1
        if index >= len(self.pieces):
            return start == end
        return self.pieces[index].copied and end <= self._begins[index + 1]

    def _origin_of(self, offset: int) -> tuple[int, int]:
        """Start and end in the file of the one character at `offset`."""
        if not self.pieces:
            return 0, 0
        index = min(bisect_right(self._begins, offset) - 1, len(self.pieces) - 1)
        piece = self.pieces[index]
        if not piece.copied:
            return piece.start, piece.end
        at = piece.start + offset - self._begins[index]
        return at, at + 1
