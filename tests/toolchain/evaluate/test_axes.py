"""A Python reference says a number of axes by its inputs, and may run with others: candidates are asked there, too."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

SOFTMAX = """
import torch
def reference(x): return torch.softmax(x, -1)
def get_inputs(): return [torch.rand(4096, 8192)]
"""
TWO_AXES = SOFTMAX.replace("return torch", "rows, columns = x.shape; return torch")
CANDIDATE = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + c, e / tl.sum(e, 0), mask=c < n)

def forward(x):
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    SHAPE
    kernel[(rows,)](x, y, n, BLOCK=triton.next_power_of_2(n))
    return y
"""
ANY = "n = x.shape[-1]; rows = x.numel() // n"
TWO = "rows, n = x.shape"
FIRST_TWO = "rows, n = x.shape[0], x.shape[-1]"


@pytest.fixture
def judged(tmp_path, build_cache):
    """Returns what is said of a candidate that counts its rows so, held to a reference."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def judge(shape, reference=SOFTMAX):
        (tmp_path / "op.py").write_text(reference)
        (tmp_path / "candidate.py").write_text(CANDIDATE.replace("SHAPE", shape))
        options = MigrateOptions("triton", build_cache, seed=3)
        outcome = verify(tmp_path / "candidate.py", tmp_path / "op.py", options, lambda _: None).outcome
        assert isinstance(outcome, Verified), outcome
        return outcome

    return judge


def test_a_candidate_for_any_number_of_axes_is_compared_at_each(judged):
    outcome = judged(ANY)
    assert {"1 axis", "3 axes"} <= {checked.name for checked in outcome.checked}
    assert not outcome.caveat, outcome.caveat


def test_a_candidate_that_refuses_other_numbers_of_axes_is_said_to(judged):
    caveat = judged(TWO).caveat
    assert "nothing was compared at 3 axes, which it does not take: ValueError" in caveat
    assert "nothing was compared at 1 axis, which it does not take: ValueError" in caveat


def test_another_answer_at_another_number_of_axes_is_said(judged):
    caveat = judged(FIRST_TWO).caveat
    assert "its answer differs where a difference does not count as wrong" in caveat
    assert "workload '3 axes'" in caveat


def test_a_reference_that_takes_no_other_number_of_axes_is_not_asked_for_one(judged):
    outcome = judged(FIRST_TWO, TWO_AXES)
    assert not any("ax" in checked.name.split()[-1] for checked in outcome.checked if checked.name[0].isdigit())
    assert not outcome.caveat
