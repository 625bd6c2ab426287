"""The sizes at which an operator is timed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from porter.contract.model.contract import Contract, Distribution, Entry, EntryKind, Role, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.contract.workload.bench import (
    MOST_BYTES,
    bench_workload,
    footprint,
    outputs_bytes,
    timed_workloads,
    used_bytes,
)
from porter.contract.workload.materialise import materialise


@pytest.fixture
def rows() -> Contract:
    """x and y of rows by columns, columns a multiple of 4."""
    tensors = tuple(TensorArg(n, r, DType.FLOAT32, ("rows", "columns")) for n, r in (("x", Role.IN), ("y", Role.OUT)))
    entry = Entry(EntryKind.POINTER, "f")
    workloads = (Workload("tiny", {"rows": 3, "columns": 4}, 1), Workload("odd", {"rows": 13, "columns": 1028}, 2))
    return Contract("f", "norm", entry, tensors, ("rows", "columns"), ("columns % 4 == 0",), workloads, {})


def test_the_largest_sizes_that_fit_are_chosen(rows):
    workload = bench_workload(rows, {})
    assert workload.device_only
    assert MOST_BYTES / 2 < footprint(rows, workload) <= MOST_BYTES
    assert workload.sizes["columns"] % 4 == 0


def test_a_size_that_the_user_chose_is_kept(rows):
    workload = bench_workload(rows, {"columns": 1000})
    assert workload.sizes["columns"] == 1000
    assert footprint(rows, workload) <= MOST_BYTES


def test_sizes_that_are_all_chosen_may_take_any_memory(rows):
    chosen = {"rows": 65536, "columns": 4096}
    assert bench_workload(rows, chosen).sizes == chosen


def test_sizes_that_break_a_condition_are_no_workload(rows):
    assert bench_workload(rows, {"rows": 8, "columns": 1001}) is None


def test_workloads_for_devices_come_first_then_those_stated_then_one_that_fits(rows):
    large = Workload("large", {"rows": 4096, "columns": 4096}, 5, device_only=True)
    assert timed_workloads(replace(rows, workloads=(*rows.workloads, large)), {}, stated=True) == (large,)
    assert timed_workloads(rows, {}, stated=True) == rows.workloads
    (drafted,) = timed_workloads(rows, {}, stated=False)
    assert drafted.name == "bench"


def test_of_stated_workloads_each_size_is_timed_once_on_ordinary_inputs(rows):
    tiny = rows.workloads[0]
    others = (
        replace(tiny, name="large values", scale=1e3),
        replace(tiny, name="ties", distribution=Distribution.TIES),
        replace(tiny, name="again", seed=9),
    )
    assert timed_workloads(replace(rows, workloads=(*rows.workloads, *others)), {}, stated=True) == rows.workloads


def test_a_program_is_not_timed(rows):
    program = replace(rows, entry=Entry(EntryKind.PROGRAM, "main"), arguments=(), symbols=(), conditions=())
    assert timed_workloads(program, {}, stated=False) == ()


def test_what_is_large_and_for_devices_alone_is_a_pool(rows):
    workload = Workload("bench", {"rows": 1 << 20, "columns": 1 << 12}, 3, device_only=True)
    x, y = materialise(rows, workload)
    assert x.shape == y.shape == (1 << 20, 1 << 12)
    assert x.storage.nbytes == y.storage.nbytes < MOST_BYTES
    small = Workload("tiny", {"rows": 3, "columns": 4}, 3, device_only=True)
    assert all(value.is_whole for value in materialise(rows, small))
    assert np.array_equal(materialise(rows, small)[0].storage.reshape(-1), x.storage[:12])


def test_a_table_counts_for_what_is_looked_up_in_it():
    table = TensorArg("table", Role.IN, DType.FLOAT16, ("n", "64"), used="8 * 64")
    state = TensorArg("state", Role.INOUT, DType.FLOAT32, ("n",))
    result = TensorArg("y", Role.OUT, DType.FLOAT32, ("8", "64"))
    contract = Contract("f", "other", Entry(EntryKind.POINTER, "f"), (table, state, result), ("n",), (), (), {})
    workload = Workload("bench", {"n": 1000}, 1)
    assert used_bytes(contract, workload) == 8 * 64 * 2 + 2 * 1000 * 4
    assert outputs_bytes(contract, workload) == 8 * 64 * 4
