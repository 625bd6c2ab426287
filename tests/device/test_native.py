"""Candidates on a real device: run, captured, timed, and lost."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.contract.workload.drawn import extended
from porter.execution.job import FaultKind, Job, Limits, ScalarValue, TensorValue
from porter.measure.interleave import StopRule, interleaved
from porter.native.timed import Timed
from porter_triton.native import entry_of
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

pytestmark = pytest.mark.device
COUNT = 10_007
TEXT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)


@triton.jit
def far_kernel(x, distance):
    tl.store(x + distance, 1.0)


def scale(x, y, n):
    scale_kernel[(triton.cdiv(n, 256),)](x, y, n, B=256)


def made(x, n):
    y = torch.empty(n, dtype=torch.float32, device=x.device)
    scale(x, y, n)
    return y


def library(x, y, n):
    y.copy_(torch.mul(x, 2.0))


def synchronises(x, y, n):
    scale(x, y, n)
    torch.cuda.synchronize()


def far(x, y, n):
    far_kernel[(1,)](x, 1 << 42)


def beside(x, y, n):
    scale(x, y, n + 1)
"""


def job(seed: int = 0) -> Job:
    x = np.random.default_rng(seed).standard_normal(COUNT).astype(np.float32)
    tensors = (TensorValue(DType.FLOAT32, (COUNT,), v) for v in (x, np.full_like(x, np.nan)))
    return Job(arguments=(*tensors, ScalarValue(COUNT)))


def is_right(run, seed: int = 0) -> bool:
    return run.finished and np.array_equal(run.outputs[1].storage, job(seed).arguments[0].storage * 2)


@pytest.fixture
def session(device):
    with device.session(TEXT) as opened:
        yield opened


@pytest.fixture
def entry(session, module, tmp_path):
    """A function of the module, as it is timed."""
    path = Path(module(TEXT))
    with calls_of(path, tmp_path, Limits()) as calls:
        yield lambda function: Timed(session, lambda job: entry_of(calls, Function(function), job, session))


def test_a_candidate_runs_and_its_launches_are_seen(entry):
    run = entry("scale").run(job())
    assert is_right(run)
    assert [launch.kernel for launch in run.launches] == ["scale_kernel"]


def test_the_kernels_that_are_captured_are_the_candidates(entry):
    own = entry("scale").prepare(job())
    assert (own.own, own.others) == (("scale_kernel",), ())


def test_what_the_library_computes_is_in_no_plan(entry):
    run = entry("library").run(job())
    assert not run.finished
    assert [fault.kind for fault in run.faults] == [FaultKind.LIBRARY]


def test_what_was_timed_is_right_on_new_inputs(entry, session):
    arm = entry("scale").prepare(job())
    assert not arm.uncaptured
    found = interleaved(1, lambda order: session.sample(tuple(order), captured=True), StopRule(), time.monotonic)
    assert 0 < found.timings[0].median_us < 1000
    for index in range(3):
        assert is_right(entry("scale").replay(arm.arm, job(seed=index + 1), index).run, seed=index + 1)


def test_the_clock_outside_agrees_with_the_times(entry, session):
    entry("scale").prepare(job())
    told_us, seen_us = session.keep(0, 20_000)
    assert 0.5 < told_us / seen_us <= 1.02


def test_what_synchronises_is_timed_by_calls(entry, session):
    arm = entry("synchronises").prepare(job())
    assert arm.uncaptured
    assert min(session.sample((0, 0), captured=False)) > 0


@pytest.mark.parametrize(("function", "kind"), [("far", FaultKind.OUT_OF_BOUNDS), ("beside", FaultKind.OUT_OF_BOUNDS)])
def test_after_a_fault_the_next_call_is_right(entry, function, kind):
    broken = entry(function).run(job())
    assert not broken.finished
    assert broken.faults[0].kind is kind
    assert is_right(entry("scale").run(job()))


@pytest.mark.parametrize("pool", [1_048_573, 3])
def test_what_a_large_tensor_holds_is_drawn_from_its_pool(entry, pool):
    count = 3_000_001
    values = np.random.default_rng(3).standard_normal(pool).astype(np.float32)
    blank = np.full(pool, np.nan, np.float32)
    tensors = (TensorValue(DType.FLOAT32, (count,), v) for v in (values, blank))
    given = Job(arguments=(*tensors, ScalarValue(count)))
    run = entry("scale").run(given)
    assert np.array_equal(run.outputs[0].storage, extended(values, count))
    assert np.array_equal(run.outputs[1].storage, extended(values, count) * 2)
    arm = entry("scale").prepare(given)
    again = entry("scale").replay(arm.arm, given, 1).run
    assert np.array_equal(again.outputs[1].storage, extended(values, count) * 2)


def test_what_fills_memory_anew_is_done_before_what_was_timed_runs(entry):
    count = 1 << 29  # 2 GiB, which take a device milliseconds to fill
    values = np.random.default_rng(4).standard_normal(1 << 20).astype(np.float32)
    given = Job(arguments=(TensorValue(DType.FLOAT32, (count,), values), ScalarValue(count)))
    arm = entry("made").prepare(given)
    assert not arm.uncaptured
    (result,) = entry("made").replay(arm.arm, given, 0).run.results
    assert not np.isnan(result.storage).any()
