"""What a workload's distribution makes of inputs: never anything that their `Values` forbid."""

from dataclasses import replace

import numpy as np
import pytest

from porter.contract.model.contract import (
    Contract,
    Distribution,
    Entry,
    EntryKind,
    Layout,
    Role,
    TensorArg,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType, decode
from porter.contract.model.toml import dumps, loads
from porter.contract.workload.distributions import OF_INDICES
from porter.contract.workload.materialise import materialise

WORKLOAD = Workload("odd", {"rows": 7, "columns": 37}, 5)


def drawn(kind, values=Values.NORMAL, dtype=DType.FLOAT32, shape=("rows", "columns")):
    tensor = TensorArg("x", Role.IN, dtype, shape, values, bound="rows" if values is Values.INDEX else "")
    contract = Contract("k", "other", Entry(EntryKind.TORCH, "k"), (tensor,), ("rows", "columns"), (), (), {})
    (value,) = materialise(contract, replace(WORKLOAD, distribution=kind))
    return decode(value.storage, value.dtype).reshape(7, 37)


@pytest.mark.parametrize("shape", [("rows", "columns"), ("rows * columns",)], ids=["two axes", "a pointer"])
def test_rows_are_those_of_the_last_axis(shape):
    assert (np.ptp(drawn(Distribution.CONSTANT_ROWS, shape=shape), axis=1) == 0).all()
    assert len(np.unique(drawn(Distribution.CONSTANT_ROWS, shape=shape))) == 7
    assert (np.diff(drawn(Distribution.SORTED, shape=shape), axis=1) >= 0).all()
    assert ((np.abs(drawn(Distribution.OUTLIER, shape=shape)) > 10).sum(axis=1) <= 1).all()
    assert np.isnan(drawn(Distribution.NAN, shape=shape)).sum(axis=1).tolist() == [1, 0, 1, 0, 1, 0, 1]


def test_each_kind_is_what_it_says():
    assert len(np.unique(drawn(Distribution.TIES))) == 3
    assert not drawn(Distribution.ZEROS).any()
    assert {-3.0, -0.5, 0.0, 0.5, 1.0, 6.0} < set(drawn(Distribution.ROUND, dtype=DType.FLOAT16).reshape(-1))
    uniform = drawn(Distribution.UNIFORM)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    mean = drawn(Distribution.LARGE_MEAN)
    assert mean.min() > 90
    assert 0 < np.std(mean) < 3
    assert 0 < np.abs(drawn(Distribution.DENORMAL)).max() < 1e-37
    infinite = drawn(Distribution.INFINITE)
    assert (np.isneginf(infinite).sum(), np.isposinf(infinite).sum()) == (3, 2)
    assert (drawn(Distribution.LOWEST) < -1e38).all()
    masked = drawn(Distribution.MASKED)
    assert np.isneginf(masked).all(axis=1).tolist() == [True, False] * 3 + [True]
    assert np.isfinite(masked[1::2]).all()


@pytest.mark.parametrize("values", [Values.NORMAL, Values.POSITIVE])
def test_products_of_numbers_near_one_show_every_factor(values):
    for row in drawn(Distribution.NEAR_ONE, values):
        products = np.abs(np.cumprod(row))
        assert 0.25 < products.min() < products.max() < 4.0
        without_one = products[-1] / np.abs(row)
        assert (np.abs(without_one - products[-1]) > 1e-5 * products[-1]).all()


def test_a_wide_row_overflows_the_exponential_where_its_largest_number_was_missed():
    rows = drawn(Distribution.WIDE)
    second = np.sort(rows, axis=1)[:, -2]
    assert (rows.max(axis=1) - second > np.log(np.finfo(np.float32).max)).all()
    assert (rows.argmax(axis=1) == drawn(Distribution.DECLARED).argmax(axis=1)).all()
    assert np.abs(rows).min() < 0.1


@pytest.mark.parametrize("kind", list(Distribution))
def test_what_may_not_be_negative_or_out_of_bounds_stays_so(kind):
    assert (drawn(kind, Values.POSITIVE) >= 0.1).all()
    probabilities = drawn(kind, Values.PROBABILITY)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    assert kind is Distribution.SURE or ((probabilities > 0) & (probabilities < 1)).all()
    indices = drawn(kind, Values.INDEX, DType.INT32)
    assert kind in OF_INDICES or ((indices >= 0) & (indices < 7)).all()


def test_probabilities_are_sure_at_the_same_places_in_all_tensors():
    names = ("predictions", "targets")
    tensors = tuple(TensorArg(n, Role.IN, DType.FLOAT32, ("rows", "columns"), Values.PROBABILITY) for n in names)
    contract = Contract("k", "other", Entry(EntryKind.TORCH, "k"), tensors, ("rows", "columns"), (), (), {})
    one, other = (
        decode(value.storage, value.dtype)
        for value in materialise(contract, replace(WORKLOAD, distribution=Distribution.SURE))
    )
    assert {0.0, 1.0} < set(one.reshape(-1))
    assert ((one == 0) == (other == 0)).all()
    assert (one != other).any()


@pytest.mark.parametrize(("kind", "index"), [(Distribution.AT_BOUND, 7), (Distribution.BELOW_ZERO, -1)])
def test_indices_that_a_source_may_ask_about_are_first_and_last(kind, index):
    indices = drawn(kind, Values.INDEX, DType.INT32).reshape(-1)
    assert indices[0] == indices[-1] == index
    assert ((indices >= 0) & (indices < 7)).any()


def test_a_type_without_negative_numbers_has_no_index_below_zero():
    below = drawn(Distribution.BELOW_ZERO, Values.INDEX, DType.UINT8)
    assert (below == drawn(Distribution.DECLARED, Values.INDEX, DType.UINT8)).all()


@pytest.mark.parametrize("dtype", [d for d in DType if d.is_float])
def test_every_float_type_has_a_value_for_every_kind(dtype):
    for kind in Distribution:
        values = drawn(kind, dtype=dtype)
        infinite = kind in (Distribution.INFINITE, Distribution.MASKED, Distribution.SPECIALS)
        special = kind is Distribution.NAN or (infinite and dtype.bytes > 1)
        assert bool(np.isfinite(values).all()) is not special


def test_a_distribution_and_a_layout_survive_toml(tmp_path):
    tensor = TensorArg("x", Role.IN, DType.FLOAT32, ("n",))
    workload = Workload("ties", {"n": 5}, 1, distribution=Distribution.TIES, layouts={"x": Layout.ROWS_APART})
    contract = Contract("k", "other", Entry(EntryKind.TORCH, "k"), (tensor,), ("n",), (), (workload,), {})
    assert loads(dumps((contract,)), tmp_path / "k.toml") == (contract,)


def test_the_last_of_each_axis_is_large():
    plain = drawn(Distribution.DECLARED)
    ratio = drawn(Distribution.ENDS) / plain
    assert np.allclose(ratio[-1], 8)
    assert np.allclose(ratio[:, -1], 8)
    assert np.allclose(ratio[:-1, :-1], 1)
    assert np.array_equal(drawn(Distribution.ENDS, shape=("rows * columns",)), drawn(Distribution.ENDS))
    assert np.array_equal(
        drawn(Distribution.ENDS, Values.INDEX, DType.INT32), drawn(Distribution.DECLARED, Values.INDEX, DType.INT32)
    )


def test_zeros_may_have_a_sign():
    assert np.signbit(drawn(Distribution.NEGATIVE_ZEROS)).all()
    assert not drawn(Distribution.NEGATIVE_ZEROS).any()
    assert not np.signbit(drawn(Distribution.NEGATIVE_ZEROS, Values.POSITIVE)).any()
