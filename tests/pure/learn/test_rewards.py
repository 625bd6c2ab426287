import pytest

from porter.learn.rewards import MOST_RATIO, Reward, reward


def test_the_ratio_is_over_the_parent_and_clipped():
    assert reward(Reward.RATIO, 3.0, 2.0, 1.0) == pytest.approx(1.5)
    assert reward(Reward.RATIO, 30.0, 2.0, 1.0) == MOST_RATIO
    assert reward(Reward.RATIO, 0.5, 0.0, 1.0) == pytest.approx(0.5)


def test_a_copy_of_the_best_program_in_the_prompt_gains_nothing():
    assert reward(Reward.GAIN, 2.0, 1.0, 2.0) == 0
    assert reward(Reward.GAIN, 2.5, 1.0, 2.0) == pytest.approx(0.25)
    assert reward(Reward.RATIO, 2.0, 1.0, 2.0) == pytest.approx(2.0)


@pytest.mark.parametrize("kind", Reward)
def test_what_is_not_verified_is_worth_nothing(kind):
    assert reward(kind, 0.0, 2.0, 1.0) == 0
    assert reward(kind, 0.0, 0.0, 1.0) == 0
