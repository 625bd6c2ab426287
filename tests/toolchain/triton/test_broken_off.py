"""A call that is broken off for its time: the next one is answered by what was asked of it, not by an older answer."""

import signal

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.execution.job import Job, Limits, ScalarValue, TensorValue
from porter.measure.deadline import Deadline
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

MODULE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(x, steps):
    total = tl.load(x)
    for _ in range(steps):
        total += 1
    tl.store(x, total)


def count(x, steps):
    count_kernel[(1,)](x, steps)


def count_twice(x, steps):
    count_kernel[(1,)](x, steps)
    if x[:1].cpu().item() >= 0:
        count_kernel[(1,)](x, 1)


def plan_for_long(x, steps):
    for _ in range(steps):
        pass
    count_kernel[(1,)](x, 1)
"""
ENDLESS = 1 << 40


def started_at(first, steps):
    return Job((TensorValue(DType.FLOAT32, (1,), np.full(1, first, np.float32)), ScalarValue(steps)))


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    path = tmp_path_factory.mktemp("module") / "module.py"
    path.write_text(MODULE)
    with calls_of(path, tmp_path_factory.mktemp("worker"), Limits(cpu_s=30.0)) as calls:
        yield calls


def left(calls, function, first, steps):
    run = calls.run(Function(function), started_at(first, steps))
    assert run.finished, run.faults
    return run.outputs[0].storage[0]


@pytest.mark.parametrize("function", ["count", "count_twice", "plan_for_long"])
def test_after_a_call_that_was_broken_off_each_gets_its_own_answer(calls, function):
    assert left(calls, "count", 1, 2) == 3
    deadline = Deadline(60.0)
    with deadline.running():
        with deadline.span(0.5) as span:
            calls.run(Function(function), started_at(100, ENDLESS))
        assert span.passed
        assert left(calls, "count", 10, 5) == 15
    assert left(calls, "count_twice", 20, 5) == 26
    assert left(calls, function, 30, 1) > 30


def test_calls_broken_off_anywhere_leave_none_with_another_ones_answer(calls):
    """The first steps of a call take a few milliseconds: forks, plans, messages."""
    left(calls, "count_twice", 0, 1)
    deadline = Deadline(120.0)
    with deadline.running():
        for number in range(40):
            with deadline.span(30.0):
                signal.setitimer(signal.ITIMER_REAL, 0.0005 * (number + 1))
                deadline._spans[-1].ends_at = -1.0  # over whenever it is looked at
                left(calls, "count_twice", 1000, 1)
            assert left(calls, "count_twice", number, 2) == number + 3
