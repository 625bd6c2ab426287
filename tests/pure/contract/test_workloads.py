"""Workloads satisfy the conditions, stay small, and are the same for ever."""

import hashlib
from dataclasses import replace
from math import prod

import numpy as np
import pytest

from porter.contract.model.contract import Role, Values, Workload
from porter.contract.model.dtype import DType, decode
from porter.contract.model.validate import check
from porter.contract.workload.materialise import materialise
from porter.contract.workload.probing import probe_sizes
from porter.contract.workload.workloads import (
    MAX_ELEMENTS,
    MAX_THREADS,
    choose_sizes,
    default_workloads,
    is_innermost,
    large_workloads,
    with_workloads,
)
from porter.execution.job import ScalarValue, TensorValue


@pytest.mark.parametrize(
    ("symbols", "shape", "conditions"),
    [
        (("n",), ("n",), ()),
        (("n",), ("n",), ("n % 4 == 0",)),
        (("B", "N"), ("B", "N"), ("N % 128 == 0", "N <= 1024")),
        (("B", "T", "C", "NH"), ("B", "T", "3 * C"), ("C % NH == 0", "C / NH <= 64")),
        (("N", "C", "H", "W"), ("N", "C", "H", "W"), ()),
        (("M", "N", "K"), ("M", "K", "N"), ("M % 64 == 0", "N % 64 == 0", "K % 16 == 0")),
        (("a", "b", "c", "d", "e", "f"), ("a", "b", "c", "d", "e", "f"), ()),
        (("n",), ("n",), ("n == 4096",)),
    ],
)
def test_sizes_meet_the_conditions_and_stay_small(contract, tensor, symbols, shape, conditions):
    drafted = with_workloads(contract(tensor("x", *shape), symbols=symbols, conditions=conditions))
    assert [w.name for w in drafted.workloads][:4] == ["tiny", "odd", "large values", "small values"]
    for workload in drafted.workloads:
        (value,) = materialise(drafted, workload)
        assert isinstance(value, TensorValue)
        assert 0 < value.storage.size <= MAX_ELEMENTS


SLICES = ("row + rows <= height", "column + columns <= width", "to + columns <= room")


def test_sizes_are_found_for_sums_that_other_sizes_limit(contract, tensor):
    symbols = ("rows", "columns", "height", "width", "room", "n", "row", "column", "to")
    sliced = contract(tensor("x", "n", "height", "width"), symbols=symbols, conditions=SLICES)
    workloads = default_workloads(sliced)
    assert workloads
    assert any(w.sizes["row"] + w.sizes["rows"] < w.sizes["height"] for w in workloads)
    filled = choose_sizes(sliced, {}, dict.fromkeys(symbols, 7), filling=True)
    assert filled is not None
    assert filled["row"] + filled["rows"] == filled["height"]
    assert filled["to"] + filled["columns"] == filled["room"]


def test_a_size_that_counts_blocks_is_no_width_of_rows(contract, tensor):
    """The extent of a kernel with a row a block may have its factors in any order."""
    symbols = ("m", "rows")
    by_row = contract(tensor("x", "m * rows"), tensor("y", "rows"), symbols=symbols)
    launch = replace(by_row.entry.launch, grid=("rows", "1", "1"))
    by_row = replace(by_row, entry=replace(by_row.entry, launch=launch))
    odd = next(w.sizes for w in default_workloads(by_row) if w.name == "odd")
    assert odd["m"] > 256 > odd["rows"]
    probe = probe_sizes(by_row, frozenset(), {}, 0, 0)
    assert probe is not None
    assert probe["rows"] < probe["m"]
    alone = contract(tensor("x", "rows"), symbols=("rows",))
    assert is_innermost(replace(alone, entry=by_row.entry), "rows")


def test_indices_have_something_to_index(contract, tensor):
    indices = tensor("faces", "3 * n", dtype=DType.INT32, values=Values.INDEX, bound="n / 3")
    for workload in with_workloads(contract(indices)).workloads:
        assert workload.sizes["n"] >= 3
    for workload in large_workloads(contract(indices), {}):
        assert workload.sizes["n"] >= 3


def test_odd_sizes_are_no_multiple_of_a_block(contract, tensor):
    _, *larger = default_workloads(contract(tensor("x", "B", "N"), symbols=("B", "N")))
    assert larger
    for workload in larger:
        assert all(size % 2 for size in workload.sizes.values())
        assert workload.sizes["B"] != workload.sizes["N"]


@pytest.mark.parametrize("shape", [("B", "N"), ("B * N",), ("B * N * 2",)])
def test_rows_are_few_and_long_in_one_workload_and_many_and_short_in_another(contract, tensor, shape):
    drafted = contract(tensor("x", *shape), tensor("bias", "N"), tensor("mean", "B"), symbols=("B", "N"))
    workloads = {w.name: w.sizes for w in default_workloads(drafted)}
    assert workloads["odd"] == {"B": 13, "N": 1031}
    assert workloads["many rows"]["B"] > 256
    assert workloads["many rows"]["N"] < 32


def test_a_flat_array_has_no_rows(contract, tensor):
    assert "many rows" not in [w.name for w in default_workloads(contract(tensor("x", "n")))]


def test_sizes_the_user_gave_are_kept(contract, tensor):
    for workload in default_workloads(contract(tensor("x", "B", "N"), symbols=("B", "N")), {"N": 48}):
        assert workload.sizes["N"] == 48


def test_conditions_that_cannot_be_met_give_no_workload(contract, tensor):
    assert default_workloads(contract(tensor("x", "n"), conditions=("n > 5", "n < 3"))) == ()


def test_a_grid_of_sizes_that_no_tensor_has_stays_small(contract, tensor):
    drafted = contract(tensor("x", "1"), symbols=("a", "b", "c", "d"))
    launch = replace(drafted.entry.launch, grid=("a * b * c * d", "1", "1"))
    workloads = default_workloads(replace(drafted, entry=replace(drafted.entry, launch=launch)))
    assert workloads
    assert all(256 * prod(workload.sizes.values()) <= MAX_THREADS for workload in workloads)


def test_inputs_are_the_same_bit_for_bit(scale_contract):
    values = materialise(scale_contract, Workload("w", {"n": 1003}, 42, 0.5))
    digest = hashlib.sha256(b"".join(v.storage.tobytes() for v in values if isinstance(v, TensorValue)))
    assert digest.hexdigest()[:16] == "4b99b669add08c81"


def test_each_argument_gets_what_it_is_declared_to_get(scale_contract):
    x, y, index, factor, n = materialise(scale_contract, Workload("w", {"n": 20000}, 42, 100.0))
    assert factor == ScalarValue(1.5)
    assert n == ScalarValue(20000)
    signed = decode(x.storage, DType.FLOAT32)
    assert signed.min() < 0 < signed.max()
    assert abs(signed.std() - 100) < 2
    assert (y.storage.view(np.uint8) == 0xFF).all()
    assert index.storage.min() == 0
    assert index.storage.max() == 19999


@pytest.mark.parametrize("dtype", DType)
@pytest.mark.parametrize("scale", [1e3, 1e-3, 1.0])
def test_normal_values_are_finite_in_every_type(contract, tensor, dtype, scale):
    (value,) = materialise(contract(tensor("x", "n", dtype=dtype)), Workload("w", {"n": 4099}, 1, scale))
    values = decode(value.storage, dtype)
    assert np.isfinite(values).all()
    assert value.storage.dtype == dtype.storage
    if scale >= 1:
        assert len(np.unique(values)) > 1


def test_offsets_rise_from_zero_to_the_bound(contract, tensor):
    offsets = tensor("offsets", "n", dtype=DType.INT32, values=Values.SORTED, bound="3 * n")
    (value,) = materialise(contract(offsets), Workload("w", {"n": 7}, 1))
    assert value.storage[0] == 0
    assert value.storage[-1] == 21
    assert (np.diff(value.storage) >= 0).all()


def test_probabilities_lie_strictly_between_zero_and_one(contract, tensor):
    argument = tensor("p", "n", dtype=DType.BFLOAT16, values=Values.PROBABILITY)
    (value,) = materialise(contract(argument), Workload("w", {"n": 5000}, 1))
    values = decode(value.storage, DType.BFLOAT16)
    assert values.min() > 0
    assert values.max() <= 1


def test_the_poison_of_an_output_can_be_chosen(contract, tensor):
    (value,) = materialise(contract(tensor("y", "n", role=Role.OUT)), Workload("w", {"n": 3}, 1), poison=0x11)
    assert value.storage.tobytes() == b"\x11" * 12


def test_the_drafts_of_these_tests_hold_together(scale_contract):
    check(scale_contract)


def test_an_array_of_sizes_holds_them(contract, tensor):
    sized = contract(tensor("shape", "2", dtype=DType.UINT64, elements=("n", "2 * n")))
    (value,) = materialise(sized, Workload("w", {"n": 3}, 1))
    assert isinstance(value, TensorValue)
    assert value.storage.tolist() == [3, 6]
    check(sized)


@pytest.mark.parametrize("symbols", [("n",), ("B", "N"), ("N", "C", "H", "W")])
def test_large_sizes_are_even_and_larger_than_any_other(contract, tensor, symbols):
    drafted = contract(tensor("x", *symbols), symbols=symbols)
    first = next(large_workloads(drafted, {}))
    assert all(size % 2 == 0 for size in first.sizes.values())
    elements = [prod(w.sizes.values()) for w in default_workloads(drafted)]
    assert max(elements) < prod(first.sizes.values()) <= MAX_ELEMENTS


def test_large_sizes_keep_those_that_the_user_gave(contract, tensor):
    drafted = contract(tensor("x", "B", "N"), symbols=("B", "N"))
    assert {w.sizes["B"] for w in large_workloads(drafted, {"B": 37})} == {37}


@pytest.mark.parametrize(("shape", "odd"), [(("n", "n"), 131), (("n * n",), 131), (("n",), 4099), (("n", "4"), 4099)])
def test_a_size_that_multiplies_itself_stays_small(contract, tensor, shape, odd):
    assert default_workloads(contract(tensor("x", *shape), symbols=("n",)))[1].sizes == {"n": odd}


def test_indices_in_floats_without_elements_need_no_bound(contract, tensor):
    rois = tensor("rois", "n", dtype=DType.FLOAT32, values=Values.INDEX, bound="n")
    (value,) = materialise(contract(rois), Workload("empty", {"n": 0}, 1))
    assert value.count == 0
