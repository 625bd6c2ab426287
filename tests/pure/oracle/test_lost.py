"""Answers that overflowed on the way do not decide; others do, whatever they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.contract import (
    Contract,
    Distribution,
    Entry,
    EntryKind,
    Role,
    ScalarArg,
    TensorArg,
    Tolerance,
    Workload,
)
from porter.contract.dtype import DType
from porter.oracle.lost import without_lost
from porter.oracle.reference import examine
from porter.simt.job import Job, Run, TensorValue
from porter.source.parse import parse
from porter.source.text import Source

PROGRAM = parse(Source(Path("k.cu"), "\n\n__global__ void k(const float* x, float* y, int n) { y[0] = x[0]; }\n"))
PLAIN = Workload("plain", {"n": 4}, 1)
CONTRACT = Contract(
    "k", "other", Entry(EntryKind.POINTER, "k"),
    (TensorArg("x", Role.IN, DType.FLOAT32, ("n",)), TensorArg("y", Role.OUT, DType.FLOAT32, ("n",)),
     ScalarArg("n", "int", "n")),
    ("n",), (), (PLAIN,), {DType.FLOAT32: Tolerance(1e-5, 1e-6)},
)  # fmt: skip


def answering(*result: float):
    def execute(job: Job) -> Run:
        x, y = job.arguments[0], job.arguments[1]
        out = TensorValue(DType.FLOAT32, y.shape, np.asarray(result, np.float32))
        return Run(True, 0, (x, out), (), (), (), (), (), "", "", 0.0)

    return execute


def told(own, twin, distribution=Distribution.DECLARED):
    contract = replace(CONTRACT, workloads=(replace(PLAIN, distribution=distribution),))
    reference = examine(contract, PROGRAM, answering(*own))
    (expected,) = without_lost(reference, answering(*twin)).expected
    return expected


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("own", "twin"),
    [
        ((1, 2, 3, 4), (1, 2, 3, 4)),
        ((1, 2, 3, 4), (1, 2, 3, 9)),
        ((1, INF, 3, 4), (1, INF, 3, 4)),
        ((1, NAN, 3, 4), (1, NAN, 3, 4)),
    ],
)
def test_what_its_type_holds_decides(own, twin):
    expected = told(own, twin)
    assert (expected.decides, expected.partly_finite) == (True, False)


@pytest.mark.parametrize("own", [(1, INF, 3, 4), (1, NAN, 3, 4)])
def test_of_what_only_double_precision_holds_the_finite_elements_decide(own):
    expected = told(own, (1, 2e38, 3, 4))
    assert (expected.decides, expected.partly_finite) == (True, True)


@pytest.mark.parametrize(("own", "is_right"), [((1e38, 1e38, 1e38, 0), False), ((1e38, 1e38, 1e38, 1e38), True)])
def test_near_the_lowest_numbers_an_answer_decides_that_is_like_the_right_one(own, is_right):
    assert told(own, (1e38,) * 4, Distribution.LOWEST).decides is is_right
