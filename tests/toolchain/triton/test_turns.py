"""Programs of a launch that wait for each other, as the worker runs them."""

import numpy as np
import pytest

from porter.execution.job import FaultKind, Schedule
from porter_triton.replay.turns import MOST_AT_ONCE

ROWS = np.arange(1, 1 + 5 * 64, dtype=np.float32).reshape(5, 64)


@pytest.mark.parametrize("schedule", list(Schedule))
def test_programs_that_share_a_row_wait_for_each_other(call, schedule):
    run = call("meeting", ROWS, 4, schedule=schedule, seed=3)
    assert run.faults == ()
    np.testing.assert_allclose(run.results[0].storage, ROWS / ROWS.sum(axis=1, keepdims=True), rtol=1e-6)


def test_who_waits_for_too_few_races(call):
    run = call("meeting", ROWS, 3)
    assert {fault.kind for fault in run.faults} == {FaultKind.RACE}


def test_who_waits_for_too_many_is_told(call):
    (fault,) = call("meeting", ROWS, 5).faults
    assert "programs wait for something that no program does" in fault.message


def test_counters_that_put_nothing_in_order_race(call):
    (fault,) = call("hasty", ROWS).faults
    assert (fault.kind, fault.message) == (FaultKind.RACE, "a program reads what another wrote in 'sums'")


def test_a_launch_of_which_all_programs_must_run_at_once_is_no_port_for_every_device(call):
    assert call("crowd", np.zeros(MOST_AT_ONCE)).faults == ()
    (fault,) = call("crowd", np.zeros(MOST_AT_ONCE + 1)).faults
    assert f"{MOST_AT_ONCE} programs wait for one that may only begin when they are done" in fault.message


def test_a_launch_after_one_that_failed_is_as_ever(call):
    assert call("meeting", ROWS, 5).faults
    assert call("meeting", ROWS, 4).faults == ()
    assert call("doubled", np.ones(4)).finished


def test_rows_end_before_others_begin(call):
    """Of many rows no more programs wait at once than one row has."""
    rows = np.tile(ROWS, (2 * MOST_AT_ONCE // 5, 1))
    assert call("meeting", rows, 4).faults == ()
