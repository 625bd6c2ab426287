"""Answers that overflowed on the way do not decide; others do, whatever they are."""

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
    ScalarArg,
    TensorArg,
    Tolerance,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.evaluate.judge.checking import check
from porter.execution.job import Job, Run, TensorValue
from porter.oracle.lost import lost_elements, without_lost
from porter.oracle.reference import examine
from porter.source.parse import parse
from porter.source_text import Source

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
        is_wide = any(0 < abs(number) < 1e-38 for number in result)
        dtype, stored = (DType.FLOAT64, np.float64) if is_wide else (DType.FLOAT32, np.float32)
        out = TensorValue(dtype, y.shape, np.asarray(result, stored))
        return Run(True, 0, (x, out), (), (), (), (), (), "", "", 0.0)

    return execute


def known(own, twin, distribution=Distribution.DECLARED):
    contract = replace(CONTRACT, workloads=(replace(PLAIN, distribution=distribution),))
    reference = examine(contract, PROGRAM, answering(*own))
    return without_lost(reference, "plain", lambda: answering(*twin), is_extreme=True)


def passes(got, own, twin):
    """Whether `got` is right where the original gave `own`, and `twin` in double precision."""
    reference = known(own, twin)
    (expected,) = reference.expected
    return check(reference.contract, expected, answering(*got)(expected.job(reference.contract)), 32).passed


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("own", "twin"),
    [
        ((1, 2, 3, 4), (1, 2, 3, 4)),
        ((1, 2, 3, 4), (1, 2, 3, 9)),
        ((1, INF, 3, 4), (1, INF, 3, 4)),
        ((1, NAN, 3, 4), (1, NAN, 3, 4)),
        ((1, 0, 3, 4), (1, 0, 3, 4)),
    ],
)
def test_what_its_type_holds_decides(own, twin):
    (expected,) = known(own, twin).expected
    assert (expected.decides, expected.wider) == (True, None)


@pytest.mark.parametrize("own", [(1, INF, 3, 4), (1, NAN, 3, 4)])
@pytest.mark.parametrize("got", [(1, 5, 3, 4), (1, NAN, 3, 4)])
def test_what_overflows_in_its_own_type_alone_may_be_anything(own, got):
    assert passes(got, own, (1, 2e38, 3, 4))
    assert not passes(got, own, (1, INF, 3, 4)) or got[1] is own[1]


@pytest.mark.parametrize("own", [(1, INF, 3, 4), (1, 0, 3, 4)])
def test_other_elements_decide(own):
    assert not passes((1, NAN, 3, 5), own, (1, 1e-60, 3, 4))
    assert not passes((1, NAN, NAN, 4), own, (1, 1e-60, 3, 4))


@pytest.mark.parametrize(("got", "is_right"), [(NAN, True), (INF, True), (0, True), (1e-9, True), (1e-3, False)])
def test_what_underflows_in_its_own_type_alone_may_be_no_number_or_a_small_one(got, is_right):
    assert passes((1, got, 3, 4), (1, 0, 3, 4), (1, 1e-9, 3, 4)) is is_right


def test_a_zero_that_double_precision_has_too_is_one():
    assert not passes((1, NAN, 3, 4), (1, 0, 3, 4), (1, 0, 3, 4))
    assert not passes((1, NAN, 3, 4), (1, 0, 0, 4), (1, 0, 1e-60, 4))


def test_zeros_beside_numbers_that_double_precision_barely_holds_are_lost():
    assert passes((1, NAN, NAN, NAN), (1, 0, 0, 0), (1, 1e-60, 1e-300, 0))
    assert not passes((1, NAN, NAN, 1), (1, 0, 0, 0), (1, 1e-60, 1e-300, 0))


def test_what_is_lost_is_said():
    assert lost_elements(known((1, 0, INF, 4), (1, 1e-60, 3, 4))).endswith("own type: 2 of 8 elements of plain")
    assert lost_elements(known((1, 2, 3, 4), (1, 2, 3, 4))) == ""


def test_no_twin_is_made_where_a_common_number_is_wrong():
    reference = examine(CONTRACT, PROGRAM, answering(1, 0, INF, 4))
    assert without_lost(reference, "plain", lambda: pytest.fail("a twin"), is_extreme=False) is reference


@pytest.mark.parametrize(("own", "is_right"), [((1e38, 1e38, 1e38, 0), False), ((1e38, 1e38, 1e38, 1e38), True)])
def test_near_the_lowest_numbers_an_answer_decides_that_is_like_the_right_one(own, is_right):
    assert known(own, (1e38,) * 4, Distribution.LOWEST).expected[0].decides is is_right
