import numpy as np
import pytest

from porter.learn.trees import Growth, grown

DRAW = np.random.default_rng(1)
ROWS = DRAW.normal(size=(400, 5))
TARGETS = np.where(ROWS[:, 0] > 0.3, 1.0, -1.0) * (ROWS[:, 3] > 0) + 0.2 * ROWS[:, 1]
EVEN = np.ones(len(ROWS))


def test_a_forest_learns_what_depends_on_two_features_together():
    forest = grown(ROWS[:300], TARGETS[:300], EVEN[:300], Growth(), 0)
    left = TARGETS[300:] - forest.predicted(ROWS[300:])
    assert (left**2).mean() < 0.15 * TARGETS[300:].var()


def test_the_same_data_and_seed_make_the_same_bits():
    one, other = (grown(ROWS, TARGETS, EVEN, Growth(trees=10), 3) for _ in range(2))
    assert one == other
    assert one != grown(ROWS, TARGETS, EVEN, Growth(trees=10), 4)


def test_rows_count_by_their_weight():
    weights = np.where(ROWS[:, 2] > 0, 1.0, 1e-6)
    opposite = np.where(ROWS[:, 2] > 0, TARGETS, -TARGETS)
    forest = grown(ROWS[:, [0, 1, 3, 4]], opposite, weights, Growth(), 0)
    heavy = ROWS[:, 2] > 0
    left = opposite[heavy] - forest.predicted(ROWS[heavy][:, [0, 1, 3, 4]])
    assert (left**2).mean() < 0.2 * TARGETS.var()


@pytest.mark.parametrize("rows", [np.ones((30, 2)), np.arange(4.0).reshape(4, 1)])
def test_where_nothing_can_be_told_apart_the_mean_is_foretold(rows):
    targets = np.full(len(rows), 2.0)
    forest = grown(rows, targets, np.ones(len(rows)), Growth(trees=200, damping=1e-9), 0)
    assert forest.predicted(rows) == pytest.approx(targets, rel=1e-3)
