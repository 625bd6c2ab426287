"""How the elements of 16 and 8 bit answers are rounded: in fewer bits, or in one direction, which no bound shows."""

import numpy as np
import pytest

from porter.comparison.compare import compare
from porter.comparison.rounding import rounded_otherwise
from porter.contract.model.contract import Tolerance
from porter.contract.model.dtype import DType, decode, encode
from porter.execution.job import TensorValue

NARROW = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2)
CHANCE = np.random.default_rng(7)
EXACT = CHANCE.normal(size=4000) * 3


def tensor(values, dtype):
    return TensorValue(dtype, (len(values),), encode(np.asarray(values, np.float64), dtype))


def through(dtype, values):
    return decode(encode(values, dtype), dtype)


def cut_off(values, dtype):
    """The number nearest to zero of the two that lie around each."""
    nearest = through(dtype, values)
    step = np.ldexp(dtype.epsilon, np.frexp(nearest)[1] - 1)
    return np.where(np.abs(nearest) > np.abs(values), nearest - np.sign(values) * step, nearest)


@pytest.mark.parametrize("dtype", NARROW)
def test_what_differs_as_single_precision_does_is_rounded_alike(dtype):
    other = EXACT * (1 + 1e-6 * CHANCE.normal(size=EXACT.size))
    assert not rounded_otherwise(tensor(other, dtype), tensor(EXACT, dtype), None)


def test_a_store_through_bfloat16_shows_in_float16_though_each_element_is_within_the_tolerance():
    want, got = tensor(EXACT, DType.FLOAT16), tensor(through(DType.BFLOAT16, EXACT), DType.FLOAT16)
    assert compare(got, want, None).passed
    assert "differ by more than one step of float16" in rounded_otherwise(got, want, None)
    quarter = np.where(np.arange(EXACT.size) % 1024 < 256, through(DType.BFLOAT16, EXACT), EXACT)
    assert rounded_otherwise(tensor(quarter, DType.FLOAT16), want, None)


@pytest.mark.parametrize("dtype", NARROW)
def test_numbers_that_are_cut_off_show(dtype):
    want, got = tensor(EXACT, dtype), tensor(cut_off(EXACT, dtype), dtype)
    assert compare(got, want, Tolerance(2 * dtype.epsilon, 0.0)).passed
    assert "in one direction" in rounded_otherwise(got, want, None)
    below = np.where(EXACT > 0, cut_off(EXACT, dtype), 2 * through(dtype, EXACT) - cut_off(EXACT, dtype))
    assert "in one direction" in rounded_otherwise(tensor(below, dtype), want, None)


def by_chance(dtype, values):
    """One of the two neighbours of each number, the nearer one more often, as in the original's twin."""
    nearest = cut_off(values, dtype)
    step = np.ldexp(dtype.epsilon, np.frexp(nearest)[1] - 1)
    return nearest + np.sign(values) * step * (CHANCE.random(values.size) < np.abs(values - nearest) / step)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_an_original_that_rounds_on_the_way_leaves_its_port_as_much(dtype):
    parts = CHANCE.normal(size=(16, 4000))

    def summed(rounded):
        total = np.zeros(4000)
        for part in parts:
            total = rounded(dtype, total + part)
        return total

    want, exact = tensor(summed(through), dtype), tensor(parts.sum(axis=0), dtype)
    runs = np.array([summed(by_chance) for _ in range(8)])
    furthest = np.abs(runs - decode(want.storage, dtype)).argmax(axis=0)
    assert rounded_otherwise(exact, want, None)
    assert not rounded_otherwise(exact, want, tensor(runs[furthest, np.arange(4000)], DType.FLOAT64))


def test_a_few_numbers_say_nothing():
    want, got = tensor(EXACT[:60], DType.BFLOAT16), tensor(cut_off(EXACT[:60], DType.BFLOAT16), DType.BFLOAT16)
    assert not rounded_otherwise(got, want, None)
    rows = np.repeat(EXACT[:8], 500)
    assert not rounded_otherwise(tensor(cut_off(rows, DType.FLOAT16), DType.FLOAT16), tensor(rows, DType.FLOAT16), None)


def test_wide_types_are_held_to_their_tolerance_alone():
    assert not rounded_otherwise(tensor(EXACT * (1 + 1e-6), DType.FLOAT32), tensor(EXACT, DType.FLOAT32), None)
