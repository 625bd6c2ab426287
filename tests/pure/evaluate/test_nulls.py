"""A contract that an answer fulfils which nobody computed shows nothing; which one it is, is said."""

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Values
from porter.contract.model.dtype import DType
from porter.contract.workload.workloads import with_workloads
from porter.evaluate.judge.nulls import passing_null
from porter.evaluate.reference.choices import examined
from porter.evaluate.reference.judging import Judging
from porter.execution.job import LaunchRecord, Run, TensorValue
from porter.oracle.reference import examine
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = parse(Source(Path("k.cu"), "__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"))
LAUNCH = LaunchRecord("k", (1, 1, 1), (32, 1, 1), 0, 1)
DRAWN = Judging(7, {})


def contract(values=Values.NORMAL, shape=("rows", "columns")):
    arguments = (
        TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "columns"), values),
        TensorArg("y", Role.OUT, DType.FLOAT32, shape),
    )
    entry = Entry(EntryKind.TORCH, "k")
    return with_workloads(Contract("k", "other", entry, arguments, ("rows", "columns"), (), (), {}))


def null(operator, values=Values.NORMAL, shape=("rows", "columns")):
    """The null answer that passes where `operator` is the original."""

    def execute(job):
        x, y = (a for a in job.arguments if isinstance(a, TensorValue))
        with np.errstate(invalid="ignore"):
            result = np.ascontiguousarray(operator(x.storage), np.float32).reshape(y.shape)
        out = TensorValue(DType.FLOAT32, y.shape, result)
        return Run(True, 0, (x, out), (), (), (), (LAUNCH,), (), "", "", 0.0)

    drawn = DRAWN.reseeded(contract(values, shape))
    return passing_null(examined(drawn, lambda c: examine(c, PROGRAM, execute), DRAWN.further(drawn)).reference)


@pytest.mark.parametrize(
    ("operator", "shape"),
    [
        (lambda x: np.maximum(x, 0), ("rows", "columns")),
        (lambda x: np.tanh(x - x.sum(1, keepdims=True)), ("rows", "columns")),
        (lambda x: x[::-1], ("rows", "columns")),
        (lambda x: x.sum(1), ("rows",)),
        (lambda x: x.sum() / 7, ("1",)),
    ],
    ids=["relu", "tanh of what is beside the sum", "rows reversed", "sums of rows", "sum"],
)
def test_an_operator_whose_answer_depends_on_its_input_is_told_from_all(operator, shape):
    assert null(operator, shape=shape) == ""


@pytest.mark.parametrize(
    ("operator", "values", "named"),
    [
        (np.zeros_like, Values.NORMAL, "zeros"),
        (lambda x: np.maximum(1 - (x + 2), 0), Values.POSITIVE, "zeros"),
        (np.ones_like, Values.NORMAL, "ones"),
        (lambda x: np.maximum(x, 0), Values.POSITIVE, "the input itself"),
        (lambda x: np.broadcast_to(np.arange(x.shape[1]) / 7, x.shape), Values.NORMAL, "the first answer"),
        (lambda x: np.minimum(np.abs(x), 0) + 3, Values.NORMAL, "the first answer"),
    ],
    ids=["zero", "a saturated hinge", "one", "relu of what is positive", "positions", "a constant"],
)
def test_an_operator_whose_workloads_show_nothing_is_named(operator, values, named):
    assert null(operator, values).startswith(named)


def test_what_gives_back_whatever_it_is_given_is_a_copy():
    assert null(lambda x: x) == ""


def test_rows_that_hardly_differ_do_not_show_where_they_belong():
    answer = null(lambda x: np.tanh(x.sum(0)) + 3 + np.sign(np.arange(len(x)))[:, None] * 1e-6)
    assert answer == "rows shifted by one"


def test_what_is_the_same_in_every_row_is_no_wrong_answer_when_rows_are_shifted():
    assert null(lambda x: np.broadcast_to(x.sum(0), x.shape)) == ""
