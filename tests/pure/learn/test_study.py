import json
from random import Random

import pytest

from porter.errors import InputError
from porter.learn.arms import Drawn, InOrder, Learnt
from porter.learn.landscape import Landscape, families, synthetic
from porter.learn.schedule_model import load, save, trained
from porter.learn.searching import Searched
from porter.learn.study import ARMS, study
from porter.learn.table import Trial
from porter.learn.trees import Growth
from porter.schedule.description import NestDescription
from porter.schedule.schedule import Algorithm, Schedule

NEST = NestDescription((1 << 20,), (), 1 << 22, 1 << 22, (1, 1), 1, 0, 3, 1, False)
WIDTHS = (256, 512, 1024, 2048)


def landscape(times, order=()):
    choices = tuple(
        Trial(Schedule(Algorithm.FLAT, columns=width), time) for width, time in zip(WIDTHS, times, strict=True)
    )
    return Landscape("op", "pointwise", NEST, choices, order)


@pytest.fixture(scope="module")
def world():
    return synthetic(12)


@pytest.fixture(scope="module")
def found(world):
    return study(world, ARMS, evaluations=8, seeds=1)


def test_what_was_learnt_of_other_families_beats_search_and_draws(found):
    assert found.area("learnt").mean > found.area("search").mean > found.area("random").mean
    assert found.difference("learnt", "random").low > 0
    assert found.duplicates("learnt") == found.duplicates("search") == 0


def test_a_worth_never_falls_and_is_at_most_one(found):
    for played in found.played.values():
        for one in played:
            assert list(one.worths) == sorted(one.worths)
            assert 0 <= one.worths[0] <= one.worths[-1] <= 1


def test_a_model_is_the_same_bits_and_reads_back(world, tmp_path):
    growth = Growth(trees=5)
    one, other = trained(world, 1, growth, {"device": "none"}), trained(world, 1, growth, {"device": "none"})
    assert one == other
    file = save(one, tmp_path / "model.json")
    assert load(file) == one
    assert load(file).ranked(NEST, [Schedule(Algorithm.FLAT, columns=w) for w in WIDTHS]) == one.ranked(
        NEST, [Schedule(Algorithm.FLAT, columns=w) for w in WIDTHS]
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "porter schedule model", "version": 99}', "{}"])
def test_what_is_no_model_is_said_to_be_none(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match="no model of schedules"):
        load(tmp_path / "bad.json")
    with pytest.raises(InputError, match="nothing to learn from"):
        trained([])


def test_a_held_out_family_is_not_learnt_from(world):
    learnt_from = []

    def spying(known, seed):
        assert seed == 0
        learnt_from.append({one.family for one in known})
        return Drawn()

    study(world, {"spy": spying}, evaluations=1, seeds=1)
    everything = set(families(world))
    assert learnt_from == [everything - {family} for family in families(world)]


def test_an_operator_may_be_held_out_by_itself(world):
    learnt_from = []

    def spying(known, seed):
        assert seed == 0
        learnt_from.append({one.name for one in known})
        return Drawn()

    study(world, {"spy": spying}, evaluations=1, seeds=1, held_out="operator")
    everything = {one.name for one in world}
    assert learnt_from == [everything - {name} for name in sorted(everything)]


def test_trust_in_an_order_that_is_great_enough_follows_it(world):
    place = landscape([3.0, 4.0, 2.0, 1.0], (2, 0, 3, 1))
    chooser, told = Learnt(trained(world, 0, Growth(trees=20)), trust=1e3).begin(place, Random(0)), []
    for _ in WIDTHS:
        chosen = chooser.chosen(told)
        told.append((chosen, place.choices[chosen].microseconds))
    assert [chosen for chosen, _ in told] == [2, 0, 3, 1]


def test_what_does_not_run_is_an_evaluation_worth_nothing():
    (one,) = study([landscape([None, 4.0, 2.0, 8.0], (0, 1, 2, 3))], {"order": ARMS["order"]}, 6, 1).played["order"]
    assert one.worths == (0.0, 0.5, 1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("arm", [InOrder(), Searched()])
def test_an_arm_tries_every_choice_once(arm):
    place = landscape([3.0, None, 2.0, 1.0], (2, 0))
    chooser, told = arm.begin(place, Random(0)), []
    for _ in WIDTHS:
        chosen = chooser.chosen(told)
        told.append((chosen, place.choices[chosen].microseconds))
    assert sorted(chosen for chosen, _ in told) == [0, 1, 2, 3]
    assert told[0][0] == 2


def test_kriging_without_the_order_begins_with_a_drawn_schedule():
    place = landscape([3.0, None, 2.0, 1.0], (2, 0))
    first = {Searched(in_order=False).begin(place, Random(seed)).chosen([]) for seed in range(20)}
    assert first == {0, 1, 2, 3}


def test_a_model_that_is_wrong_is_corrected_by_what_it_is_told(world):
    model = trained(world, 0, Growth(trees=20))
    place = synthetic(16, seed=5)[12]
    chooser = Learnt(model).begin(place, Random(0))
    first = chooser.chosen([])
    assert chooser.chosen([(first, 1.0)]) != first
    failed = chooser.chosen([(first, None)])
    assert failed != first


def test_synthetic_times_are_drawn_once(world):
    assert synthetic(12) == world
    assert synthetic(12, seed=1) != world
    assert len(families(world)) == 4
    assert json.dumps([one.best_us for one in world])
