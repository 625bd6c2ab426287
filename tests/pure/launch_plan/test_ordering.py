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


def test_order_is_handed_on():
    assert broken(launch(1), Wait(2, 1), Wait(0, 2), RETURN) == ""


def test_two_launches_may_share_memory_without_an_order():
    assert broken(launch(1), launch(2), Wait(0, 1), Wait(0, 2), RETURN) == ""
