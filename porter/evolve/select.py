"""Selects the candidates that a proposer is shown: one to be made better, the best, and some unlike them."""

from __future__ import annotations

import math
from random import Random

from porter.evolve.archive import Archive
from porter.evolve.proposer import Member

_TOP = 0.2  # the share of elites from which one is drawn to be made better, where known good is exploited


def parents(archive: Archive, draw: Random, count: int, exploit: float) -> tuple[Member, ...]:
    """Returns at most `count` different elites.

    The first is drawn: with probability `exploit` from the top, else from all cells alike. The best comes next, and
    then repeatedly the one that lies farthest from those that were taken.
    """
    ranked = archive.ranked()
    if not ranked:
        return ()
    pool = ranked[: math.ceil(_TOP * len(ranked))] if draw.random() < exploit else ranked
    chosen = [draw.choice(pool)]
    if ranked[0] is not chosen[0]:
        chosen.append(ranked[0])
    others = [member for member in ranked if all(member is not taken for taken in chosen)]
    while others and len(chosen) < count:
        far = max(others, key=lambda member: min(_apart(member, taken) for taken in chosen))  # of equals, the best
        others.remove(far)
        chosen.append(far)
    return tuple(chosen[:count])


def _apart(one: Member, other: Member) -> int:
    return sum(abs(a - b) for a, b in zip(one.scored.cell, other.scored.cell, strict=True))
