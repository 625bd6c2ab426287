"""Plans as JSON: what is written is read again, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.launch_plan.normal import digest, normal, nudged, numbers_of, same_work
from porter.launch_plan.steps import (
    Allocate,
    Await,
    Compute,
    Constant,
    Descriptor,
    ElementType,
    Fill,
    Input,
    KernelName,
    Launch,
    LaunchPlan,
    Move,
    Read,
    Record,
    Return,
    Scalar,
    Sequence,
    TensorView,
    Wait,
)
from porter.launch_plan.views import made, renumbered, used
from porter.launch_plan.wire import WireError, decode, encode

counts = st.integers(0, 1 << 40)
numbers = st.one_of(st.booleans(), st.integers(-(1 << 60), 1 << 60), st.floats(allow_nan=False))
extents = st.lists(counts, max_size=3).map(tuple)
views = st.builds(TensorView, counts, st.sampled_from(["float32", "int8", "bool"]), extents, extents, counts)
scalars = st.builds(Scalar, st.one_of(numbers, st.none(), st.text(max_size=5)))
plain = st.one_of(
    views, scalars, st.builds(ElementType, st.text()), st.builds(KernelName, st.text()),
    st.builds(Descriptor, views, extents, extents, extents, st.text()),
)  # fmt: skip
arguments = st.one_of(plain, st.lists(plain, max_size=2).map(tuple).map(Sequence))
named = st.lists(st.tuples(st.text(max_size=3), arguments), max_size=3).map(tuple)
steps = st.one_of(
    st.builds(Input, counts, counts), st.builds(Allocate, counts, counts), st.builds(Constant, counts, st.text()),
    st.builds(Fill, views, numbers, counts), st.builds(Move, views, views, counts), st.builds(Read, views, counts),
    st.builds(Compute, st.text(), named, st.lists(views, max_size=2).map(tuple), counts, counts),
    st.builds(Launch, st.text(), st.tuples(counts, counts, counts), named, st.just(()), counts, counts),
    st.builds(Wait, counts, counts), st.builds(Record, counts, counts), st.builds(Await, counts, counts),
    st.builds(Return, st.lists(st.one_of(views, scalars), max_size=2).map(tuple)),
)  # fmt: skip
plans = st.builds(
    LaunchPlan, st.lists(steps, max_size=6).map(tuple), st.lists(st.lists(numbers, max_size=2).map(tuple)).map(tuple)
)


@given(plans)
def test_what_is_written_is_read_again(plan):
    assert decode(LaunchPlan, encode(plan)) == plan


@given(plans, st.integers(1, 1 << 20))
def test_numbers_of_buffers_mean_nothing(plan, moved):
    buffers = {b for step in plan.steps for b in (*made(step), *(view.buffer for view in used(step)))}
    renamed = {buffer: buffer + moved for buffer in buffers}
    other = LaunchPlan(tuple(renumbered(step, renamed) for step in plan.steps), plan.reads)
    assert normal(other) == normal(plan)
    assert digest(other) == digest(plan)
    assert normal(normal(plan)) == normal(plan)


def test_numbers_of_streams_and_events_mean_nothing_but_which_are_the_same():
    def plan(side, event, waits_for):
        step = Launch("k", (1, 1, 1), (), stream=side)
        return LaunchPlan((Wait(side, 0), step, Record(event, side), Await(waits_for, 0), Return(())))

    assert same_work(plan(1, 0, 0), plan(7, 4, 4))
    assert not same_work(plan(1, 0, 0), plan(0, 0, 0))
    assert not same_work(plan(1, 0, 0), plan(1, 0, 1))


def test_what_was_read_is_no_part_of_the_work_and_is_moved_where_it_is_a_float():
    step = Launch("k", (1, 1, 1), (("scale", Scalar(0.5)),))
    assert same_work(LaunchPlan((step,), ((0.5,),)), LaunchPlan((step,), ((0.25,),)))
    assert not same_work(LaunchPlan((step,)), LaunchPlan((Launch("k", (1, 1, 1), (("scale", Scalar(0.25)),)),)))
    ((moved, zero, whole, true),) = nudged(((2.0, 0.0, 3, True),))
    assert 2.0 < moved < 2.01
    assert 0 < zero < 1e-9
    assert (whole, true) == (3, True)
    assert nudged(((3, True), (3, True)), {1}) == ((3, True), (4, True))


def test_what_launches_know_of_sizes_is_all_but_where_their_tensors_lie():
    def plan(buffer, grid, n, table=""):
        tensor = TensorView(buffer, "float32", (n,), (1,), 0)
        steps = (Allocate(buffer, 4 * n), Constant(buffer + 1, table))
        return LaunchPlan((*steps, Launch("k", (grid, 1, 1), (("x", tensor), ("n", Scalar(n // 8))))))

    assert numbers_of(plan(0, 4, 8)) == numbers_of(plan(5, 4, 9))
    assert numbers_of(plan(0, 4, 8)) != numbers_of(plan(0, 5, 8))
    assert numbers_of(plan(0, 4, 8)) != numbers_of(plan(0, 4, 16))
    assert numbers_of(plan(0, 4, 8)) != numbers_of(plan(0, 4, 8, "AAAA"))


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "nul", "[" * 100_000, '{"is": "Input", "buffer": 0, "argument": 0}',
        '{"is": "LaunchPlan", "steps": [{"is": "Path"}], "reads": []}',
        '{"is": "LaunchPlan", "steps": [{"is": "Input", "buffer": "0", "argument": 0}], "reads": []}',
        '{"is": "LaunchPlan", "steps": [{"is": "Input", "buffer": true, "argument": 0}], "reads": []}',
        '{"is": "LaunchPlan", "steps": [{"is": "Input", "buffer": 0, "argument": 0, "more": 1}], "reads": []}',
        '{"is": "LaunchPlan", "steps": [{"is": "Launch", "kernel": "k", "grid": [1, 1], "arguments": [], "options": [],'
        ' "stream": 0, "line": 0}], "reads": []}',
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused(text):
    with pytest.raises(WireError):
        decode(LaunchPlan, text)


def test_records_say_what_they_are():
    assert json.loads(encode(Input(1, 2))) == {"is": "Input", "buffer": 1, "argument": 2}
