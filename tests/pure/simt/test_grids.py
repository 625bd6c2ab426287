"""Where grids stop growing: seen along each axis, by calls of which one is a little smaller than the other."""

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.execution.job import ScalarValue, TensorValue
from porter.simt.grids import Grids, Stop, fewest_that_shrink


def arguments(rows, columns):
    return (TensorValue(DType.FLOAT32, (rows, columns), np.zeros(1, np.float32)), ScalarValue(rows))


def unreached(grid, part):
    """Where `grid`, a function of rows and columns, is seen to stop with a part of the sizes for a device."""
    grids = Grids()
    for rows, columns in ((3, 37), (300, 1031)):
        grids.add("k", grid(rows, columns))
    large, small = (4096, 4096), (int(4096 * part), int(4096 * part))
    assert grids.unreached([("k", grid(*large))], None) == []
    return grids.unreached([("k", grid(*small))], fewest_that_shrink(arguments(*large), arguments(*small)))


@pytest.mark.parametrize(
    ("grid", "axis"),
    [
        (lambda rows, _: (min(rows, 1024), 1, 1), 0),
        (lambda rows, columns: (-(-columns // 32), min(rows, 3000), 1), 1),  # the other axis goes on growing
        (lambda rows, columns: (min(rows * columns // 1024, 14_000), 1, 1), 0),  # only in the last eighth of both
    ],
)
def test_an_axis_that_stops_is_seen_a_little_below_the_largest_sizes(grid, axis):
    assert unreached(grid, 15 / 16) == [Stop("k", axis, grid(4096, 4096)[axis])]


@pytest.mark.parametrize(
    "grid",
    [
        lambda rows, columns: (rows, -(-columns // 128), 1),
        lambda rows, columns: (-(-rows * columns // 1000), 1, 1),
        lambda rows, columns: (-(-columns // 400), rows, 1),  # 11 blocks, which a sixteenth less may leave as they are
        lambda rows, _: (min(rows, 300), 1, 1),  # executed
        lambda *_: (1024, 1, 1),  # the same in every call
    ],
)
def test_an_axis_that_grows_or_was_executed_is_not_named(grid):
    assert unreached(grid, 15 / 16) == []
    assert unreached(grid, 1 / 4) == []


def test_calls_of_which_none_is_smaller_show_nothing():
    assert fewest_that_shrink(arguments(32, 64), arguments(32, 64)) is None
    assert fewest_that_shrink(arguments(32, 64), arguments(16, 65)) is None
    assert fewest_that_shrink((), arguments(32, 64)) is None
    assert fewest_that_shrink(arguments(32, 64), arguments(32, 32)) == 2
    assert fewest_that_shrink(arguments(32, 64), arguments(30, 16)) == 16
