"""Devices that a search keeps at work, some of them slow: simulated, with the search as it is."""

from benchmarks.evolve.landscapes import landscapes
from benchmarks.serve.devices import simulated

SPACE = next(space for space in landscapes() if space.name == "elementwise 0")


def test_no_device_waits_for_a_slow_one_where_outcomes_count_as_they_come():
    together, rounds = (
        simulated(SPACE, 1, 20, 240, in_flight=in_flight, names=("schedule", "plan")) for in_flight in (True, False)
    )
    assert together.steady > 0.9
    assert rounds.steady < 0.5
    assert together.seconds < rounds.seconds / 2
