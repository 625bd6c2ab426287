"""The processes that come of one, and the processor time they have taken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """Returns the processes that it has started, or that were forked from it."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def below(pid: int) -> Iterator[int]:
    """Its children, theirs, and so on."""
    for child in children(pid):
        yield child
        yield from below(child)


def used_s(pid: int) -> float:
    """The processor time of all below it, with those that they have waited for."""
    return sum(map(_ticks, below(pid))) / _TICKS


def _ticks(pid: int) -> int:
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
