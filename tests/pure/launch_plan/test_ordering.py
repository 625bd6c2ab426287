"""Streams that share memory have to wait for each other."""

import pytest

from porter.launch_plan.ordering import Ordering
from porter.launch_plan.steps import Await, Fill, Launch, Read, Record, Return, Synchronise, TensorView, Wait

VIEW = TensorView(0, "float32", (4,), (1,), 0)


def broken(*steps):
    ordering = Ordering()
    return next(filter(None, map(ordering.broken_by, steps)), "")


def launch(stream):
    return Launch("k", (1, 1, 1), (("x", VIEW),), stream=stream)


RETURN = Return((VIEW,))


def test_one_stream_is_an_order():
    assert broken(Fill(VIEW, 0), launch(0), Read(VIEW), RETURN) == ""


@pytest.mark.parametrize("last", [RETURN, Read(VIEW), Fill(VIEW, 0)])
def test_memory_of_another_stream_is_used_only_after_waiting_for_it(last):
    assert "stream 1" in broken(Wait(1, 0), launch(1), last)
    assert broken(Wait(1, 0), launch(1), Wait(0, 1), last) == ""


def test_events_order_what_was_given_before_them():
    assert broken(launch(1), Record(7, 1), Await(7, 0), RETURN) == ""
    assert broken(Record(7, 1), launch(1), Await(7, 0), RETURN) != ""


def test_a_host_that_waits_orders_everything():
    assert broken(launch(1), Synchronise(), RETURN) == ""


def test_a_host_that_waits_for_one_stream_orders_no_other():
    other = (Wait(1, 0), launch(1), Record(7, 2), Synchronise(7), RETURN)
    own = (Wait(1, 0), launch(1), Record(7, 1), Synchronise(7), RETURN)
    assert broken(*other)
    assert broken(*own) == ""


def test_a_host_that_reads_waits_for_the_stream_it_reads_on():
    elsewhere = TensorView(1, "float32", (1,), (1,), 0)
    assert broken(launch(1), Read(elsewhere, 1), RETURN) == ""
    assert broken(launch(1), Read(elsewhere, 2), RETURN)


def test_order_is_handed_on():
    assert broken(launch(1), Wait(2, 1), Wait(0, 2), RETURN) == ""


def test_two_launches_may_share_memory_without_an_order():
    assert broken(launch(1), launch(2), Wait(0, 1), Wait(0, 2), RETURN) == ""
