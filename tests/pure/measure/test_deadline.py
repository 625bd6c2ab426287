"""The time a migration may take."""

import importlib
import sys
import threading
import time

import pytest

from porter.measure.deadline import Deadline, OutOfTime, Uncounted, unbroken


def test_what_takes_longer_than_the_limit_is_ended_where_it_is():
    deadline = Deadline(0.1)
    with pytest.raises(OutOfTime), deadline.running():
        time.sleep(30)
    assert deadline.passed


@pytest.mark.parametrize("limit_s", [None, 30.0])
def test_what_ends_before_is_left_alone(limit_s):
    deadline = Deadline(limit_s)
    with deadline.running():
        time.sleep(0.01)
    assert not deadline.passed


def test_nothing_comes_after_the_end():
    with Deadline(0.1).running():
        pass
    time.sleep(0.2)


def test_only_the_main_thread_has_a_limit():
    ended = []

    def work():
        with Deadline(0.05).running():
            time.sleep(0.2)
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]


def test_time_that_does_not_count_is_counted_once_however_many_spend_it():
    uncounted = Uncounted()
    with uncounted.passing(), uncounted.passing():
        time.sleep(0.05)
        within = uncounted.seconds
    after = uncounted.seconds
    time.sleep(0.05)
    assert 0.05 <= within <= after == uncounted.seconds


def test_a_limit_waits_for_what_does_not_count(monkeypatch):
    uncounted = Uncounted()
    monkeypatch.setattr("porter.measure.deadline.SHARED_PARTS", uncounted)
    ended = []

    def work():
        with uncounted.passing():
            time.sleep(0.4)
        ended.append(True)
        time.sleep(30)

    with pytest.raises(OutOfTime), Deadline(0.1).running():
        work()
    assert ended == [True]


def test_the_end_of_a_span_breaks_off_nothing_but_what_is_within_it():
    deadline = Deadline(30.0)
    done = []
    with deadline.running():
        with deadline.span(0.1) as first:
            time.sleep(30)
        with deadline.span(20.0) as second:
            done.append(time.sleep(0.01))
    assert (first.passed, second.passed, deadline.passed) == (True, False, False)
    assert done == [None]


def test_the_end_of_what_lies_around_ends_what_lies_within():
    deadline = Deadline(30.0)
    with deadline.running(), deadline.span(0.1) as around:
        with deadline.span(20.0) as within:
            time.sleep(30)
        pytest.fail("it went on")
    assert (around.passed, within.passed, deadline.passed) == (True, False, False)


def test_a_span_that_is_longer_than_the_limit_ends_with_it():
    deadline = Deadline(0.1)
    with pytest.raises(OutOfTime), deadline.running(), deadline.span(20.0):
        time.sleep(30)
    assert deadline.passed
    assert deadline.left_s == 0


def test_what_is_left_is_that_of_the_span_that_ends_first():
    deadline = Deadline(30.0)
    assert deadline.left_s == float("inf")
    with deadline.running():
        assert 29 < deadline.left_s <= 30
        with deadline.span(5.0):
            assert 4 < deadline.left_s <= 5
        with deadline.span(50.0):
            assert 29 < deadline.left_s <= 30


def test_a_span_without_a_limit_has_no_end():
    with Deadline().span(0.01) as span:
        time.sleep(0.05)
    assert not span.passed


def test_what_must_not_be_broken_off_comes_to_its_end():
    deadline, done = Deadline(30.0), []
    with deadline.running(), deadline.span(0.05) as span:
        with unbroken():
            time.sleep(0.3)
            done.append("whole")
        time.sleep(30)
        done.append("late")
    assert span.passed
    assert done == ["whole"]


def test_a_module_is_imported_to_its_end(tmp_path, monkeypatch):
    (tmp_path / "takes_its_time.py").write_text("import time\ntime.sleep(0.6)\nis_whole = True\n")
    monkeypatch.syspath_prepend(tmp_path)

    def work():
        importlib.import_module("takes_its_time")
        time.sleep(30)

    with pytest.raises(OutOfTime), Deadline(0.1).running():
        work()
    assert sys.modules.pop("takes_its_time").is_whole
