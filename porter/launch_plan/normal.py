"""Plans under numbers of their own: two calls that ask the same of a device have equal normal forms."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import replace

from porter.launch_plan.steps import (
    MAIN_STREAM,
    Argument,
    Await,
    Compute,
    Constant,
    Descriptor,
    Fill,
    Launch,
    LaunchPlan,
    Move,
    Number,
    Read,
    Record,
    Sequence,
    Step,
    Synchronise,
    TensorView,
    Wait,
)
from porter.launch_plan.views import made, renumbered, used
from porter.launch_plan.wire import encode


def normal(plan: LaunchPlan) -> LaunchPlan:
    """The plan with its buffers, streams and events numbered in the order in which steps name them."""
    numbers: dict[int, int] = {}
    streams, events = {MAIN_STREAM: MAIN_STREAM}, dict[int, int]()
    for step in plan.steps:
        for buffer in (*(view.buffer for view in used(step)), *made(step)):
            numbers.setdefault(buffer, len(numbers))
    steps = (_on_numbered_streams(renumbered(step, numbers), streams, events) for step in plan.steps)
    return LaunchPlan(tuple(steps), plan.reads)


def _on_numbered_streams(step: Step, streams: dict[int, int], events: dict[int, int]) -> Step:
    """Returns `step` with its streams and its event by their numbers here; a new one gets the next number."""

    def stream(old: int) -> int:
        return streams.setdefault(old, len(streams))

    def event(old: int) -> int:
        return events.setdefault(old, len(events))

    match step:
        case Fill() | Move() | Compute() | Launch() | Read():
            return replace(step, stream=stream(step.stream))
        case Wait(waiting, awaited):
            return Wait(stream(waiting), stream(awaited))
        case Record() | Await():
            return replace(step, event=event(step.event), stream=stream(step.stream))
        case Synchronise(int(awaited)):
            return Synchronise(event(awaited))
    return step


def digest(plan: LaunchPlan) -> str:
    """The identity of a plan: equal plans are equal candidates."""
    return hashlib.sha256(encode(normal(plan)).encode()).hexdigest()


def numbers_of(plan: LaunchPlan) -> tuple[object, ...]:
    """All that the launches of a plan know of sizes: grids and what is passed by value, and tables of the host's."""
    tables = tuple(step.content for step in plan.steps if isinstance(step, Constant))
    return tables, tuple((one.kernel, one.grid, tuple(_passed(a) for _, a in one.arguments)) for one in plan.launches)


def _passed(argument: Argument) -> object:
    match argument:
        case TensorView():
            return argument.dtype
        case Descriptor():
            return (argument.shape, argument.strides, argument.block)
        case Sequence(items):
            return tuple(map(_passed, items))
    return argument


def work_of(plan: LaunchPlan) -> LaunchPlan:
    """Returns what a plan asks for, whatever numbers the host read on the way: equal for plans of the same work."""
    return normal(replace(plan, reads=()))


def same_work(one: LaunchPlan, other: LaunchPlan) -> bool:
    """Returns True where both plans ask the same."""
    return work_of(one) == work_of(other)


def nudged(reads: tuple[tuple[Number, ...], ...], whole: Container[int] = ()) -> tuple[tuple[Number, ...], ...]:
    """The same numbers with every float larger by a part in 512: what only decides stays, what is handed on moves.

    Of the reads numbered in `whole` integers are larger by one.
    """
    return tuple(
        tuple(_nudged(number, is_whole=index in whole) for number in numbers) for index, numbers in enumerate(reads)
    )


def _nudged(number: Number, *, is_whole: bool) -> Number:
    if isinstance(number, float):
        return number * (1 + 2**-9) + (2**-40 if number == 0 else 0)
    return number + 1 if is_whole and type(number) is int else number
