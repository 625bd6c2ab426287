"""Keeps backslashes at the ends of a macro's lines in their column when names before them change length."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from porter.source.edit import Edit

_CONTINUED = re.compile(r"[^\n]*?(?P<blanks>[ ]{2,})\\$", re.M)


def aligned(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """Returns `edits`, and those that make up for them in the blanks before the backslash of the same line."""
    lines: defaultdict[int, list[Edit]] = defaultdict(list)
    for edit in edits:
        lines[text.rfind("\n", 0, edit.start) + 1].append(edit)
    return [edit for line, own in lines.items() for edit in (*own, *_padding(text, line, own))]


def _padding(text: str, line: int, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yields the edit of the blanks at the end of `line`, if it is continued and its own edits leave them alone."""
    found = _CONTINUED.match(text, line)
    grown = sum(len(edit.replacement) - (edit.end - edit.start) for edit in edits)
    if found and grown and all(edit.end <= found.start("blanks") for edit in edits):
        start, end = found.span("blanks")
        yield Edit(start, end, " " * max(1, end - start - grown))
