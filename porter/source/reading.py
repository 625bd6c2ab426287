"""A source being parsed: its text after the preprocessor, that text's tokens and tree, and the way back to the file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tree_sitter import Tree

from porter.source.expansion import Expansion
from porter.source.lexer import Token, TokenKind, significant
from porter.source.mask import mask
from porter.source.program import Expr
from porter.source.syntax import parse_masked
from porter.source_text import Source, Span


@dataclass(frozen=True)
class Reading:
    """Offsets of `words` and `tree` count in `expansion.text`; `span` gives the place in the file."""

    source: Source
    expansion: Expansion
    stream: Sequence[Token]

    @property
    def text(self) -> str:
        """The text after the preprocessor."""
        return self.expansion.text

    @cached_property
    def words(self) -> list[Token]:
        """The tokens that mean something to C++: no blanks, comments or preprocessor lines."""
        return [t for t in significant(self.stream) if t.kind is not TokenKind.DIRECTIVE]

    @cached_property
    def starts(self) -> list[int]:
        """Returns where each of `words` begins."""
        return [t.start for t in self.words]

    @cached_property
    def tree(self) -> Tree:
        """The C++ tree of the masked text."""
        return parse_masked(mask(self.text, self.stream))

    def index_at(self, offset: int) -> int:
        """Index of the first of `words` at or after `offset`."""
        return bisect_left(self.starts, offset)

    def span(self, start: int, end: int) -> Span:
        """Returns where `text[start:end]` comes from in the file."""
        return self.source.span(*self.expansion.origin(start, end))

    def span_of(self, stretch: Sequence[Token]) -> Span:
        """Returns where a non-empty run of tokens comes from in the file."""
        return self.span(stretch[0].start, stretch[-1].end)

    def written(self, stretch: Sequence[Token]) -> str:
        """The text under a run of tokens on one line: comments gone, every run of blanks one space."""
        if not stretch:
            return ""
        parts = [stretch[0].text]
        for before, after in pairwise(stretch):
            parts.append(after.text if before.end == after.start else " " + after.text)
        return re.sub(r"\s+", " ", "".join(parts)).strip()

    def expression(self, stretch: Sequence[Token]) -> Expr:
        """A non-empty run of tokens as an `Expr`."""
        return Expr(self.written(stretch), self.span_of(stretch))
