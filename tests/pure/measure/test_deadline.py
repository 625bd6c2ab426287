"""The time a migration may take."""

import threading
import time

import pytest

from porter.measure.deadline import Deadline, OutOfTime, Uncounted


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
