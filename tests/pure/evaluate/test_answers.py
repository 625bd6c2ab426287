"""Answers at sizes that nobody emulates: what the order of sums explains, and what it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Workload
from porter.contract.model.dtype import DType, encode
from porter.evaluate.timing.answers import differs
from porter.execution.job import Run, TensorValue
from porter.oracle.outputs import outputs
from porter.oracle.reference import Expected

COUNT = 100_000


def contract(dtype: DType, out: str = "n") -> Contract:
    tensors = (TensorArg("x", Role.IN, dtype, ("n",)), TensorArg("y", Role.OUT, dtype, (out,)))
    return Contract("f", "other", Entry(EntryKind.POINTER, "f"), tensors, ("n",), (), (), {})


def run_of(dtype: DType, *values: np.ndarray) -> Run:
    tensors = tuple(TensorValue(dtype, v.shape, encode(v, dtype)) for v in values)
    return Run(True, 0, tensors, (), (), (), (), (), "", "", 0.0)


def said(dtype: DType, want: np.ndarray, got: np.ndarray, out: str = "n") -> str:
    x = np.random.default_rng(0).standard_normal(COUNT)
    made = contract(dtype, out)
    expected = Expected(Workload("bench", {"n": COUNT}, 1), outputs(made, run_of(dtype, x, want)), None)
    return differs(made, expected, run_of(dtype, x, got))


@pytest.fixture
def want() -> np.ndarray:
    return np.random.default_rng(1).standard_normal(COUNT) * 3


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.INT32])
def test_equal_answers_are_right_whatever_is_no_number_in_them(dtype, want):
    if dtype.is_float:
        want[::7], want[::11] = np.nan, np.inf
    assert said(dtype, want, want.copy()) == ""


def test_a_few_ulps_of_the_largest_are_rounding(want):
    assert said(DType.FLOAT32, want, want + 20 * np.finfo(np.float32).eps) == ""


def test_one_wrong_element_is_named(want):
    got = want.copy()
    got[4711] += 0.01
    assert "[4711]" in said(DType.FLOAT32, want, got)


def test_half_precision_inside_is_no_rounding_of_single(want):
    assert "y" in said(DType.FLOAT32, want, want.astype(np.float16).astype(np.float64))


def test_an_infinity_or_nan_of_its_own_is_wrong(want):
    for odd in (np.nan, np.inf):
        got = want.copy()
        got[5] = odd
        assert "[5]" in said(DType.FLOAT32, want, got)


def test_integers_are_equal_or_wrong(want):
    whole = np.rint(want * 100)
    assert said(DType.INT32, whole, whole + (np.arange(COUNT) == 9)) != ""


def test_one_sum_of_many_may_lose_more(want):
    total = np.array([want.sum()])
    off = total * (1 + 200 * np.finfo(np.float32).eps)
    assert said(DType.FLOAT32, total, off, out="1") == ""
    assert said(DType.FLOAT32, np.full(COUNT, total[0]), np.full(COUNT, off[0])) != ""


def test_where_not_all_came_back_what_did_is_compared(want):
    made = replace(contract(DType.FLOAT32), symbols=("n",))

    def looked_at(values: np.ndarray, shape: tuple[int, ...] = (100 * COUNT,)) -> Run:
        whole = run_of(DType.FLOAT32, values, values)
        return replace(whole, outputs=tuple(replace(t, shape=shape) for t in whole.outputs))

    expected = Expected(Workload("bench", {"n": 100 * COUNT}, 1), outputs(made, looked_at(want)), None)
    wrong = want.copy()
    wrong[4711] += 1
    assert differs(made, expected, looked_at(want.copy())) == ""
    assert "[4711]" in differs(made, expected, looked_at(wrong))
    assert "want float32" in differs(made, expected, looked_at(want, (COUNT, 10)))
