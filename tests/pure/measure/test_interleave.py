"""Sampling in turn, on simulated devices whose clock drifts."""

from __future__ import annotations

import math
import statistics
from random import Random

import pytest

from porter.measure.interleave import Interleaved, Stopped, StopRule, interleaved
from porter.measure.timing import CONFIDENCE


class Device:
    """Arms with true times in microseconds; its clock wanders by about `drift`, every sample has noise of its own."""

    def __init__(self, true_us: tuple[float, ...], seed: int, drift: float = 0.03, noise: float = 0.003) -> None:
        self.true_us, self.draw = true_us, Random(seed)
        self.drift, self.noise, self.now_s = drift, noise, 0.0
        self.phase = self.draw.random() * math.tau
        self.asked: list[list[int]] = []

    def clock(self) -> float:
        return self.now_s

    def sample(self, order):
        self.asked.append(list(order))
        return [self._once(arm) for arm in order]

    def _once(self, arm: int) -> float:
        self.now_s += 0.001
        slow = 1 + self.drift * math.sin(self.phase + self.now_s * 8)
        return self.true_us[arm] * slow * (1 + abs(self.draw.gauss(0, self.noise)))


def measured(device: Device, **rule: float) -> Interleaved:
    return interleaved(len(device.true_us), device.sample, StopRule(**rule), device.clock)


def test_a_gain_of_one_percent_is_seen_in_spite_of_three_percent_of_drift():
    ratios = [measured(Device((100.0, 99.0), seed)).ratio(1, to=0).median for seed in range(40)]
    assert all(abs(r - 0.99) < 0.002 for r in ratios)


def test_one_after_the_other_gets_the_same_gain_wrong():
    """Without taking turns drift decides: otherwise the test above would prove nothing."""
    wrong = 0
    for seed in range(40):
        device = Device((100.0, 99.0), seed)
        first, second = (statistics.median(device.sample([arm] * 100)) for arm in (0, 1))
        wrong += second / first > 1
    assert wrong >= 5


def test_a_linear_drift_cancels_within_a_block():
    now = [0]

    def sample(order):
        times = []
        for arm in order:
            now[0] += 1
            times.append((10.0, 20.0, 30.0)[arm] + now[0])
        return times

    found = interleaved(3, sample, StopRule(most_blocks=12), lambda: 0.0)
    for a, b, c in found.blocks_us:
        assert b - a == pytest.approx(10.0)
        assert c - b == pytest.approx(10.0)


def test_every_block_is_an_order_and_its_mirror_image_and_orders_change():
    device = Device((10.0, 11.0, 12.0), 5)
    measured(device)
    assert all(order == order[::-1] and sorted(order[:3]) == [0, 1, 2] for order in device.asked)
    assert len({tuple(order) for order in device.asked}) > 1


def test_the_same_seed_gives_the_same_orders():
    first, second = Device((10.0, 11.0), 5), Device((10.0, 11.0), 5)
    measured(first)
    measured(second)
    assert first.asked == second.asked


def test_sampling_stops_when_intervals_are_narrow():
    found = measured(Device((50.0,), 3, drift=0.0, noise=0.001), half_width=0.01)
    assert found.stopped is Stopped.NARROW
    assert len(found.timings[0].samples_us) == 2 * StopRule().least_blocks


def test_sampling_stops_when_the_time_is_used_up_and_says_so():
    device = Device((50.0,), 3, noise=0.5)
    found = measured(device, half_width=1e-6, budget_s=0.5)
    assert found.stopped is Stopped.BUDGET
    assert 0.5 <= found.seconds < 0.6


def test_a_block_that_something_disturbed_counts_for_no_arm():
    device = Device((100.0, 200.0), 9, drift=0.0)
    plain = device.sample

    def sample(order):
        times = plain(order)
        if len(device.asked) == 4:
            times[0] *= 3
        return times

    found = interleaved(2, sample, StopRule(most_blocks=20, half_width=1e-9), device.clock)
    assert found.left_out == 1
    assert all(len(t.samples_us) == 2 * 19 for t in found.timings)
    assert max(found.timings[0].samples_us) < 150


def test_the_interval_of_a_ratio_covers_the_truth():
    inside = 0
    for seed in range(200):
        ratio = measured(Device((100.0, 97.0), seed), half_width=0.0, budget_s=0.1).ratio(1, to=0)
        inside += ratio.interval[0] <= 0.97 <= ratio.interval[1]
    assert inside / 200 >= CONFIDENCE - 5 * (0.95 * 0.05 / 200) ** 0.5


def test_a_thing_against_itself_has_the_ratio_one():
    ratios = [measured(Device((70.0, 70.0), seed)).ratio(1, to=0).median for seed in range(40)]
    assert all(abs(r - 1) < 0.002 for r in ratios)


@pytest.mark.parametrize(("true_us", "most_blocks"), [((150.0, 100.0), 2), ((104.0, 100.0), 16)])
def test_what_is_certainly_too_slow_is_sampled_no_further(true_us, most_blocks):
    for seed in range(20):
        found = measured(Device(true_us, seed), slowest=1.02)
        assert found.stopped is Stopped.SLOW
        assert len(found.blocks_us) + found.left_out <= most_blocks


@pytest.mark.parametrize("candidate_us", [70.0, 99.0, 101.0])
def test_what_may_be_of_interest_is_sampled_to_the_end(candidate_us):
    """By chance alone one in forty would be cut at each look, if it were no slower than what is allowed."""
    assert all(
        measured(Device((candidate_us, 100.0), seed), slowest=1.02).stopped is not Stopped.SLOW for seed in range(40)
    )
