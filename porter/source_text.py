"""Source text and places in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters `[start, end)` of one source; `line` and `column` count from 1."""

    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """One file's text. Offsets are characters of `text`, never bytes.

    `first_line` is the line of `path` on which `text` begins: above 1 for CUDA inside a string of a Python file.
    `exports` are the functions that Python file asks `load_inline` to bind.
    """

    path: Path
    text: str
    first_line: int = 1
    exports: tuple[str, ...] = ()

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offset of the first character of each line."""
        starts = [0]
        starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        return tuple(starts)

    def span(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`, its place counted in the file."""
        row = bisect_right(self.line_starts, start) - 1
        return Span(start, end, self.first_line + row, start - self.line_starts[row] + 1)

    def slice(self, span: Span) -> str:
        """The text under `span`."""
        return self.text[span.start : span.end]

    def line(self, number: int) -> str:
        """Line `number` of the file, without its newline; empty when it lies outside `text`."""
        row = number - self.first_line
        if not 0 <= row < len(self.line_starts):
            return ""
        start = self.line_starts[row]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
