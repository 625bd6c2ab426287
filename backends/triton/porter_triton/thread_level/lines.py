"""Holds the lines of a kernel's text, and drops those that only set what nobody reads, such as an unused mask."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Line:
    """A line that stands `depth` suites deep.

    `reads` are the variables that it reads. `sets` are those that it sets, if it does nothing else. `opens`: it is the
    head of a suite.
    """

    text: str
    depth: int
    reads: frozenset[str] = frozenset()
    sets: tuple[str, ...] = ()
    opens: bool = False


def without_dead_lines(lines: Sequence[Line]) -> list[Line]:
    """Returns the lines that do something, and those that set what one of them reads, if need be by steps."""
    needs: defaultdict[str, set[str]] = defaultdict(set)
    for line in lines:
        for name in line.sets:
            needs[name] |= line.reads
    live: set[str] = set()
    waiting = [name for line in lines if not line.sets for name in line.reads]
    while waiting:
        name = waiting.pop()
        if name not in live:
            live.add(name)
            waiting += needs[name]
    return [line for line in lines if not line.sets or not live.isdisjoint(line.sets)]


def text_of(lines: Sequence[Line]) -> str:
    """Returns the lines as Python writes them; a suite without any holds `pass`."""
    return "\n".join(_written(lines)) or f"{_INDENT}pass"


def _written(lines: Sequence[Line]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{_INDENT * line.depth}{line.text}"
        if line.opens and (number + 1 == len(lines) or lines[number + 1].depth <= line.depth):
            yield f"{_INDENT * (line.depth + 1)}pass"
