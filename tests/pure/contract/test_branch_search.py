"""Workloads that are looked for where a side of a branch was not taken: other element types, of indices as well."""

import pytest

from porter.branch_coverage import ABOVE_ZERO, LAUNCHED, BranchCoverage, Side
from porter.contract.model.contract import (
    Contract,
    Distribution,
    Entry,
    EntryKind,
    LaunchShape,
    Role,
    ScalarArg,
    TensorArg,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.contract.probe.branch_search import branch_workloads, other_numbers
from porter.execution.job import LaunchRecord, Run

IDS = TensorArg("ids", Role.IN, DType.INT64, ("count",), Values.INDEX, bound="rows")
TABLE = TensorArg("table", Role.IN, DType.FLOAT32, ("rows", "columns"))
SIZES = {"count": 3, "rows": 5, "columns": 7}
SIDES = {
    (ids, table): Side("op.cu", 3, 0, LAUNCHED, f"picked<{ids}, {table}>")
    for ids in (DType.INT64, DType.INT32)
    for table in (DType.FLOAT32, DType.FLOAT16)
}


class Original:
    """A dispatch over two types of indices and two of the table, which refuses all others."""

    runs = 0

    def exact(self, contract, sizes, contents=Distribution.DECLARED):
        """The run of a contract with the types of its tensors."""
        self.runs += 1
        side = SIDES.get(tuple(tensor.dtype for tensor in contract.tensors))
        taken = frozenset((side,) if side else ())
        launched = (LaunchRecord("picked", (1, 1, 1), (32, 1, 1), 0, 3),) if side else ()
        coverage = BranchCoverage(frozenset(SIDES.values()), taken)
        return Run(bool(side), 0, (), (), (), (), launched, (), "", "", 0.0, coverage)

    def clean(self, contract, sizes, contents=Distribution.DECLARED):
        """Whether there is an answer."""
        return True


def test_each_type_of_a_dispatch_has_a_workload_those_of_indices_too():
    workload = Workload("tiny", SIZES, 1)
    entry = Entry(EntryKind.TORCH, "op")
    contract = Contract("op", "other", entry, (IDS, TABLE), tuple(SIZES), (), (workload,), {})
    found = branch_workloads(contract, Original(), {})
    assert {(w.name, tuple(w.dtypes.items())) for w in found} == {
        ("float16", (("table", DType.FLOAT16),)),
        ("int32", (("ids", DType.INT32),)),
        ("float16, int32", (("table", DType.FLOAT16), ("ids", DType.INT32))),
    }
    assert all(w.takes.endswith("is launched") for w in found)


def test_tensors_that_keep_their_type_are_found():
    names = ("param", "grad", "mean", "square")
    tensors = tuple(TensorArg(name, Role.INOUT, DType.FLOAT32, ("count",)) for name in names)
    contract = Contract(
        "step", "other", Entry(EntryKind.TORCH, "step"), tensors, ("count",), (), (Workload("tiny", SIZES, 1),), {}
    )
    sides = {dtype: Side("op.cu", 3, 0, LAUNCHED, f"step<{dtype}>") for dtype in (DType.FLOAT32, DType.FLOAT64)}

    class Step(Original):
        """An optimizer whose moments are float32 whatever its parameters are."""

        def exact(self, contract, sizes, contents=Distribution.DECLARED):
            param, grad, *moments = (tensor.dtype for tensor in contract.tensors)
            is_taken = param is grad and set(moments) == {DType.FLOAT32} and param in sides
            taken = frozenset((sides[param],) if is_taken else ())
            launched = (LaunchRecord("step", (1, 1, 1), (32, 1, 1), 0, 3),) if is_taken else ()
            coverage = BranchCoverage(frozenset(sides.values()), taken)
            return Run(is_taken, 0, (), (), (), (), launched, (), "", "", 0.0, coverage)

    (found,) = branch_workloads(contract, Step(), {})
    assert found.name == "float64 in param, grad"
    assert found.dtypes == {"param": DType.FLOAT64, "grad": DType.FLOAT64}


def test_indices_at_their_bound_are_found_where_the_original_asks_about_them():
    guard = {way: Side("op.cu", 5, 0, way, "id >= rows") for way in ("true", "false")}

    class Guarded(Original):
        """A gather that leaves out what lies beyond its table."""

        def exact(self, contract, sizes, contents=Distribution.DECLARED):
            way = "true" if contents is Distribution.AT_BOUND else "false"
            launched = (LaunchRecord("picked", (1, 1, 1), (32, 1, 1), 0, 3),)
            coverage = BranchCoverage(frozenset(guard.values()), frozenset((guard[way],)))
            return Run(True, 0, (), (), (), (), launched, (), "", "", 0.0, coverage)

    entry = Entry(EntryKind.TORCH, "op")
    contract = Contract("op", "other", entry, (IDS, TABLE), tuple(SIZES), (), (Workload("tiny", SIZES, 1),), {})
    (found,) = branch_workloads(contract, Guarded(), {})
    assert (found.distribution, found.takes) == (Distribution.AT_BOUND, "op.cu:5: `id >= rows` is true")


def test_an_original_that_breaks_at_such_indices_is_not_asked_about_them():
    class Broken(Original):
        """A gather without a guard."""

        def clean(self, contract, sizes, contents=Distribution.DECLARED):
            return False

    entry = Entry(EntryKind.TORCH, "op")
    contract = Contract("op", "other", entry, (IDS, TABLE), tuple(SIZES), (), (Workload("tiny", SIZES, 1),), {})
    assert branch_workloads(contract, Broken(), {}) == ()


@pytest.mark.parametrize(("type_", "tried"), [("int", [0, 1, -1, 2, 9]), ("unsigned int", [0, 1, 2, 9])])
def test_a_number_without_a_sign_is_not_tried_below_zero(type_, tried):
    arguments = (TABLE, ScalarArg("threads", type_, "8"))
    entry = Entry(EntryKind.TORCH, "op")
    contract = Contract("op", "other", entry, arguments, tuple(SIZES), (), (Workload("tiny", SIZES, 1),), {})
    assert list(other_numbers(contract)) == [("threads", number) for number in tried]


def test_sizes_at_least_as_large_as_those_that_took_long_are_not_tried():
    tried = []
    guard = {way: Side("op.cu", 5, 0, way, "count > 4096") for way in ("true", "false")}

    class Slow(Original):
        """A kernel that takes seconds from 32 elements on."""

        def exact(self, contract, sizes, contents=Distribution.DECLARED):
            tried.append(sizes["count"])
            seconds = 2.0 if sizes["count"] >= 32 else 0.01
            coverage = BranchCoverage(frozenset(guard.values()), frozenset((guard["false"],)))
            return Run(True, 0, (), (), (), (), (), (), "", "", seconds, coverage)

    x = TensorArg("x", Role.IN, DType.INT8, ("count",), Values.ONES)
    contract = Contract(
        "op", "other", Entry(EntryKind.POINTER, "op"), (x,), ("count",), (), (Workload("tiny", {"count": 3}, 1),), {}
    )
    branch_workloads(contract, Slow(), {})
    slow = [count for count in tried if count >= 32]
    assert slow == sorted(slow, reverse=True)
    assert {257, 1024, 1025}.isdisjoint(tried)
    assert 4 in tried


def test_a_size_behind_the_first_block_is_found_in_the_launch():
    reads = {way: Side("op.cu", 3, 12, way, "blockIdx.x") for way in ("", ABOVE_ZERO)}

    class Coarse(Original):
        """A kernel that leaves 70,000 elements to a block."""

        is_ordered = True

        def exact(self, contract, sizes, contents=Distribution.DECLARED):
            grid = -(-sizes["count"] // 70_000)
            taken = frozenset(reads.values() if grid > 1 else (reads[""],))
            launched = (LaunchRecord("coarse", (grid, 1, 1), (32, 1, 1), 0, 3),)
            coverage = BranchCoverage(frozenset(reads.values()), taken)
            return Run(True, 0, (), (), (), (), launched, (), "", "", 0.0, coverage)

        def ordered(self, contract, sizes, contents=Distribution.DECLARED):
            """Whether the order of blocks is nothing to the answer."""
            return self.is_ordered

    launch = LaunchShape(("cdiv(count, 70000)", "1", "1"), ("32", "1", "1"), "0")
    x = TensorArg("x", Role.INOUT, DType.FLOAT32, ("count",))
    entry = Entry(EntryKind.KERNEL, "coarse", launch=launch)
    contract = Contract("coarse", "other", entry, (x,), ("count",), (), (Workload("tiny", {"count": 3}, 1),), {})
    (found,) = branch_workloads(contract, Coarse(), {})
    assert found.sizes == {"count": 70_001}
    assert found.takes == "op.cu:3: `blockIdx.x` is above 0"
    Coarse.is_ordered = False
    assert branch_workloads(contract, Coarse(), {}) == ()
