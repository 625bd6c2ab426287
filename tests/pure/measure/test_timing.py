"""What samples say: medians, intervals by order statistics, outliers."""

from __future__ import annotations

import statistics
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.measure.timing import Timing, disturbed, median_interval, relative_width

times = st.lists(st.floats(0.5, 1e6), min_size=1, max_size=60)


@given(times)
def test_the_interval_holds_the_median_and_lies_within_the_samples(samples):
    timing = Timing(tuple(samples))
    low, high = timing.interval_us
    assert min(samples) <= low <= timing.median_us <= high <= max(samples)


@given(times, st.randoms())
def test_the_order_of_samples_does_not_matter(samples, random):
    shuffled = list(samples)
    random.shuffle(shuffled)
    assert median_interval(shuffled) == median_interval(samples)


def test_ranks_are_those_of_published_tables():
    """Of 10 samples the 2nd and 9th (97.9 %), of 20 the 6th and 15th (95.9 %), of 100 the 40th and 61st (96.5 %)."""
    assert median_interval(range(1, 11)) == (2, 9)
    assert median_interval(range(1, 21)) == (6, 15)
    assert median_interval(range(1, 101)) == (40, 61)


def test_too_few_samples_give_their_whole_range():
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) == (1.0, 5.0)
    assert median_interval([7.0]) == (7.0, 7.0)


@pytest.mark.parametrize("count", [9, 30, 101])
def test_the_interval_covers_the_true_median_as_often_as_it_says(count):
    """Of a lopsided distribution with median 1: 95 % or more, within what 2,000 repeats can tell (5 deviations)."""
    draw = Random(count)
    covered = 0
    for _ in range(2000):
        low, high = median_interval([2 ** draw.gauss(0, 1) for _ in range(count)])
        covered += low <= 1.0 <= high
    assert covered / 2000 >= 0.95 - 5 * (0.95 * 0.05 / 2000) ** 0.5


def test_the_relative_width_is_half_the_interval_over_the_median():
    samples = [90.0, 95.0, 100.0, 105.0, 110.0, 100.0]
    assert relative_width(samples) == pytest.approx((110 - 90) / 2 / 100)


def test_one_sample_that_something_disturbed_is_an_outlier():
    draw = Random(1)
    samples = [100 + draw.gauss(0, 0.5) for _ in range(50)]
    samples[17] = 140.0
    assert disturbed(samples) == {17}


def test_a_clock_that_ticks_makes_no_outliers():
    assert disturbed([5.12] * 40 + [5.152]) == frozenset()


def test_no_sample_of_a_normal_distribution_is_left_out():
    draw = Random(2)
    assert not any(disturbed([draw.gauss(100, 1) for _ in range(200)]) for _ in range(50))


@given(st.lists(st.floats(1.0, 100.0), min_size=3, max_size=40), st.floats(0.1, 1000.0))
def test_medians_and_intervals_do_not_depend_on_the_unit(samples, factor):
    scaled = [s * factor for s in samples]
    assert statistics.median(scaled) == pytest.approx(statistics.median(samples) * factor)
    assert median_interval(scaled) == pytest.approx([b * factor for b in median_interval(samples)])
