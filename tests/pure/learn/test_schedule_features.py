import math
from dataclasses import replace

import pytest

from porter.learn.schedule_features import TRANSFERS, features
from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule

SOFTMAX = NestDescription((4096,), (32768,), 1 << 29, 1 << 29, (2, 3), 1, 0, 3, 2, False)
FLAT = NestDescription((1 << 27,), (), 1 << 29, 1 << 29, (1, 1), 1, 0, 3, 2, False)


@pytest.mark.parametrize(
    ("schedule", "transfers"),
    [
        (Schedule(Algorithm.HELD, columns=32768, warps=32), 1.0),
        (Schedule(Algorithm.SHARED, columns=32768, parts=4, warps=16), 1.0),
        (Schedule(Algorithm.STREAMED, columns=2048), 1.5),
        (Schedule(Algorithm.STREAMED, columns=2048, in_one_pass=False), 2.0),
        (Schedule(Algorithm.SPLIT, columns=2048, parts=8), 1.5),
    ],
)
def test_what_a_schedule_moves_follows_from_how_often_it_reads(schedule, transfers):
    assert features(SOFTMAX, schedule)[TRANSFERS] == transfers


def test_programs_and_elements_are_those_of_the_algorithm():
    flat = features(FLAT, Schedule(Algorithm.FLAT, columns=1024, warps=4))
    assert (flat["programs"], flat["elements a thread"]) == (17.0, 3.0)
    held = features(SOFTMAX, Schedule(Algorithm.HELD, columns=32768, warps=32))
    assert (held["programs"], held["elements a thread"], held["steps"]) == (12.0, 5.0, 0.0)
    shared = features(SOFTMAX, Schedule(Algorithm.SHARED, columns=32768, parts=4, warps=8))
    assert (shared["programs"], shared["elements a thread"]) == (14.0, 5.0)
    split = features(SOFTMAX, Schedule(Algorithm.SPLIT, columns=1024, parts=8, warps=8))
    assert (split["programs"], split["steps"]) == (15.0, 2.0)


def test_all_nests_and_schedules_have_the_same_finite_features():
    nests = (SOFTMAX, FLAT, NestDescription((), (5,), 20, 4, (1, 1), 1, 0, 0, 0, False))
    nests = (*nests, replace(FLAT, rows=(7, 3), window=9), replace(SOFTMAX, rows_are_contiguous=True))
    every = [features(nest, Schedule(way, columns=64, parts=2)) for nest in nests for way in Algorithm]
    assert {tuple(one) for one in every} == {tuple(every[0])}
    assert all(math.isfinite(value) for one in every for value in one.values())
