"""The original is believed only when it finishes, is in bounds, and says the same in every order of threads."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.comparison.garbage import POISONS
from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Tolerance, Workload
from porter.contract.model.dtype import DType
from porter.execution.job import Fault, FaultKind, Job, LaunchRecord, Run, Schedule, TensorValue
from porter.oracle.faults import DIVIDED
from porter.oracle.outputs import Outputs, widest
from porter.oracle.reference import examine
from porter.oracle.text_output import compare_text, of_devices, on_any_device
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = parse(Source(Path("k.cu"), "\n\n__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"))
CONTRACT = Contract(
    "k", "other", Entry(EntryKind.POINTER, "k"),
    (TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), TensorArg("y", Role.OUT, DType.FLOAT32, ("n",)),
     ScalarArg("n", "int", "n")),
    ("n",), (), (Workload("tiny", {"n": 3}, 1), Workload("odd", {"n": 37}, 2)), {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
)  # fmt: skip


def ran(job: Job, result, *faults: Fault, finished: bool = True) -> Run:
    x, y = job.arguments[0], job.arguments[1]
    assert isinstance(x, TensorValue)
    out = TensorValue(DType.FLOAT32, y.shape, np.asarray(result, np.float32))
    return Run(finished, 0 if finished else 1, (x, out) if finished else (), (), (), (), (), faults, "", "", 0.0)


def doubled(job: Job):
    return job.arguments[0].storage * 2


def codes(reference):
    return [f.code for f in reference.findings]


def test_a_clean_original_is_believed():
    jobs = []

    def execute(job: Job) -> Run:
        jobs.append(job)
        return ran(job, doubled(job))

    reference = examine(CONTRACT, PROGRAM, execute)
    assert reference.because == ""
    assert reference.deterministic
    assert reference.complete
    assert [e.workload.name for e in reference.expected] == ["tiny", "odd"]
    tensors = dict(reference.expected[0].outputs.tensors)
    assert list(tensors) == ["x", "y"]
    assert tensors["y"].shape == (3,)
    assert reference.expected[0].yardstick is not None
    assert {j.schedule for j in jobs} == set(Schedule)
    assert {j.poison for j in jobs} == set(POISONS)


@pytest.mark.parametrize("kind", [FaultKind.UNINITIALISED, FaultKind.LANE_ABSENT])
def test_garbage_taken_in_is_named_as_the_beginning_of_the_trouble(kind):
    unset = Fault(kind, "k.cu", 3, "k", "reads what nobody has written")
    beyond = Fault(FaultKind.OUT_OF_BOUNDS, "k.cu", 3, "k", "writes at byte -4")
    because = examine(CONTRACT, PROGRAM, lambda job: ran(job, doubled(job), unset, beyond)).because
    assert because.startswith("out of bounds in k at line 3: writes at byte -4")
    assert "before that, " in because
    assert "nobody has written" in because
    assert "before that" not in examine(CONTRACT, PROGRAM, lambda job: ran(job, doubled(job), beyond, unset)).because


def test_results_that_depend_on_the_order_of_threads_are_not_believed():
    reference = examine(CONTRACT, PROGRAM, lambda j: ran(j, doubled(j) + (j.schedule is Schedule.REVERSE)))
    assert not reference.deterministic
    assert "order of threads" in reference.because
    assert "PORT4020" in codes(reference)


def test_an_original_that_is_seen_to_be_wrong_is_asked_no_further():
    asked = set()

    def execute(job: Job) -> Run:
        asked.add(job.arguments[0].shape)
        return ran(job, doubled(job), Fault(FaultKind.RACE, "k.cu", 3, "k", "two threads write"))

    reference = examine(CONTRACT, PROGRAM, execute)
    assert reference.at_fault
    assert asked == {(3,)}


def test_what_was_launched_is_remembered_once_each():
    def execute(job: Job) -> Run:
        launches = (
            LaunchRecord("k<float>", (1, 1, 1), (1, 1, 1), 0, 3),
            LaunchRecord("k<half>", (1, 1, 1), (1, 1, 1), 0, 4),
        )
        return replace(ran(job, doubled(job)), launches=launches)

    assert examine(CONTRACT, PROGRAM, execute).launched == ("k",)


def test_rounding_in_another_order_is_noted_and_believed():
    reference = examine(
        CONTRACT, PROGRAM, lambda j: ran(j, doubled(j) * (1 + 1e-6 * (j.schedule is Schedule.SHUFFLED)))
    )
    assert reference.deterministic
    assert reference.because == ""
    assert codes(reference) == ["PORT4022"]


@pytest.mark.parametrize(("terms", "believed"), [(37, False), (90_000, True)])
def test_a_long_sum_may_lose_more_by_its_order(terms, believed):
    contract = replace(CONTRACT, workloads=(Workload("long", {"n": terms}, 1),))
    reference = examine(
        contract, PROGRAM, lambda j: ran(j, doubled(j) * (1 + 2e-5 * (j.schedule is Schedule.SHUFFLED)))
    )
    assert reference.deterministic is believed


def test_each_element_has_the_candidate_that_is_furthest_away_there():
    def outputs(*values):
        return Outputs((("y", TensorValue(DType.FLOAT32, (3,), np.array(values, np.float32))),))

    ((_, widened),) = widest(outputs(1, 2, 3), [outputs(1.5, 2, 3), None, outputs(1.25, 5, np.nan)]).tensors
    assert widened.storage.tolist() == [1.5, 5, 3]


def test_a_run_that_recorded_fewer_buffers_widens_only_those():
    def tensor(value):
        return TensorValue(DType.FLOAT32, (1,), np.full(1, value, np.float32))

    want = Outputs((("a", tensor(1)), ("b", tensor(2))), "", 0)
    (_, a), (_, b) = widest(want, [Outputs((("a", tensor(3)),), "", 0)]).tensors
    assert (a.storage[0], b.storage[0]) == (3, 2)


def test_elements_never_written_are_told_from_garbage():
    def partly(job: Job) -> Run:
        out = doubled(job)
        out[-1] = np.full(1, job.poison, np.uint8).repeat(4).view(np.float32)[0]
        return ran(job, out)

    reference = examine(CONTRACT, PROGRAM, partly)
    assert codes(reference) == ["PORT4021"]
    assert reference.because == ""

    garbage = examine(CONTRACT, PROGRAM, lambda j: ran(j, doubled(j) + (j.poison == POISONS[1])))
    assert "never written" in garbage.because


@pytest.mark.parametrize("kind", [FaultKind.OUT_OF_BOUNDS, FaultKind.RACE, FaultKind.DEADLOCK])
def test_a_fault_becomes_a_finding_at_its_line(kind):
    fault = Fault(kind, "k.cu", 3, "k", "thread 5 and thread 9", count=4)
    reference = examine(CONTRACT, PROGRAM, lambda j: ran(j, doubled(j), fault))
    assert "thread 5 and thread 9" in reference.because
    (finding,) = reference.findings
    assert finding.span is not None
    assert finding.span.line == 3


def test_an_original_that_dies_leaves_nothing_to_compare_with():
    fault = Fault(FaultKind.TIMEOUT, "k.cu", 0, "k", "20 s", fatal=True)
    reference = examine(CONTRACT, PROGRAM, lambda j: ran(j, doubled(j), fault, finished=False))
    assert reference.expected == ()
    assert not reference.complete
    assert "timeout" in reference.because


@pytest.mark.parametrize(("budget_s", "examined"), [(1.4, ["tiny"]), (1.5, ["tiny", "odd"])])
def test_no_workload_begins_after_the_budget_of_processor_time(budget_s, examined):
    def half_a_second(job: Job) -> Run:
        return replace(ran(job, doubled(job)), seconds=0.5)

    reference = examine(CONTRACT, PROGRAM, half_a_second, budget_s=budget_s)
    assert [e.workload.name for e in reference.expected] == examined
    assert reference.complete == (len(examined) == 2)
    assert reference.seconds == 1.5 * len(examined)


@pytest.mark.parametrize("changes", [{"poison": POISONS[1]}, {"schedule": Schedule.REVERSE}])
def test_what_changes_with_order_or_memory_is_asked_which_of_both(changes):
    """Order and memory are others at once in one run; where that differs more runs tell why."""
    asked = []

    def execute(given: Job) -> Run:
        asked.append((given.schedule, given.poison))
        changed = all(getattr(given, name) == value for name, value in changes.items())
        return ran(given, doubled(given) + changed)

    reference = examine(replace(CONTRACT, workloads=CONTRACT.workloads[:1]), PROGRAM, execute)
    assert reference.because
    assert set(asked) >= {(Schedule.FORWARD, POISONS[1]), (Schedule.REVERSE, POISONS[0])}
    assert ("never written" in reference.because) == ("poison" in changes)


def test_a_program_is_compared_by_buffers_and_prints():
    contract = Contract("main", "other", Entry(EntryKind.PROGRAM, "main"), (), (), (), (), {})
    buffer = np.arange(8, dtype=np.float32).view(np.uint8)
    run = Run(True, 0, (), (), ((buffer,),), (), (), (), "max error 0.5\nTime: 3 ms\n", "", 0.0)
    reference = examine(contract, PROGRAM, lambda _: run)
    (expected,) = reference.expected
    assert expected.outputs.text.startswith("max error")
    ((_, value),) = expected.outputs.tensors
    assert value.dtype is DType.FLOAT32


def test_what_a_program_says_of_its_device_is_not_compared():
    contract = Contract("main", "other", Entry(EntryKind.PROGRAM, "main"), (), (), (), (), {})
    asking = parse(Source(Path("p.cu"), "int main() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); }"))

    def run(given: Job) -> Run:
        text = f"{given.hardware.shared_bytes} bytes, warps of {given.hardware.claimed_warp_size or 32}\nsum 5\n"
        return Run(True, 0, (), (), (), (), (), (), text, "", 0.0)

    for program, same in ((asking, True), (PROGRAM, False)):
        (expected,) = examine(contract, program, run).expected
        elsewhere = "65536 bytes, warps of 64\nsum 5\n"
        assert (compare_text(elsewhere, expected.outputs.text) == "") is same
        assert compare_text(elsewhere.replace("5\n", "6\n"), expected.outputs.text) != ""
        assert of_devices(expected.outputs.text) == int(same)


def test_a_result_that_rounds_otherwise_on_another_device_is_still_compared():
    text = on_any_device("grid 16\nsum 3.14159\n", "grid 32\nsum 3.14158\n")
    assert of_devices(text) == 1
    assert compare_text("grid 8\nsum 3.14159\n", text) == ""
    assert compare_text("grid 8\nsum 2.71828\n", text) != ""


@pytest.mark.parametrize(
    ("got", "want", "same"),
    [
        ("on NVIDIA A100-SXM4-80GB\n", "on MetaX C500\n", True),
        ("sum = 3.14159\n", "sum = 3.14158\n", True),
        ("sum = 3.14159\n", "sum = 3.2\n", False),
        ("count 5\n", "count 6\n", False),
        ("ok\n", "wrong\n", False),
        ("took 3.1 ms\nok\n", "took 9.9 ms\nok\n", True),
        ("a\nb\n", "a\n", False),
        ("-1e-3 x", "-1.00001e-3 x", True),
    ],
)
def test_prints_are_compared_number_by_number(got, want, same):
    assert (compare_text(got, want) == "") is same


@pytest.mark.parametrize(
    ("kind", "kernel", "at_fault"),
    [
        (FaultKind.RACE, "k", True),
        (FaultKind.OUT_OF_BOUNDS, "k", True),
        (FaultKind.CRASH, "k", True),
        (FaultKind.CRASH, "", False),
        (FaultKind.TIMEOUT, "k", False),
        (FaultKind.HOST_CHECK, "", False),
        (FaultKind.UNDEFINED, "k", False),
        (FaultKind.UNKNOWN, "k", False),
    ],
)
def test_an_original_that_was_not_brought_to_run_is_not_wrong_for_that(kind, kernel, at_fault):
    fault = Fault(kind, "k.cu", 3, kernel, "why", fatal=True)
    reference = examine(CONTRACT, PROGRAM, lambda job: ran(job, doubled(job), fault, finished=False))
    assert (bool(reference.because), reference.at_fault) == (True, at_fault)


@pytest.mark.parametrize("kind", [FaultKind.LAUNCH, FaultKind.DEVICE_ASSERT, FaultKind.MISALIGNED])
def test_an_original_that_wants_other_sizes_than_porter_chose_is_not_wrong(kind):
    def execute(job: Job) -> Run:
        return ran(job, doubled(job), Fault(kind, "k.cu", 3, "k", "not at these sizes"))

    drafted = examine(CONTRACT, PROGRAM, execute, drafted=True)
    assert drafted.because == f"{kind.value} in k at line 3: not at these sizes, workload 'tiny' (n = 3)"
    assert not drafted.at_fault
    assert examine(CONTRACT, PROGRAM, execute).at_fault


def test_an_original_that_divides_by_a_size_that_porter_chose_is_not_wrong():
    def execute(job: Job) -> Run:
        return ran(job, doubled(job), Fault(FaultKind.CRASH, "k.cu", 3, "k", f"{DIVIDED}, or its overflow", fatal=True))

    assert not examine(CONTRACT, PROGRAM, execute, drafted=True).at_fault
    assert examine(CONTRACT, PROGRAM, execute).at_fault


def test_what_shows_an_original_to_be_wrong_is_its_reason():
    def execute(job: Job) -> Run:
        other = Fault(FaultKind.LAUNCH, "k.cu", 3, "k", "an empty grid")
        return ran(job, doubled(job), other, Fault(FaultKind.RACE, "k.cu", 3, "k", "two threads"))

    reference = examine(CONTRACT, PROGRAM, execute, drafted=True)
    assert reference.at_fault
    assert reference.because.startswith("race in k at line 3: two threads")
