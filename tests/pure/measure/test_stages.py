"""The seconds of each stage."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest

from porter.measure.stages import Stage, Stages

LOCK_S, WORK_S = 0.03, 0.01


@contextmanager
def lock():
    time.sleep(LOCK_S)
    yield


def test_waiting_for_a_lock_is_no_part_of_what_it_is_held_for():
    stages = Stages()
    begin = time.monotonic()
    for _ in range(2):
        with stages.holding(lock(), Stage.TIME):
            time.sleep(WORK_S)
    assert set(stages.seconds) == {Stage.WAIT, Stage.TIME}
    assert stages.seconds[Stage.WAIT] >= 2 * LOCK_S
    assert stages.seconds[Stage.TIME] >= 2 * WORK_S
    assert sum(stages.seconds.values()) <= time.monotonic() - begin


def test_a_stage_that_fails_took_its_time_all_the_same():
    stages = Stages()
    with pytest.raises(ValueError, match="no"), stages.of(Stage.CHECK):
        raise ValueError("no")
    assert Stage.CHECK in stages.seconds
