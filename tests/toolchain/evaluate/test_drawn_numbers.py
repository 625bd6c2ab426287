"""Candidates that are right for the numbers a contract has, and for no others."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

SOURCE = """
__global__ void scaled_kernel(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = OF_SOURCE;
}
void scaled(const float* x, float* y, float a, int n) {
  if (n > 5000) throw 1;
  scaled_kernel<<<(n + 255) / 256, 256>>>(x, y, a, n);
}
"""
CANDIDATE = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    tl.store(y + i, OF_CANDIDATE, i < n)

def scaled(x, y, a, n):
    if n:
        kernel[(triton.cdiv(n, 1024),)](x, y, a, n, 1024)
"""
PLAIN = "a * x[i]"
BRANCHES = "a < 0.f ? -x[i] : a * x[i]"


@pytest.fixture
def judged(tmp_path, build_cache):
    """Returns what is said of a candidate that computes so, held to a source that computes so."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def judge(source, candidate):
        (tmp_path / "op.cu").write_text(SOURCE.replace("OF_SOURCE", source))
        (tmp_path / "op.py").write_text(CANDIDATE.replace("OF_CANDIDATE", candidate))
        options = MigrateOptions("triton", build_cache, seed=3)
        return verify(tmp_path / "op.py", tmp_path / "op.cu", options, lambda _: None).outcome

    return judge


def test_an_answer_to_numbers_that_it_may_not_be_meant_for_is_said(judged):
    outcome = judged(PLAIN, "tl.abs(a) * v")
    assert isinstance(outcome, Verified)
    assert "its answer differs where a difference does not count as wrong" in outcome.caveat
    assert "workload 'a = -0.5'" in outcome.caveat


def test_a_number_by_which_the_original_branches_decides(judged):
    outcome = judged(BRANCHES, "a * v")
    assert isinstance(outcome, Wrong), outcome
    assert "a = -0.5" in outcome.because


def test_a_drawn_number_decides_where_the_contract_s_own_lies(judged):
    outcome = judged(PLAIN, "tl.where((a == 0.5) | (a == 0.75), a, 0.5) * v")
    assert isinstance(outcome, Wrong), outcome


@pytest.mark.parametrize(("source", "candidate"), [(PLAIN, "a * v"), (BRANCHES, "tl.where(a < 0, -v, a * v)")])
def test_an_honest_candidate_is_right_for_all_numbers(judged, source, candidate):
    outcome = judged(source, candidate)
    assert isinstance(outcome, Verified), outcome
    assert "answer differs" not in outcome.caveat
