"""Keeps, through several passes over a text, which character of the original each part came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from porter.source.edit import Edit, apply_edits
from porter.source_text import Source, Span


@dataclass(frozen=True, slots=True)
class Piece:
    """From `start` on, text was copied from `origin` on, or `written` in place of what stood at `origin`."""

    start: int
    origin: int
    written: bool


@dataclass(frozen=True)
class Traced:
    """`text`, made from `source.text` by edits; `pieces` are in order and begin at 0."""

    source: Source
    text: str
    pieces: tuple[Piece, ...] = (Piece(0, 0, written=False),)

    @classmethod
    def of(cls, source: Source) -> Traced:
        """Returns the source itself, with nothing edited yet."""
        return cls(source, source.text)

    def origin(self, offset: int) -> int:
        """Returns the offset in the source that the character at `offset` of `text` came from."""
        piece = self.pieces[bisect_right(self.pieces, offset, key=lambda p: p.start) - 1]
        return piece.origin if piece.written else piece.origin + offset - piece.start

    def span(self, start: int, end: int) -> Span:
        """Returns the place in the source of `text[start:end]`."""
        begin = self.origin(start)
        last = self.origin(max(start, end - 1))
        return self.source.span(begin, max(begin, min(last + 1, len(self.source.text))))

    def edited(self, edits: Iterable[Edit]) -> Traced:
        """This text with `edits` applied at once."""
        ordered = sorted(set(edits))
        if not ordered:
            return self
        pieces: list[Piece] = []
        position = shift = 0
        for edit in ordered:
            pieces.extend(self._copied(position, edit.start, shift))
            if edit.replacement:
                pieces.append(Piece(edit.start + shift, self.origin(edit.start), written=True))
            shift += len(edit.replacement) - (edit.end - edit.start)
            position = edit.end
        pieces.extend(self._copied(position, len(self.text) + 1, shift))
        return Traced(self.source, apply_edits(self.text, ordered), tuple(pieces))

    def _copied(self, start: int, end: int, shift: int) -> Iterable[Piece]:
        """Yields the pieces of `text[start:end]`, moved by `shift`."""
        if start >= end:
            return
        first = bisect_right(self.pieces, start, key=lambda p: p.start) - 1
        head = self.pieces[first]
        yield Piece(start + shift, self.origin(start), head.written)
        for piece in self.pieces[first + 1 :]:
            if piece.start >= end:
                return
            yield Piece(piece.start + shift, piece.origin, piece.written)
