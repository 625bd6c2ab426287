"""When schedules are timed: only where a port is slower than its memory. The times here are made up."""

from dataclasses import replace

import pytest

from porter.backend import Follow
from porter.contract.model.contract import Workload
from porter.errors import MachineError
from porter.evaluate.model.migration import Followed, MigrateOptions
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.model.speed import Measured, NotMeasured
from porter.evolve.scored import Measure, Score
from porter.measure.environment import DeviceState, Environment
from porter.measure.interleave import Stopped
from porter.measure.timing import Timing
from porter.search import choice

STATE = DeviceState(1980, 3201, 120.0, 40, (), 0)
ENVIRONMENT = Environment(
    *("H200", "GPU-1", "580.1", "13.0", 132, 60 << 20, 1980, "2.11", "3.6", "13.0.88", "0.2", "abc"), STATE, STATE
)


def at(share):
    """Returns the time of a workload whose tensors move at `share` of a copy's bandwidth."""
    found = Timing((1000.0,) * 11), (), (), "", Stopped.NARROW, 0, round(share * 1_000_000), 1e9, ENVIRONMENT
    return Measured(Workload("bench", {"n": 1}, 1), Fidelity.NATIVE, *found)


@pytest.fixture
def seek(migration, monkeypatch, tmp_path):
    """`seek(*speeds)`: whether schedules are timed for a port with these times, and what is said of its own.

    The others have the `scores` given, unless there is a `failure`.
    """

    def sought(*speeds, scores=None, failure=None):
        asked = []

        def compared(*_, is_slow):
            asked.append("slow" if is_slow else "fast")
            if failure is not None:
                raise failure
            return {}, scores or {}

        timed = replace(migration.entries[0], speeds=speeds)
        monkeypatch.setattr(choice, "with_times", lambda one, *_: replace(one, entries=(timed,)))
        monkeypatch.setattr(choice, "_compared", compared)
        followed = replace(migration, followed=Followed(Follow.FORMULA, "is written from its formula"))
        made = choice.chosen(followed, MigrateOptions("triton", tmp_path), lambda _: None)
        assert made.entries == (timed,)
        return asked, made.followed.because

    return sought


def test_a_port_as_fast_as_a_copy_keeps_its_schedule_and_says_so(seek):
    assert seek(at(1.02), at(0.96)) == (
        [],
        "is written from its formula; nothing else was timed beside it: "
        "it moves its tensors at 96% of a copy's bandwidth",
    )


@pytest.mark.parametrize("speeds", [(at(0.9),), (at(1.02), at(0.7))])
def test_schedules_are_timed_where_a_workload_is_slower_than_memory(seek, speeds):
    slower = {"flat": Score(Measure.NATIVE, 0.9, 0.8, 1.1), "rows": Score(Measure.NATIVE, 1.015, 1.009, 1.02)}
    assert seek(*speeds, scores=slower) == (
        ["fast"],
        "is written from its formula; it was timed beside 2 other schedules, none 1 % faster",
    )


def test_it_is_said_how_fast_the_port_is_that_follows_the_kernels(seek):
    scores = {choice._KERNELS: Score(Measure.NATIVE, 0.4, 0.39, 0.41)}
    assert seek(at(0.9), scores=scores)[1] == (
        "is written from its formula; the port that follows its kernels was 0.400 times as fast"
    )
    scores["flat"] = Score(Measure.NATIVE, 0.9, 0.8, 1.0)
    assert seek(at(0.9), scores=scores)[1] == (
        "is written from its formula; it was timed beside 1 other schedule, none 1 % faster; "
        "the port that follows its kernels was 0.400 times as fast"
    )


def test_the_port_that_follows_the_kernels_is_timed_beside_one_at_less_than_half_the_bandwidth(seek):
    assert seek(at(1.02), at(0.49))[0] == ["slow"]
    assert seek(at(0.51))[0] == ["fast"]


def test_a_port_without_other_schedules_says_so(seek):
    assert seek(at(0.9))[1] == "is written from its formula; nothing else could be timed beside it"


def test_schedules_are_timed_where_a_workload_has_no_time(seek):
    assert seek(at(1.0), NotMeasured(None, Fidelity.NATIVE, "the device is gone"))[0]
    assert seek()[0]


def test_a_choice_that_fails_is_said_and_leaves_the_port_with_its_times(seek):
    failure = MachineError("the device is gone", "plug it in")
    assert seek(at(0.5), failure=failure) == (
        ["fast"],
        "is written from its formula; the choice among its schedules failed: the device is gone",
    )
