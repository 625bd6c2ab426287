"""What takes longer where no answer is there yet leaves out work in all other calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

import pytest

from porter.evaluate.timing.anew import sets_to_look_at, works_less
from porter.execution.job import Job, Run
from porter.native.session import Prepared, Replayed

RUN = Run(True, 0, (), (), (), (), (), (), "", "", 0.0)
ARM = Prepared(0, "", 32, ("kernel",), (), "")  # its sets are in the cache
LARGE = replace(ARM, sets=2)
BY_CALLS = replace(ARM, uncaptured="it synchronises", sets=1)


@dataclass
class Device:
    """Gives the times it is made with, one replay after the other."""

    times: list[tuple[float, float]]
    asked: list[Job] = field(default_factory=list)

    def replay(self, arm, job, index):
        self.asked.append(job)
        return Replayed(RUN, *self.times.pop(0))


@pytest.mark.parametrize(
    ("arm", "median_us", "alone_us", "later_us"),
    [
        (ARM, 1.27, 12.0, 1.9),  # launch-bound: most of the first call is its launch
        (ARM, 4.5, 25.0, 5.0),
        (LARGE, 37.3, 43.0, 43.1),
        (LARGE, 3174.0, 3358.0, 3094.0),
        (BY_CALLS, 28.7, 65.2, 65.2),
    ],
)
def test_honest_calls_take_about_as_long(arm, median_us, alone_us, later_us):
    device = Device([])
    assert not works_less(device, arm, median_us, Replayed(RUN, alone_us, later_us), [Job()])
    assert not device.asked


@pytest.mark.parametrize(
    ("arm", "median_us", "alone_us", "later_us"),
    [
        (ARM, 3.0, 52.0, 40.0),  # tiles whose first element is right already are skipped
        (ARM, 1.3, 12.0, 5.0),
        (LARGE, 10.0, 130.0, 14.0),  # one set is computed, the other gets a copy
        (LARGE, 10.0, 38.0, 38.0),  # rows are skipped, in less than a launch takes
        (BY_CALLS, 32.0, 112.0, 112.0),
    ],
)
def test_what_skips_its_work_is_told_with_both_times(arm, median_us, alone_us, later_us):
    device = Device([(alone_us, later_us), (alone_us, later_us)])
    told = works_less(device, arm, median_us, Replayed(RUN, alone_us, later_us), [Job(), Job(seed=1)])
    assert f"timed {median_us:.3g} us" in told
    assert device.asked == [Job(), Job(seed=1)]


def test_a_disturbance_is_no_work_left_out():
    device = Device([(60.0, 41.0)])
    assert not works_less(device, ARM, 40.0, Replayed(RUN, 900.0, 80.0), [Job(), Job()])


def test_what_does_not_end_again_tells_nothing():
    class Broken(Device):
        def replay(self, arm, job, index):
            return Replayed(replace(RUN, finished=False))

    assert works_less(Broken([]), ARM, 3.0, Replayed(RUN, 52.0, 40.0), [Job()])


@pytest.mark.parametrize(
    ("sets", "made_bytes", "looked_at"),
    [(32, 4096, 8), (30, 4 << 20, 8), (4, 24 << 20, 3), (2, 6 << 30, 2), (1, 4096, 1)],
)
def test_the_answers_of_several_sets_are_compared(sets, made_bytes, looked_at):
    chosen = [sets_to_look_at(sets, made_bytes, Random(seed)) for seed in range(50)]
    assert all(len(set(one)) == looked_at for one in chosen)
    assert set().union(*chosen) == set(range(sets))
