"""Texts put around stretches of source that may lie within each other, as plain edits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from porter.source.edit import Edit


@dataclass(frozen=True, slots=True)
class Wrap:
    """`before` and `after` around `text[start:end]`; with `start == end` a plain insertion of `before`."""

    start: int
    end: int
    before: str
    after: str = ""


def insert(at: int, text: str) -> Wrap:
    """`text` put in at offset `at`."""
    return Wrap(at, at, text)


def nested(wraps: Iterable[Wrap]) -> tuple[Edit, ...]:
    """One insertion for each offset at which anything is put in.

    Several wraps may begin or end at one offset: the longer one is the outer, what ends comes before what begins.
    """
    endings: defaultdict[int, list[Wrap]] = defaultdict(list)
    beginnings: defaultdict[int, list[Wrap]] = defaultdict(list)
    for wrap in dict.fromkeys(wraps):
        beginnings[wrap.start].append(wrap)
        endings[wrap.end].append(wrap)
    return tuple(_at(offset, endings[offset], beginnings[offset]) for offset in sorted({*endings, *beginnings}))


def _at(offset: int, ending: list[Wrap], beginning: list[Wrap]) -> Edit:
    closed = sorted((w for w in ending if w.start < offset), key=lambda w: -w.start)
    opened = sorted(beginning, key=lambda w: (w.end > offset, -w.end))
    return Edit(offset, offset, "".join((*(w.after for w in closed), *(w.before for w in opened))))
