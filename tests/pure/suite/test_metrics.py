"""The metrics of a suite, by hand."""

import pytest

from porter.report.suite.tables import suite_tables, suite_text
from porter.suite.metrics import geometric_mean, metrics
from porter.suite.result import Result, SuiteResult


def result(name, outcome="verified", category="norm", **speedups):
    return Result(
        "mine",
        category,
        name,
        "",
        outcome,
        f"why {name}",
        "emulated",
        (),
        "",
        1.0,
        speedups,
        device="a device",
        timed="native",
    )


MIXED = (
    result("fast", cuda=4.0, pytorch=8.0),
    result("even", cuda=1.0),
    result("slow", cuda=0.5),
    result("wrong", "wrong", cuda=100.0),
    result("refused", "refused", category="loss"),
)


def test_what_is_not_verified_counts_as_nothing_however_fast():
    found = metrics(MIXED, "cuda")
    assert (found.operators, found.ported, found.verified, found.timed) == (5, 4, 3, 3)
    assert found.corr == 3 / 5
    assert found.fast == 1 / 5
    assert found.amsr == (4.0 + 1.0) / 5
    assert found.geomean == pytest.approx(2 ** (1 / 3))


def test_p_of_fast_p_is_a_bound_that_has_to_be_passed():
    assert [metrics(MIXED, "cuda", p).fast for p in (0.4, 0.5, 1.0, 3.9, 4.0)] == [3 / 5, 2 / 5, 1 / 5, 1 / 5, 0]


def test_a_baseline_is_counted_by_itself():
    assert metrics(MIXED, "pytorch").amsr == 8.0 / 5


def test_without_a_time_there_is_no_speed():
    found = metrics((result("a"), result("b", "wrong")), "cuda")
    assert (found.corr, found.fast, found.amsr, found.geomean, found.timed) == (0.5, None, None, None, 0)


def test_of_no_operators_nothing_is_right():
    assert metrics((), "cuda").corr == 0
    assert geometric_mean(()) is None


def test_the_table_has_a_row_a_category_and_names_what_fell_short():
    run = SuiteResult("triton", "sm_90", "1.0", MIXED)
    text = suite_text(run, suite_tables(run)).plain
    lines = text.splitlines()
    assert lines[0] == "times as fast as cuda"
    assert lines[1].split()[:2] == ["category", "operators"]
    assert [line.split()[:4] for line in lines[2:5]] == [
        ["norm", "4", "4", "3"],
        ["loss", "1", "0", "0"],
        ["all", "5", "4", "3"],
    ]
    assert "checked by emulation on the CPU; timed native on a device (porter 1.0)" in text
    assert "mine/norm/wrong" in text
    assert "why refused" in text
    assert "mine/norm/slow" not in text
