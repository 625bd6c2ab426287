import pytest

from porter.learn.rewards import MOST_RATIO, Reward, reward, reward_of
from tests.pure.learn.steps_by_hand import search, step


def test_the_ratio_is_over_the_parent_and_clipped():
    assert reward_of(step(2, 3.0, parent=2.0), Reward.RATIO) == pytest.approx(1.5)
    assert reward_of(step(2, 30.0, parent=2.0), Reward.RATIO) == MOST_RATIO
    assert reward_of(step(2, 0.5, parent=0), Reward.RATIO) == pytest.approx(0.5)


def test_a_copy_of_the_best_program_in_the_prompt_gains_nothing():
    assert reward_of(step(2, 2.0, parent=1.0, exemplars=(2.0, 1.5)), Reward.GAIN) == 0
    assert reward_of(step(2, 2.5, parent=1.0, exemplars=(2.0, 1.5)), Reward.GAIN) == pytest.approx(0.25)
    assert reward_of(step(2, 2.0, parent=1.0, exemplars=(2.0,)), Reward.RATIO) == pytest.approx(2.0)


@pytest.mark.parametrize("kind", Reward)
def test_what_is_not_verified_and_the_seed_are_worth_nothing(kind):
    assert reward_of(step(2, 0, parent=2.0), kind) == 0
    assert reward_of(search()[0], kind) == 0
    assert reward(kind, 0.0, 0.0, 1.0) == 0
