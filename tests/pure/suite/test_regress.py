"""What became of a port: told by outcome and by times, where both allow it."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from porter.errors import InputError
from porter.report.suite.regression import regression_document, regression_junit, regression_text
from porter.suite.known import known_failures
from porter.suite.regress import Change, compare, compare_all
from porter.suite.result import Result, Time

RIGHT = Result("mine", "norm", "a", "", "verified", "equal", "emulated", (), "a.py", 1.0)
WRONG = replace(RIGHT, outcome="wrong", because="at [0] got 1, want 2")
TIMED = replace(RIGHT, fidelity="native", time_us=Time(10.0, 9.9, 10.1), device="a device")


@pytest.mark.parametrize(
    ("outcome", "change"),
    [
        ("verified", Change.SAME),
        ("wrong", Change.WRONG),
        ("not_built", Change.NOT_BUILT),
        ("crashed", Change.NOT_RUN),
        ("timeout", Change.NOT_RUN),
        ("error", Change.NOT_RUN),
    ],
)
def test_what_was_right_and_is_not_is_lost(outcome, change):
    compared = compare(RIGHT, replace(WRONG, outcome=outcome))
    assert (compared.change, compared.is_lost) == (change, outcome != "verified")


def test_what_was_wrong_is_nothing_new_until_it_is_right():
    assert compare(WRONG, WRONG).change is Change.SAME
    assert compare(WRONG, RIGHT).change is Change.FIXED


def test_kernels_without_their_launcher_are_less_than_a_launcher_and_more_than_nothing():
    alone = replace(RIGHT, outcome="kernels_verified")
    assert compare(alone, alone).change is Change.SAME
    assert compare(RIGHT, alone).is_lost
    assert compare(alone, WRONG).is_lost
    assert not alone.is_verified


def test_a_known_failure_is_no_loss_and_its_end_is_said():
    failing, passing = compare(RIGHT, WRONG, "the driver rounds down"), compare(RIGHT, RIGHT, "the driver rounds down")
    assert (failing.change, failing.is_lost) == (Change.KNOWN, False)
    assert "the driver rounds down" in failing.text
    assert (passing.change, passing.is_lost) == (Change.FIXED, False)


@pytest.mark.parametrize(
    ("now", "change"),
    [
        (Time(20.0, 19.8, 20.2), Change.SLOWER),
        (Time(10.6, 10.5, 10.7), Change.SLOWER),
        (Time(10.3, 10.2, 10.4), Change.SAME),
        (Time(12.0, 9.0, 15.0), Change.SAME),
        (Time(9.0, 8.9, 9.1), Change.FASTER),
    ],
)
def test_slower_is_what_both_intervals_leave_no_doubt_about(now, change):
    assert compare(TIMED, replace(TIMED, time_us=now)).change is change


@pytest.mark.parametrize(
    "now",
    [replace(TIMED, device="another"), replace(TIMED, fidelity="proxy"), replace(TIMED, time_us=None, device="")],
)
def test_times_of_different_devices_are_not_compared(now):
    slow = replace(now, time_us=now.time_us and Time(99.0, 98.0, 100.0))
    compared = compare(TIMED, slow)
    assert compared.change is Change.SAME
    assert "not compared" in compared.text


TWICE = replace(TIMED, times_us={"float": Time(10.0, 9.9, 10.1), "half": Time(5.0, 4.9, 5.1)})


def test_one_workload_that_is_slower_is_enough():
    compared = compare(TWICE, replace(TWICE, times_us={**TWICE.times_us, "half": Time(10.0, 9.9, 10.1)}))
    assert compared.change is Change.SLOWER
    assert compared.text == "half: 5 us before, 10 us now: 2.00 times as long"


@pytest.mark.parametrize(
    "now",
    [
        replace(TWICE, times_us={"float": Time(10.0, 9.9, 10.1)}, untimed=("half: out of memory",)),
        replace(TWICE, times_us={}, time_us=None, device="", untimed=("half: out of memory",)),
    ],
)
def test_a_time_that_is_gone_is_lost_with_its_reason(now):
    compared = compare(TWICE, now)
    assert (compared.change, compared.is_lost) == (Change.NOT_TIMED, True)
    assert compared.text == "half: out of memory"


def test_a_baseline_of_one_time_is_compared_with_the_first():
    assert compare(TIMED, replace(TWICE, time_us=Time(20.0, 19.8, 20.2))).change is Change.SLOWER


BEFORE = (RIGHT, replace(RIGHT, name="b"), replace(RIGHT, name="c"))
NOW = {"mine/norm/a": RIGHT, "mine/norm/b": replace(WRONG, name="b"), "mine/norm/c": replace(WRONG, name="c")}
COMPARED = compare_all(BEFORE, NOW, {"mine/norm/c": "known"})


def test_the_report_tells_the_worst_first_and_counts():
    lines = regression_text(COMPARED).plain.splitlines()
    assert lines[0].startswith("no longer right  mine/norm/b")
    assert lines[-1] == "1 no longer right, 1 known failure, 1 as before"
    document = regression_document(COMPARED, "maca")
    assert (document["lost"], len(document["operators"])) == (1, 3)


def test_junit_has_a_case_each():
    suite = ElementTree.fromstring(regression_junit(COMPARED, "maca"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["skipped"]]
    assert suite[1].get("classname") == "mine.norm"


def test_known_failures_are_those_of_the_target(tmp_path):
    path = tmp_path / "known_failures.toml"
    assert known_failures(path, "maca") == {}
    path.write_text('[maca]\n"mine/norm/a" = "why"\n[triton]\n"mine/norm/b" = "because"\n')
    assert known_failures(path, "maca") == {"mine/norm/a": "why"}


@pytest.mark.parametrize("text", ["[maca", 'maca = "all"', "[maca]\na = 1", '[maca]\na = ""'])
def test_a_known_failure_needs_its_reason(tmp_path, text):
    path = tmp_path / "known_failures.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"known_failures\.toml"):
        known_failures(path, "maca")
