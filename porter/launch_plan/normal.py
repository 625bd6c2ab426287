"""Plans under numbers of their own: two calls that ask the same of a device have equal normal forms."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import replace

from porter.launch_plan.steps import Argument, Constant, Descriptor, LaunchPlan, Number, Sequence, TensorView
from porter.launch_plan.views import made, renumbered, used
from porter.launch_plan.wire import encode


def normal(plan: LaunchPlan) -> LaunchPlan:
    """The plan with its buffers numbered from 0 in the order in which steps name them."""
    numbers: dict[int, int] = {}
    for step in plan.steps:
        for buffer in (*(view.buffer for view in used(step)), *made(step)):
            numbers.setdefault(buffer, len(numbers))
    return LaunchPlan(tuple(renumbered(step, numbers) for step in plan.steps), plan.reads)


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
