"""Tells whether what was timed does its work each time, or looks first whether its answer is there already.

Samples replay the same graphs on the same contents, so a kernel that compares a few elements with what it left may end
early in all of them. Where contents are new and outputs hold nothing, it cannot: there it may not take much longer.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from porter.execution.job import Job
from porter.native.requests import MOST_SETS
from porter.native.session import Prepared, Replayed
from porter.native.timed import Timed

# H200, 20 ports of suites: 0 to 8 % longer, and up to 6 us, which a graph of its own costs.
_LONGER, _LAUNCH_US = 1.25, 10.0
# Until a graph runs on a device that does nothing, since that would take what it reads off the cache; and what a call
# made by Python, which waits for the device, may take longer by chance: one in ten of a kernel of 29 us took 65.
_IDLE_US = 40.0
_MOST_SETS, _LEAST_SETS, _COMPARED_BYTES = 8, 3, 64 << 20


def sets_to_look_at(sets: int, made_bytes: int, draw: Random) -> list[int]:
    """Returns which sets of buffers are compared: each was captured by a call of its own, and they may differ.

    More sets are compared the smaller they are: a call makes `made_bytes`.
    """
    affordable = max(_LEAST_SETS, min(_MOST_SETS, _COMPARED_BYTES // max(1, made_bytes)))
    return draw.sample(range(sets), min(sets, affordable))


def works_less(candidate: Timed, arm: Prepared, median_us: float, first: Replayed, jobs: Iterable[Job]) -> str:
    """Returns how much longer than `median_us` each of several calls on new contents took; empty where one did not.

    The `first` was made already; the device may have been disturbed, so there is one more for each of `jobs`.
    """
    told = _longer(first, median_us, arm)
    for job in jobs:
        if not told:
            break
        again = candidate.replay(arm.arm, job, 0)
        told = _longer(again, median_us, arm) if again.run.finished else told
    return told


def _longer(found: Replayed, median_us: float, arm: Prepared) -> str:
    """Returns whether the first call, or that in each set after it, took longer than can be by chance."""
    launch_us = _IDLE_US if arm.uncaptured or arm.sets == MOST_SETS else _LAUNCH_US
    for took_us, once_us in ((found.alone_us, launch_us), (found.later_us, launch_us / max(1, arm.sets - 1))):
        if took_us > _LONGER * median_us + once_us:
            return f"on new inputs it takes {took_us:.3g} us, where it was timed {median_us:.3g} us"
    return ""
