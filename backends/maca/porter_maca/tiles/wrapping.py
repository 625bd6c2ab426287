"""Cuts long lines of C++ where a reader would: between arguments, or before an operator."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 120
_INDENT = 4
_CUT = re.compile(r"(?<=, )(?=\S)| (?=(?:&&|\|\||\?|:|\+|-) )")


def wrapped(text: str) -> str:
    """Returns `text` with no line of code longer than `WIDTH`, where there is a place to cut it."""
    return "\n".join(piece for line in text.split("\n") for piece in _pieces(line))


def _pieces(line: str) -> Iterator[str]:
    if len(line) <= WIDTH or line.lstrip().startswith(("//", "#")):
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()) + _INDENT)
    while len(line) > WIDTH and (at := _cut(line, len(indent))) is not None:
        yield line[:at].rstrip()
        line = indent + line[at:].lstrip()
    yield line


def _cut(line: str, indent: int) -> int | None:
    """Returns the place to cut a line: the rightmost one that lies least deep within brackets."""
    depths = []
    depth = 0
    for character in line:
        depth += character in "([{"
        depths.append(depth)
        depth -= character in ")]}"
    launch = range(line.find("<<<"), line.find(">>>"))
    found = (one.start() for one in _CUT.finditer(line))
    places = [at for at in found if indent < at <= WIDTH and at not in launch]
    return max(places, key=lambda at: (-depths[at], at), default=None)
