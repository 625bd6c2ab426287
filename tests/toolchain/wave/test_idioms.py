"""Code written for warps of 32 lanes: the port gives CUDA's answer on 64 lanes, a plain rename does not."""

from pathlib import Path

import numpy as np
import pytest

from porter.execution.job import FaultKind, Schedule

# Right on 64 lanes as it stands: a tile of 32 says so itself.
ALREADY_RIGHT = {"tile_of_32"}
# Wrong in CUDA already, by a race: the answer is what the code means, not what it does.
RACING = {"volatile_tail"}
# Reading a lane that takes no part and not using the value: undefined in CUDA, and common.
FAULTS_OF_THE_SOURCE = {"ballot_mask_for_shuffles": {FaultKind.LANE_ABSENT}}
NAMES = sorted(p.stem for p in (Path(__file__).parent / "idioms").glob("*.cu"))


def words(run):
    """What an idiom left in `out`."""
    return run.outputs[1].storage


def kinds(run):
    """The kinds of fault a run has met."""
    return {fault.kind for fault in run.faults}


@pytest.mark.parametrize("name", [n for n in NAMES if n not in RACING])
@pytest.mark.parametrize("schedule", [Schedule.FORWARD, Schedule.REVERSE])
def test_port_gives_the_answer_of_cuda(name, schedule, original, ported):
    expected, got = original.run(name), ported.run(name, schedule)
    assert expected.finished
    assert got.finished
    assert kinds(got) == kinds(expected) == FAULTS_OF_THE_SOURCE.get(name, set())
    np.testing.assert_array_equal(words(got), words(expected))
    assert np.any(words(expected))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ALREADY_RIGHT | RACING])
def test_plain_rename_fails_on_64_lanes(name, original, renamed):
    got = renamed.run(name)
    assert not got.finished or got.faults or not np.array_equal(words(got), words(original.run(name)))


@pytest.mark.parametrize("schedule", list(Schedule))
def test_lockstep_tail_becomes_right(schedule, ported, idioms):
    got = ported.run("volatile_tail", schedule)
    assert got.faults == ()
    sums = idioms["volatile_tail"].input().reshape(-1, 512).sum(axis=1)
    np.testing.assert_array_equal(words(got)[: len(sums)].view(np.float32), sums)


def test_lockstep_tail_is_wrong_when_renamed(renamed, idioms):
    sums = idioms["volatile_tail"].input().reshape(-1, 512).sum(axis=1)
    got = [words(renamed.run("volatile_tail", schedule))[: len(sums)].view(np.float32) for schedule in Schedule]
    assert not all(np.array_equal(g, sums) for g in got)
