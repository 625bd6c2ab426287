"""Counts the turns that a loop has left, from how its branch's operands came closer to each other in the last one."""

from __future__ import annotations

ENDLESS = 1 << 62
# A comparison of PTX (`lt`, `ne`, ...), and what is compared less what it is compared with.
Gap = tuple[str, int]


def turns_left(last: Gap, now: Gap) -> int:
    """Returns how often a branch goes on to be decided as it was, when what it depends on goes on as it did.

    `last` and `now` are what it was decided by in the last two turns; `ENDLESS` where nothing will ever change it.
    """
    (comparison, gap), step = now, last[1] - now[1]
    if step == 0:
        return ENDLESS
    if comparison in ("eq", "ne"):
        return gap // step - 1 if gap % step == 0 and gap // step > 0 else ENDLESS
    if comparison in ("gt", "ge", "hi", "hs"):
        gap, step = -gap, -step
    least = 0 if comparison in ("le", "ge", "ls", "hs") else 1
    if gap >= least:
        return (gap - least) // step if step > 0 else ENDLESS
    return (gap - least) // step if step < 0 else ENDLESS
