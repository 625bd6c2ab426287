"""A plan in another order that its streams allow: what nothing orders is done the other way round.

On a device streams go on side by side. Work that runs too early, since nobody waits for what it needs, shows when the
stream that it needs comes last; and what nobody waits for before the call ends is not done at all.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from porter.launch_plan.steps import Free, LaunchPlan, Return, Step

_DEFAULT = 0  # the stream that callers go on with
Clock = Mapping[int, int]  # by stream: how much of its work comes before


@dataclass(frozen=True, slots=True)
class Work:
    """The `time`-th piece of work of `stream`, which is ordered behind that `after`."""

    stream: int
    time: int
    after: Clock


@dataclass(frozen=True, slots=True)
class Order:
    """The order of one call: its work by the position of its step, and what comes before its `end`.

    A call that waits for an answer has no end.
    """

    work: Mapping[int, Work]
    end: Clock | None = None


def latest_first(plan: LaunchPlan, order: Order) -> LaunchPlan:
    """The plan with the last work done first, as far as its streams allow, and without what nobody waits for."""
    if all(work.stream == _DEFAULT for work in order.work.values()) and order.end is not None:
        return plan
    places = {(work.stream, work.time): place for place, work in order.work.items()}
    needed = _needed(order, places)
    done = tuple(plan.steps[place] for place in _ordered(order, places, needed))
    others = [step for place, step in enumerate(plan.steps) if place not in order.work]
    return replace(plan, steps=(*_others(others, last=False), *done, *_others(others, last=True)))


def _others(steps: list[Step], *, last: bool) -> Iterator[Step]:
    """Returns what is no work: memory is made before any is done, and given back behind it."""
    return (step for step in steps if isinstance(step, (Free, Return)) is last)


def _before(after: Clock, places: Mapping[tuple[int, int], int]) -> Iterator[int]:
    return (places[stream, time] for stream, time in after.items() if (stream, time) in places)


def _needed(order: Order, places: Mapping[tuple[int, int], int]) -> set[int]:
    """The places of the work that comes before the end, or before the answer that is waited for."""
    last = max(order.work, default=0)
    pending = list(_before(order.end, places)) if order.end is not None else [last]
    needed = set[int]()
    while pending:
        place = pending.pop()
        if place not in needed and place in order.work:
            needed.add(place)
            pending.extend(_before(order.work[place].after, places))
    return needed


def _ordered(order: Order, places: Mapping[tuple[int, int], int], needed: set[int]) -> Iterator[int]:
    waiting = {place: set(_before(order.work[place].after, places)) for place in needed}
    behind: dict[int, list[int]] = {}
    for place, before in waiting.items():
        for other in before:
            behind.setdefault(other, []).append(place)
    ready = [-place for place, before in waiting.items() if not before]
    heapq.heapify(ready)
    while ready:
        place = -heapq.heappop(ready)
        yield place
        for other in behind.get(place, ()):
            waiting[other].discard(place)
            if not waiting[other]:
                heapq.heappush(ready, -other)
