"""The preprocessor's output as it is written: tokens copied from the file, and what macros stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.source.expansion import Expansion, Segment
from porter.source.lexer import Token, TokenKind
from porter.source.macros import Piece


@dataclass
class ExpandedText:
    """Text with the origin of every character. `previous` is the last token that means something."""

    texts: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    previous: str = ""

    def copy(self, text: str, token: Token) -> None:
        """Write a token as it stands, or other characters of its number in its place."""
        self.texts.append(text)
        if token.kind not in (TokenKind.BLANK, TokenKind.COMMENT, TokenKind.DIRECTIVE):
            self.previous = text.strip()
        last = self.segments[-1] if self.segments else None
        if last is not None and last.copied and last.end == token.start:
            self.segments[-1] = Segment(last.length + len(text), last.start, token.end, copied=True)
        else:
            self.segments.append(Segment(len(text), token.start, token.end, copied=True))

    def expanded(self, pieces: Sequence[Piece]) -> None:
        """Write the result of an expansion, with blanks where tokens would run together."""
        before = " "
        for piece in pieces:
            start, end, copied = piece.origin
            if piece.spaced or _would_join(before, piece.text):
                self.texts.append(" ")
                self.segments.append(Segment(1, start, end, copied=False))
            self.texts.append(piece.text)
            self.segments.append(Segment(len(piece.text), start, end, copied and end - start == len(piece.text)))
            before = piece.text
            self.previous = piece.text
        if pieces:
            self.texts.append(" ")
            self.segments.append(Segment(1, pieces[-1].origin.start, pieces[-1].origin.end, copied=False))

    def expansion(self) -> Expansion:
        """Returns what was written."""
        return Expansion("".join(self.texts), self.segments)


def _would_join(left: str, right: str) -> bool:
    """Returns whether two tokens side by side would read as other tokens."""
    if left[-1].isalnum() or left[-1] == "_":
        return right[0].isalnum() or right[0] in "_\"'"
    return left[-1] in "+-<>&|=:/*%^#." and right[0] in "+-<>&|=:/*#."
