"""Element types that host code asks for, found by what it refuses; the executor is played by a model of its checks."""

from dataclasses import replace

import pytest

from porter.comparison.compare import DEFAULT_TOLERANCE
from porter.contract.model.contract import EntryKind, Values
from porter.contract.model.dtype import DType
from porter.contract.model.questions import extent_question
from porter.contract.probe.confirm import confirm
from porter.execution.job import Fault, FaultKind, Run, TensorValue, Touched

TORCH = {DType.FLOAT32: "Float", DType.FLOAT16: "Half", DType.BFLOAT16: "BFloat16", DType.INT32: "Int"}


@pytest.fixture
def drafted(contract, tensor):
    """Two tensors of float32, of whose extents and types host code says nothing."""
    made = contract(tensor("x", "n"), tensor("y", "n"), symbols=("n",))
    questions = tuple(extent_question(t.name) for t in made.tensors)
    return replace(made, questions=questions, entry=replace(made.entry, kind=EntryKind.TORCH, launch=None))


def executed(refusal):
    """Runs of host code that `refusal` stands for: what it says of the tensors' types, or nothing."""

    def execute(job):
        tensors = [a for a in job.arguments if isinstance(a, TensorValue)]
        said = refusal(*(t.dtype for t in tensors))
        faults = (Fault(FaultKind.HOST_CHECK, "op.cu", 7, "", said),) if said else ()
        touched = tuple(Touched(0 if said else t.storage.nbytes, 0, 0) for t in tensors)
        return Run(not said, 0, (), (), (), touched, (), faults, "", "", 0.001)

    return execute


def dtypes(confirmation):
    return [t.dtype for t in confirmation.contract.tensors]


@pytest.mark.parametrize("wanted", [DType.FLOAT16, DType.BFLOAT16])
def test_all_floats_get_16_bits_where_a_dispatch_takes_nothing_else(drafted, wanted):
    found = confirm(drafted, executed(lambda x, y: "" if x is y is wanted else f"no kernel for {TORCH[x]}"))
    assert dtypes(found) == [wanted, wanted]
    assert found.contract.tolerance[wanted] == DEFAULT_TOLERANCE[wanted]


def test_what_is_moved_as_vectors_of_integers_may_be_halves(drafted, tensor):
    moved, place = (
        tensor("x", "n", dtype=DType.INT32),
        tensor("y", "n", dtype=DType.INT32, values=Values.INDEX, bound="n"),
    )
    found = confirm(
        replace(drafted, arguments=(moved, place)),
        executed(lambda x, _: "" if x is DType.FLOAT16 else "only 16bit types are supported"),
    )
    assert dtypes(found) == [DType.FLOAT16, DType.INT32]


def test_each_tensor_gets_the_type_that_a_check_names(drafted):
    def refusal(x, y):
        wrong = [f"expected scalar type {TORCH[w]} but found {TORCH[t]}"
                 for t, w in ((x, DType.FLOAT16), (y, DType.INT32)) if t is not w]  # fmt: skip
        return wrong[0] if wrong else ""

    assert dtypes(confirm(drafted, executed(refusal))) == [DType.FLOAT16, DType.INT32]


def test_types_stay_where_host_code_refuses_something_else(drafted):
    found = confirm(drafted, executed(lambda *_: "mode must be 3"))
    assert dtypes(found) == [DType.FLOAT32, DType.FLOAT32]
    assert "mode must be 3" in found.trouble


def test_checks_that_contradict_each_other_end(drafted):
    def refusal(x, _):
        wanted = "Half" if x is DType.FLOAT32 else "Float"
        return f"expected scalar type {wanted} but found {TORCH[x]}"

    assert dtypes(confirm(drafted, executed(refusal))) == [DType.FLOAT32, DType.FLOAT32]
