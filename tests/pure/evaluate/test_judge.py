"""A port is verified only when it launched something, behaved, and left what its original leaves."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import (
    Contract,
    Distribution,
    Entry,
    EntryKind,
    Role,
    TensorArg,
    Tolerance,
    Workload,
)
from porter.contract.model.dtype import DType, decode, encode
from porter.evaluate.judge.judge import Candidate, judge
from porter.evaluate.model.outcome import Crashed, NotBuilt, NotVerified, Refused, Verified, Wrong
from porter.execution.job import Fault, FaultKind, Job, LaunchRecord, Run, Schedule, TensorValue
from porter.oracle.reference import Expected, examine
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = parse(Source(Path("k.cu"), "__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"))
CONTRACT = Contract(
    "k", "other", Entry(EntryKind.POINTER, "k"),
    (TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), TensorArg("y", Role.OUT, DType.FLOAT32, ("n",))),
    ("n",), (), (Workload("tiny", {"n": 3}, 1), Workload("odd", {"n": 37}, 2)), {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
)  # fmt: skip
LAUNCH = LaunchRecord("k", (1, 1, 1), (32, 1, 1), 0, 1)


def honest(job: Job) -> Run:
    x, y = (a for a in job.arguments if isinstance(a, TensorValue))
    out = TensorValue(DType.FLOAT32, y.shape, (x.storage * 2).astype(np.float32))
    return Run(True, 0, (x, out), (), (), (), (LAUNCH,), (), "", "", 0.0)


REFERENCE = examine(CONTRACT, PROGRAM, honest)


def judged(execute):
    return judge(REFERENCE, (Candidate(64, execute), Candidate(32, honest)))


def changed(job: Job, which: int, change) -> Run:
    run = honest(job)
    outputs = list(run.outputs)
    outputs[which] = replace(outputs[which], storage=change(outputs[which].storage.copy()))
    return replace(run, outputs=tuple(outputs))


def test_the_same_answers_at_every_width_are_verified():
    outcome = judged(honest)
    assert isinstance(outcome, Verified)
    assert [(c.name, c.warp_size) for c in outcome.checked] == [("tiny", 64), ("odd", 64), ("tiny", 32), ("odd", 32)]


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y * 1.001,
        lambda y: np.roll(y, 1),
        np.zeros_like,
        lambda y: np.where(np.arange(y.size) == y.size - 1, np.nan, y).astype(np.float32),
        lambda y: np.full_like(y, np.nan),
    ],
    ids=["scaled", "shifted", "zeros", "last element NaN", "all NaN"],
)
def test_a_wrong_answer_names_the_workload_and_the_width(change):
    outcome = judged(lambda job: changed(job, 1, change))
    assert isinstance(outcome, Wrong)
    assert "workload 'tiny' (n = 3) at 64 lanes" in outcome.because


def test_an_input_that_the_port_overwrites_is_wrong():
    assert isinstance(judged(lambda job: changed(job, 0, lambda x: x + 1)), Wrong)


def test_an_answer_that_depends_on_the_order_of_threads_is_wrong():
    outcome = judged(lambda job: changed(job, 1, lambda y: y + 1) if job.schedule is Schedule.SHUFFLED else honest(job))
    assert isinstance(outcome, Wrong)


def test_right_numbers_with_a_fault_of_the_ports_own_are_not_enough():
    fault = Fault(FaultKind.OUT_OF_BOUNDS, "k.maca.cpp", 7, "k", "reads past x")
    outcome = judged(lambda job: replace(honest(job), faults=(fault,)))
    assert isinstance(outcome, Crashed)
    assert "k.maca.cpp:7: out of bounds in k: reads past x" in outcome.because


def test_a_fault_that_the_original_has_too_is_not_held_against_the_port():
    fault = Fault(FaultKind.LANE_ABSENT, "k.cu", 1, "k", "lane 9 never comes")

    def original(job):
        return replace(honest(job), faults=(fault,))

    reference = examine(CONTRACT, PROGRAM, original)
    assert isinstance(judge(reference, (Candidate(64, original),)), Verified)
    race = replace(fault, kind=FaultKind.RACE)
    worse = judge(reference, (Candidate(64, lambda job: replace(honest(job), faults=(race,))),))
    assert isinstance(worse, Crashed)


def test_a_fence_that_only_its_original_has_is_missing_or_named():
    unpublished = Fault(FaultKind.UNPUBLISHED, "k.maca.cu", 9, "k", "another block writes it")
    outcome = judged(lambda job: replace(honest(job), faults=(unpublished,)))
    assert isinstance(outcome, Crashed)
    unacquired = replace(unpublished, kind=FaultKind.UNACQUIRED, file="/home/k.maca.cu")

    def unfenced(job):
        return replace(honest(job), faults=(unacquired,))

    outcome = judged(unfenced)
    assert isinstance(outcome, Verified)
    assert outcome.caveat.startswith("the order of memory between blocks was not executed: k.maca.cu:9 reads")
    alike = judge(examine(CONTRACT, PROGRAM, unfenced), (Candidate(64, unfenced),))
    assert isinstance(alike, Verified)
    assert not alike.caveat


def test_conversions_that_only_cuda_defines_are_named_where_usual_inputs_need_them():
    unfit = Fault(FaultKind.UNFIT, "k.cu", 1, "k", "-1.5 becomes 'unsigned char', which does not hold it")

    def converting(job):
        return replace(honest(job), faults=(unfit,))

    told = judge(examine(CONTRACT, PROGRAM, converting), (Candidate(64, honest),))
    assert isinstance(told, Verified)
    assert told.caveat.startswith(
        "the original converts floats to whole numbers whose type does not hold them (line 1)"
    )
    wide = replace(CONTRACT, workloads=(Workload("wide", {"n": 3}, 1, distribution=Distribution.WIDE),))
    silent = judge(examine(wide, PROGRAM, converting), (Candidate(64, honest),))
    assert isinstance(silent, Verified)
    assert not silent.caveat


def test_shifts_that_only_cuda_defines_are_named():
    far = Fault(FaultKind.SHIFTED, "k.cu", 1, "k", "'int' is shifted by 32 bits")
    told = judge(examine(CONTRACT, PROGRAM, lambda job: replace(honest(job), faults=(far,))), (Candidate(64, honest),))
    assert isinstance(told, Verified)
    assert told.caveat.startswith("the original shifts numbers by at least as many bits as they have (line 1)")


def test_what_two_verdicts_leave_out_is_said_once():
    both = Verified((), "a is not run; b is empty").joined(Verified((), "b is empty; c is late"))
    assert both.caveat == "a is not run; b is empty; c is late"


def test_a_port_that_dies_is_a_crash_with_its_exit_code():
    outcome = judged(lambda job: replace(honest(job), finished=False, exit_code=139, outputs=()))
    assert isinstance(outcome, Crashed)
    assert "139" in outcome.because


def test_equal_answers_without_the_launches_of_the_original_are_no_port():
    idle = lambda job: replace(honest(job), launches=())  # noqa: E731
    outcome = judge(REFERENCE, (Candidate(64, idle),))
    assert isinstance(outcome, Wrong)
    assert "launches no kernel, and the original launches k" in outcome.because
    assert isinstance(judge(replace(REFERENCE, launched=()), (Candidate(64, idle),)), NotVerified)


def test_a_program_whose_launches_were_not_all_kept_says_so():
    contract = Contract("main", "other", Entry(EntryKind.PROGRAM, "main"), (), (), (), (), {})
    buffers = (np.arange(8, dtype=np.uint8),)

    def program(_: Job) -> Run:
        return Run(True, 0, (), (), (buffers,), (), (LAUNCH, LAUNCH), (), "sum 28\n", "", 0.0)

    outcome = judge(examine(contract, PROGRAM, program), (Candidate(64, program),))
    assert isinstance(outcome, Verified)
    assert "first 1 of 2 launches" in outcome.caveat


def test_small_integers_in_a_programs_buffer_are_not_floats_near_zero():
    contract = Contract("main", "other", Entry(EntryKind.PROGRAM, "main"), (), (), (), (), {})

    def program(count: int):
        buffers = (np.array([0, 0, 0, count], dtype=np.int32).view(np.uint8),)
        return lambda _: Run(True, 0, (), (), (buffers,), (), (LAUNCH,), (), "", "", 0.0)

    reference = examine(contract, PROGRAM, program(5))
    assert isinstance(judge(reference, (Candidate(64, program(5)),)), Verified)
    assert isinstance(judge(reference, (Candidate(64, program(7)),)), Wrong)


def test_what_ran_right_is_verified_for_the_devices_it_compiles_for():
    outcome = judge(REFERENCE, (Candidate(None, honest, lambda: ("a", "b")), Candidate(32, honest)))
    assert isinstance(outcome, Verified)
    assert outcome.compiled_for == ("a", "b")


def test_what_ran_right_but_does_not_compile_is_not_built():
    refused = NotBuilt("no such instruction", "the whole log")
    assert judge(REFERENCE, (Candidate(64, honest), Candidate(None, honest, lambda: refused))) == refused


def test_what_is_wrong_is_not_compiled():
    def never():
        raise AssertionError("compiled a port that is wrong")

    outcome = judge(REFERENCE, (Candidate(None, lambda job: changed(job, 1, np.zeros_like), never),))
    assert isinstance(outcome, Wrong)
    assert outcome.because.endswith("(workload 'tiny' (n = 3))")


def test_an_interpreter_may_be_too_slow_where_a_port_of_its_own_speed_hangs():
    late = Fault(FaultKind.TIMEOUT, "", 0, "", "the time limit is reached", fatal=True)

    def endless(_):
        return Run(False, 1, (), (), (), (), (), (late,), "", "", 20.0)

    assert isinstance(judge(REFERENCE, (Candidate(64, endless),)), Crashed)
    assert isinstance(judge(REFERENCE, (Candidate(None, endless),)), NotVerified)


def test_a_host_that_reads_more_than_is_followed_as_its_original_does_is_no_crash():
    much = Fault(FaultKind.HOST_WORK, "", 0, "", "the host reads 256 numbers", fatal=True)

    def reading(_):
        return Run(False, 1, (), (), (), (), (), (much,), "", "", 0.0)

    assert isinstance(judge(REFERENCE, (Candidate(None, reading),)), Refused)
    alike = replace(REFERENCE, habits=frozenset({FaultKind.HOST_WORK}))
    assert isinstance(judge(alike, (Candidate(None, reading),)), NotVerified)


def with_nothing_to_do(kind: FaultKind, n: int, *, decides: bool = False):
    """The outcome of a candidate that shows a fault of `kind` where the input has `n` elements, and nowhere else."""
    special = Workload("special", {"n": n}, 3)
    outputs = examine(replace(CONTRACT, workloads=(special,)), PROGRAM, honest).expected[0].outputs
    expected = (*REFERENCE.expected, Expected(special, outputs, None, decides=decides))

    def execute(job: Job) -> Run:
        fault = Fault(kind, "k.py", 3, "", "somebody else did it")
        return replace(honest(job), faults=(fault,) if job.arguments[0].shape == (n,) else ())

    return judge(replace(REFERENCE, expected=expected), (Candidate(None, execute),))


def test_for_an_empty_input_everybody_returns_early():
    assert isinstance(with_nothing_to_do(FaultKind.DECOY, 0), Verified)
    assert isinstance(with_nothing_to_do(FaultKind.DECOY, 5), Refused)
    assert isinstance(with_nothing_to_do(FaultKind.REPLACED, 0), Refused)


def test_what_does_not_decide_is_said_once_for_all_widths():
    outcome = with_nothing_to_do(FaultKind.OUT_OF_BOUNDS, 5)
    assert isinstance(outcome, Verified)
    assert outcome.caveat.count("answer differs where a difference does not count as wrong") == 1
    assert isinstance(with_nothing_to_do(FaultKind.OUT_OF_BOUNDS, 5, decides=True), Crashed)


def test_an_element_type_that_the_original_takes_has_to_be_taken():
    half = Workload("float64", {"n": 5}, 3, dtypes={"x": DType.FLOAT64, "y": DType.FLOAT64})

    def narrow(job: Job) -> Run:
        refused = Fault(FaultKind.HOST_CHECK, "", 0, "", "not implemented for float64", fatal=True)
        if any(isinstance(a, TensorValue) and a.dtype is DType.FLOAT64 for a in job.arguments):
            return replace(honest(job), finished=False, outputs=(), faults=(refused,))
        return honest(job)

    def wide(job: Job) -> Run:
        x, y = job.arguments
        assert isinstance(x, TensorValue)
        assert isinstance(y, TensorValue)
        out = TensorValue(y.dtype, y.shape, (x.storage * 2).astype(y.storage.dtype))
        return replace(honest(job), outputs=(x, out))

    contract = replace(CONTRACT, workloads=(*CONTRACT.workloads, half))
    tolerance = {**CONTRACT.tolerance, DType.FLOAT64: Tolerance(1e-10, 1e-10)}
    reference = examine(replace(contract, tolerance=tolerance), PROGRAM, wide)
    outcome = judge(reference, (Candidate(64, narrow),), is_trusted=False)
    assert isinstance(outcome, NotVerified)
    assert "at float64, which it does not take" in outcome.because
    assert "--dtype" in outcome.because
    assert isinstance(judge(reference, (Candidate(64, wide),), is_trusted=False), Verified)
    own = judge(reference, (Candidate(64, narrow),))
    assert isinstance(own, Verified)
    assert "at float64" in own.caveat


def test_a_verdict_over_more_workloads_adds_to_the_one_before():
    first = judged(honest)
    assert isinstance(first, Verified)
    idle = lambda job: replace(honest(job), launches=())  # noqa: E731
    both = judge(REFERENCE, (Candidate(64, idle),), is_trusted=False, besides=first)
    assert isinstance(both, Verified)
    assert len(both.checked) == len(first.checked) + len(CONTRACT.workloads)


def test_most_elements_are_rounded_as_those_of_the_original():
    arguments = tuple(replace(a, dtype=DType.FLOAT16) for a in CONTRACT.arguments)
    half = replace(CONTRACT, arguments=arguments, workloads=(Workload("many", {"n": 500}, 1),), tolerance={})

    def third(rounded):
        def run(job: Job) -> Run:
            x, y = (a for a in job.arguments if isinstance(a, TensorValue))
            answer = rounded(x.storage.astype(np.float64) / 3)
            return Run(
                True, 0, (x, replace(y, storage=encode(answer, y.dtype))), (), (), (), (LAUNCH,), (), "", "", 0.0
            )

        return run

    reference = examine(half, PROGRAM, third(lambda v: v))
    coarse = third(lambda v: decode(encode(v, DType.BFLOAT16), DType.BFLOAT16))
    assert isinstance(judge(reference, (Candidate(64, third(lambda v: v * (1 + 1e-6))),)), Verified)
    assert "one step of float16" in judge(reference, (Candidate(64, coarse),)).because
    stated = replace(half, tolerance={DType.FLOAT16: Tolerance(1e-2, 1e-3)})
    assert isinstance(judge(replace(reference, contract=stated), (Candidate(64, coarse),)), Verified)
    no_twin = tuple(replace(expected, rounds_otherwise=False) for expected in reference.expected)
    assert isinstance(judge(replace(reference, expected=no_twin), (Candidate(64, coarse),)), Verified)
    outliers = replace(half.workloads[0], distribution=Distribution.OUTLIER)
    told = examine(replace(half, workloads=(outliers,)), PROGRAM, third(lambda v: v))
    assert isinstance(judge(told, (Candidate(64, coarse),)), Verified)
