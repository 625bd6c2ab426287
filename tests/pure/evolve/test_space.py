"""Spaces give legal points only, and the same ones for the same seed."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.evolve.candidate import File, Origin
from porter.evolve.space import AS_IS, Knob, Space

KNOBS = (Knob("threads", (64, 128, 256, 512), 256), Knob("warps", (AS_IS, 1, 2, 4), AS_IS))


def files(point):
    return None if point["warps"] == 4 else (File("k.py", f"{point['threads']} {point['warps']}"),)


SPACE = Space(KNOBS, files, lambda point: point["warps"] == AS_IS or point["threads"] >= 64 * point["warps"])


def test_a_knob_has_its_default_and_each_value_once():
    with pytest.raises(ValueError, match="default 3"):
        Knob("k", (1, 2), 3)
    with pytest.raises(ValueError, match="default 1"):
        Knob("k", (1, 1), 1)


def test_numbers_are_near_their_neighbours_and_words_to_everything():
    assert KNOBS[0].near(256) == (128, 512)
    assert KNOBS[0].near(64) == (128,)
    assert KNOBS[1].near(AS_IS) == (1, 2, 4)
    assert KNOBS[1].near(2) == (AS_IS, 1, 4)


def test_the_seed_is_where_nothing_is_turned():
    assert SPACE.seed() == {"threads": 256, "warps": AS_IS}


def test_neighbours_differ_in_one_step_of_one_knob_and_are_legal():
    near = list(SPACE.neighbours({"threads": 128, "warps": 2}))
    assert near == [
        {"threads": 256, "warps": 2},
        {"threads": 128, "warps": AS_IS},
        {"threads": 128, "warps": 1},
    ]


@given(st.integers())
def test_whatever_is_drawn_is_legal_and_the_same_again(seed):
    def drawn(random):
        sample = SPACE.sample(random)
        mutated = SPACE.mutated(SPACE.seed(), random)
        return sample, mutated, SPACE.crossed(sample, mutated, random)

    points = drawn(Random(seed))
    assert all(map(SPACE.legal, points))
    assert points[1] != SPACE.seed()
    assert points == drawn(Random(seed))
    assert all(points[2][k.name] in (points[0][k.name], points[1][k.name]) for k in KNOBS)


def test_where_nothing_is_legal_nothing_is_drawn():
    nowhere = Space(KNOBS, files, lambda _: False)
    assert nowhere.sample(Random(0)) is None
    assert nowhere.mutated(nowhere.seed(), Random(0)) is None
    assert not list(nowhere.neighbours(nowhere.seed()))


def test_a_candidate_knows_its_point_and_what_cannot_be_made_is_none():
    made = SPACE.candidate({"threads": 128, "warps": 1}, Origin("test"))
    assert made.point == {"threads": 128, "warps": 1}
    assert made.files == (File("k.py", "128 1"),)
    assert SPACE.candidate({"threads": 64, "warps": 2}, Origin("test")) is None
    assert SPACE.candidate({"threads": 512, "warps": 4}, Origin("test")) is None
    assert SPACE.candidate({"threads": 100, "warps": 1}, Origin("test")) is None
    assert SPACE.candidate({"threads": 128}, Origin("test")) is None


def test_what_was_turned_is_told_in_words():
    assert SPACE.told(SPACE.seed(), {"threads": 512, "warps": 2}) == "threads: 256 -> 512, warps: as it is -> 2"
