"""A plan in the order that its streams allow and nobody expects."""

from __future__ import annotations

from porter.launch_plan.steps import Allocate, Free, Launch, LaunchPlan
from porter.simt.stream_order import Order, Work, latest_first

_FIRST, _SECOND = 1, 2


def plan(*kernels):
    launches = (Launch(name, (1, 1, 1), ()) for name in kernels)
    return LaunchPlan((Allocate(0, 4), *launches, Free(0)))


def names(found):
    return [step.kernel for step in found.steps if isinstance(step, Launch)]


def test_what_streams_do_not_order_is_done_the_other_way_round():
    work = {1: Work(_FIRST, 1, {}), 2: Work(_SECOND, 1, {}), 3: Work(_FIRST, 2, {_FIRST: 1})}
    found = latest_first(plan("a", "b", "c"), Order(work, {_FIRST: 2, _SECOND: 1}))
    assert names(found) == ["b", "a", "c"]
    assert (found.steps[0], found.steps[-1]) == (Allocate(0, 4), Free(0))


def test_what_waits_stays_behind():
    work = {1: Work(_FIRST, 1, {}), 2: Work(_SECOND, 1, {_FIRST: 1})}
    assert names(latest_first(plan("a", "b"), Order(work, {_SECOND: 1}))) == ["a", "b"]


def test_what_nobody_waits_for_is_not_done_before_the_call_ends():
    work = {1: Work(_FIRST, 1, {}), 2: Work(_SECOND, 1, {})}
    assert names(latest_first(plan("a", "b"), Order(work, {_SECOND: 1}))) == ["b"]


def test_an_answer_needs_what_comes_before_it_alone():
    work = {1: Work(_FIRST, 1, {}), 2: Work(_SECOND, 1, {}), 3: Work(_SECOND, 2, {_SECOND: 1})}
    assert names(latest_first(plan("a", "b", "c"), Order(work))) == ["b", "c"]


def test_the_default_stream_has_one_order():
    work = {1: Work(0, 1, {}), 2: Work(0, 2, {0: 1})}
    given = plan("a", "b")
    assert latest_first(given, Order(work, {0: 2})) is given
