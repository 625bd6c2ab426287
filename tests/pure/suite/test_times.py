"""The times of a migration's document: what is averaged, and what is told to be missing."""

from __future__ import annotations

import pytest

from porter.suite.result import Time
from porter.suite.times import times_of


def time(workload="bench", us=4.0, without=(), entry="forward", share=0.5, **speedups):
    baselines = [{"name": name.replace("_", "."), "speedup": speedup} for name, speedup in speedups.items()]
    timing = {"median_us": us, "interval_us": [us - 1, us + 1]}
    return {
        "entry": entry, "workload": workload, "fidelity": "native", "timing": timing, "baselines": baselines,
        "without": list(without), "share_of_limit": share,
    }  # fmt: skip


FAILED = {"entry": "forward", "workload": "bench", "fidelity": "native", "because": "out of memory"}


def test_a_baseline_counts_where_every_timed_workload_has_it():
    first, second = time(cuda=2.0, torch_compile=3.0), time(without=["torch.compile: wrong"], cuda=8.0)
    found = times_of({"times": [first, second]})
    assert found.speedups == {"cuda": pytest.approx(4.0)}
    assert found.untimed == ("forward at bench (2): not beside torch.compile: wrong",)


def test_a_workload_without_a_time_is_told_and_leaves_the_others():
    found = times_of({"times": [FAILED, time(cuda=2.0)]})
    assert found.speedups == {"cuda": 2.0}
    assert found.untimed == ("forward at bench: out of memory",)
    assert found.times_us == {"forward at bench (2)": Time(4.0, 3.0, 5.0)}
    assert found.time_us == Time(4.0, 3.0, 5.0)


def test_without_any_time_there_are_reasons_alone():
    found = times_of({"times": [FAILED]})
    assert (found.speedups, found.time_us, found.timed, found.share_of_limit) == ({}, None, "", None)
    assert found.untimed == ("forward at bench: out of memory",)


def test_an_entry_that_was_never_to_be_timed_is_no_missing_time():
    assert times_of({"times": []}).untimed == ()
    assert times_of({"error": {"message": "no"}}).untimed == ()


def test_the_share_of_the_limit_is_of_all_times():
    assert times_of({"times": [time(share=0.2), time(share=0.8)]}).share_of_limit == pytest.approx(0.4)
