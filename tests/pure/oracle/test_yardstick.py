"""The yardstick: how far the original strays when it rounds otherwise, and inputs on which it does not."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Values, Workload
from porter.contract.model.dtype import DType, encode
from porter.contract.workload.materialise import materialise
from porter.execution.job import Job, Run, TensorValue
from porter.oracle.reference import examine
from porter.oracle.yardstick import in_whole_numbers, measured, shaken
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = parse(Source(Path("k.cu"), "__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"))
NARROW = Contract(
    "k", "other", Entry(EntryKind.POINTER, "k"),
    (TensorArg("x", Role.IN, DType.BFLOAT16, ("n",)), TensorArg("y", Role.OUT, DType.FLOAT32, ("n",))),
    ("n",), (), (Workload("tiny", {"n": 3}, 1), Workload("large values", {"n": 37}, 2, scale=1e3)), {},
)  # fmt: skip
WIDE = replace(NARROW, arguments=(replace(NARROW.arguments[0], dtype=DType.FLOAT32), NARROW.arguments[1]))


def answering(value):
    """What gives `value(job)` in every element of `y`."""

    def execute(job: Job) -> Run:
        x, y = job.arguments
        assert isinstance(y, TensorValue)
        out = TensorValue(DType.FLOAT32, y.shape, np.full(y.shape, value(job), np.float32))
        return Run(True, 0, (x, out), (), (), (), (), (), "", "", 0.0)

    return execute


def test_the_furthest_of_several_runs_is_the_yardstick_of_16_bit_arithmetic():
    reference = examine(NARROW, PROGRAM, answering(lambda _: 1.0))
    seen = []

    def twin(job: Job) -> float:
        seen.append(job.seed)
        return 1.0 + 0.25 * (job.seed == 4)

    tiny, large = measured(reference, answering(twin)).expected
    assert len(set(seen)) > 4
    assert dict(tiny.yardstick.tensors)["y"].storage.tolist() == [1.25] * 3
    assert (tiny.by_chance, large.by_chance) == (frozenset({"y"}), frozenset({"y"}))


def test_16_bit_arithmetic_between_wider_tensors_is_told_by_what_changes():
    reference = examine(WIDE, PROGRAM, answering(lambda _: 1.0))
    tiny, _ = measured(reference, answering(lambda job: 1.0 + 0.25 * (job.seed % 2))).expected
    assert tiny.by_chance == frozenset({"y"})


def test_runs_that_agree_are_the_yardstick_of_wider_arithmetic():
    reference = examine(WIDE, PROGRAM, answering(lambda _: 1.0))
    jobs = []
    tiny, _ = measured(reference, answering(lambda job: jobs.append(job) or 1.5)).expected
    assert len(jobs) == 2 * len(WIDE.workloads)
    assert dict(tiny.yardstick.tensors)["y"].storage.tolist() == [1.5] * 3
    assert tiny.by_chance == frozenset()


def by_chance(contract: Contract, values: int) -> Contract | None:
    """Returns what is asked in whole numbers where the twin gives one of `values` values."""
    reference = examine(contract, PROGRAM, answering(lambda _: 1.0))
    return in_whole_numbers(measured(reference, answering(lambda job: 1.0 + job.seed % values)))


def test_whole_numbers_are_asked_only_where_something_rounds_by_chance():
    whole = by_chance(NARROW, 2)
    assert [workload.name for workload in whole.workloads] == ["tiny, whole numbers"]
    assert {tensor.values for tensor in whole.tensors} == {Values.WHOLE}
    assert by_chance(WIDE, 1) is None


def test_whole_numbers_are_small_signed_and_never_zero():
    whole = replace(by_chance(NARROW, 2), workloads=(Workload("odd", {"n": 999}, 5),))
    x, _ = materialise(whole, whole.workloads[0])
    values = {code: number for number in range(-6, 7) for code in encode(np.array([float(number)]), DType.BFLOAT16)}
    numbers = [values[code] for code in x.storage]
    assert 0 not in numbers
    assert min(numbers) < -1
    assert max(numbers) > 1


def test_of_a_few_elements_several_runs_with_other_last_bits_tell():
    """One run of four or five shows nothing of a result whose terms cancel: it lands on the same number of one ulp."""
    few = replace(WIDE, workloads=WIDE.workloads[:1])
    many = replace(WIDE, workloads=(Workload("many", {"n": 1000}, 1),))
    for contract, least in ((few, 4), (many, 1)):
        reference = examine(contract, PROGRAM, answering(lambda _: 1.0))
        inputs = []

        def moved(job: Job, inputs=inputs, least=least) -> float:
            inputs.append(job.arguments[0].storage.tobytes())
            return 1.0 + 0.25 * (len(inputs) == least)

        (expected,) = shaken(reference, answering(moved)).expected
        assert len(inputs) >= least
        assert len(set(inputs)) > 1 or least == 1
        assert set(dict(expected.yardstick.tensors)["y"].storage.tolist()) == {1.25}
