"""Tells a reader who knows one program how another differs from it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from porter.evolve.candidate import File

_CONTEXT = 2  # lines around a change


def difference(old: Sequence[File], new: Sequence[File], context: int = _CONTEXT) -> str:
    """Returns what turns the files `old` into `new`, as a unified diff; empty where they are the same."""
    before = {file.name: file.text for file in old}
    return "\n".join(line for file in new for line in _lines(file, before.get(file.name, ""), context))


def briefly(old: Sequence[File], new: Sequence[File], most_lines: int) -> str:
    """The changed lines alone, at most so many of them, and how many are left out."""
    changed = [line for line in difference(old, new, 0).split("\n") if line[:1] in ("+", "-") and line[1:].strip()]
    shown = [line for line in changed if not line.startswith(("+++", "---"))]
    rest = len(shown) - most_lines
    return "\n".join((*shown[:most_lines], *([f"({rest} more changed lines)"] if rest > 0 else [])))


def _lines(file: File, before: str, context: int) -> Iterator[str]:
    names = (f"a/{file.name}", f"b/{file.name}")
    return difflib.unified_diff(before.splitlines(), file.text.splitlines(), *names, n=context, lineterm="")
