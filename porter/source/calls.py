"""Finds where what looks like a call ends in a stream of tokens, and what stands inside and behind it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.source.lexer import Token, TokenKind

_INVISIBLE = (TokenKind.BLANK, TokenKind.COMMENT, TokenKind.DIRECTIVE)


@dataclass
class Calls:
    """The calls of a stream; places are indices of tokens."""

    stream: Sequence[Token]

    def is_terminated(self, index: int) -> bool:
        """Returns whether what follows ends or continues an expression, so that a call may stand before it."""
        for token in self.stream[index:]:
            if token.kind not in _INVISIBLE:
                return token.kind is TokenKind.PUNCTUATION and token.text not in ("{", "}", "#", "~", "::", "[")
        return False

    def after_call(self, index: int) -> int:
        """Index after the `(...)` that follows the name at `index`; after the name when none does."""
        for i in range(index + 1, len(self.stream)):
            if self.stream[i].kind not in _INVISIBLE:
                close = self.closers.get(i)
                return index + 1 if close is None else close + 1
        return index + 1

    @cached_property
    def closers(self) -> dict[int, int]:
        """The closing parenthesis of each opening one, by index: found once for all, since calls nest."""
        found: dict[int, int] = {}
        open_brackets: list[int] = []
        for i, token in enumerate(self.stream):
            if token.kind is TokenKind.PUNCTUATION and token.text in ("(", "[", "{"):
                open_brackets.append(i)
            elif token.kind is TokenKind.PUNCTUATION and token.text in (")", "]", "}") and open_brackets:
                opening = open_brackets.pop()
                if self.stream[opening].text == "(" and token.text == ")":
                    found[opening] = i
        return found

    @cached_property
    def semicolons(self) -> list[int]:
        """Indices of all semicolons, in order."""
        return [i for i, token in enumerate(self.stream) if token.text == ";"]

    def holds_semicolon(self, begin: int, end: int) -> bool:
        """Returns whether a semicolon stands among the tokens `[begin, end)`."""
        at = bisect_left(self.semicolons, begin)
        return at < len(self.semicolons) and self.semicolons[at] < end
