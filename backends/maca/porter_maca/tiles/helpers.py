"""Holds the device functions that kernels of tiles share, and finds those that a file needs, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

_HEAD = re.compile(r"^//: (?P<names>[\w ]+)\n", re.MULTILINE)


def helpers(texts: Iterable[str]) -> str:
    """Returns the namespace `tile` with the functions that `texts` use; empty where they use none."""
    pieces = _pieces()
    waiting = {name for text in texts for name in re.findall(r"\btile::(\w+)", text)}
    used: set[str] = set()
    while waiting:
        name = waiting.pop()
        used.add(name)
        waiting |= set(pieces[name][0]) - used
    if not used:
        return ""
    body = "\n".join(text for name, (_, text) in pieces.items() if name in used)
    return f"namespace tile {{\n\n{body}\n}}  // namespace tile\n"


@cache
def _pieces() -> dict[str, tuple[tuple[str, ...], str]]:
    """Returns each piece of `tile.h` by its name: its text, and the names of the pieces that it needs."""
    text = (files("porter_maca.tiles") / "tile.h").read_text("utf-8")
    heads = list(_HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found = {}
    for head, end in zip(heads, ends, strict=True):
        name, *needs = head["names"].split()
        found[name] = (tuple(needs), text[head.end() : end].rstrip() + "\n")
    return found
