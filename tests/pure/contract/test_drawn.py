"""Large tensors: a pool, and elements drawn from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.workload.drawn import drawn, extended, key_of
from porter.contract.workload.materialise import materialise

MASK = (1 << 64) - 1
POOL = 65_521
KEYS = st.integers(0, MASK)


def one(pool: int, place: int, key: int) -> int:
    """SplitMix64 by Python's own integers."""
    mixed = (place * 0x9E3779B97F4A7C15 + key) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return (((mixed ^ (mixed >> 31)) >> 32) * pool) >> 32


@given(st.integers(1, (1 << 32) - 1), st.integers(0, 1 << 40), st.integers(0, 20), KEYS)
def test_each_place_is_drawn_by_itself(pool, begin, count, key):
    assert drawn(pool, begin, begin + count, key).tolist() == [one(pool, begin + i, key) for i in range(count)]


@given(st.integers(1, 50), st.integers(0, 400), KEYS)
def test_the_pool_comes_first_and_nothing_else_is_there(pool, more, seed):
    values = np.random.default_rng(seed).permutation(1000)[:pool]
    whole = extended(values, pool + more)
    assert whole.size == pool + more
    assert np.array_equal(whole[:pool], values)
    assert set(whole.tolist()) == set(values.tolist())


def test_nothing_repeats_at_any_distance():
    places = drawn(POOL, POOL, 9 * POOL, key_of(b"pool"))
    spectrum = np.fft.rfft(places - places.mean())
    alike = np.fft.irfft(np.abs(spectrum) ** 2, places.size)
    assert np.abs(alike[1:]).max() / alike[0] < 6 / np.sqrt(places.size)  # six deviations of what chance gives
    counts = np.bincount(places, minlength=POOL)
    assert abs(counts.var() / counts.mean() - 1) < 0.05


def test_another_pool_is_drawn_from_otherwise():
    first, second = (drawn(1000, 1000, 3000, key_of(pool)) for pool in (b"one", b"two"))
    assert np.mean(first == second) < 0.01


@pytest.mark.parametrize("values", [values for values in Values if values is not Values.NULL])
def test_what_is_promised_of_values_holds_for_the_whole(values):
    bound = "bound" if values in (Values.INDEX, Values.SORTED) else ""
    kind = DType.INT32 if bound else DType.FLOAT32
    tensor = TensorArg("x", Role.IN, kind, ("n",), values, bound)
    contract = Contract("f", "other", Entry(EntryKind.POINTER, "f"), (tensor,), ("n", "bound"), (), (), {})
    sizes = {"n": 3_000_000, "bound": 1000}
    (large,) = materialise(contract, Workload("large", sizes, 5, device_only=True))
    (whole,) = materialise(contract, Workload("whole", sizes, 5))
    pool = large.storage.reshape(-1)
    for found in (extended(pool, 3_000_000), whole.storage):
        assert found.min() == pool.min()
        assert found.max() == pool.max()
        assert bool(np.all(np.diff(found) >= 0)) == (values in (Values.SORTED, Values.ZEROS, Values.ONES))
