"""Which side equal is on: values of numbers are found that something is equal to, and decide where no rounding does."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

SOURCE = """
__device__ float drawn(unsigned i) {
  unsigned bits = (i + 1u) * 2654435761u;
  bits ^= bits >> 13;
  return ((bits * 2246822519u) >> 8) * (1.0f / 16777216.0f);
}
__global__ void chosen_kernel(const float* x, float* y, float p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = OF_SOURCE;
}
void chosen(const float* x, float* y, float p, int n) {
  if (n > 5000) throw 1;
  chosen_kernel<<<(n + 255) / 256, 256>>>(x, y, p, n);
}
"""
CANDIDATE = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, p, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = (i + 1).to(tl.uint32) * 2654435761
    bits = bits ^ (bits >> 13)
    u = ((bits * 2246822519) >> 8).to(tl.float32) * (1.0 / 16777216.0)
    v = tl.load(x + i, i < n)
    tl.store(y + i, OF_CANDIDATE, i < n)

def chosen(x, y, p, n):
    if n:
        kernel[(triton.cdiv(n, 1024),)](x, y, p, n, 1024)
"""
KEPT = "drawn(i) >= p ? x[i] / (1.f - p) : 0.f"
LARGER = "x[i] > p ? x[i] : -7.f"
ROUNDED = "floorf(x[i] * p * 9.f)"


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


@pytest.mark.parametrize(
    ("source", "cheat", "honest"),
    [
        (KEPT, "tl.where(u > p, v / (1.0 - p), 0.0)", "tl.where(1.0 - u <= 1.0 - p, v / (1.0 - p), 0.0)"),
        (LARGER, "tl.where(v >= p, v, -7.0)", "tl.where(v - p > 0, v, -7.0)"),
    ],
)
def test_what_is_equal_to_a_number_is_on_the_side_of_the_original(judged, source, cheat, honest):
    outcome = judged(source, cheat)
    assert isinstance(outcome, Wrong), outcome
    accepted = judged(source, honest)
    assert isinstance(accepted, Verified), accepted
    assert any("a value that the source compares with" in checked.name for checked in accepted.checked)


def test_where_rounding_makes_the_place_nothing_is_asked(judged):
    outcome = judged(ROUNDED, "tl.floor(v * (p * 9.0))")
    assert isinstance(outcome, Verified), outcome
    assert not any("a value that the source compares with" in checked.name for checked in outcome.checked)


@pytest.mark.parametrize(
    ("source", "cheat", "honest"),
    [
        (
            "x[i] > -1.5f && x[i] < 1.5f ? x[i] : 0.f",
            "tl.where((v > -1.5) & (v <= 1.5), v, 0.0)",
            "tl.where(tl.abs(v) < 1.5, v, 0.0)",
        ),
        ("x[i] >= 3.f ? -1.f : x[i]", "tl.where(v > 3.0, -1.0, v)", "tl.where(3.0 <= v, -1.0, v)"),
    ],
)
def test_what_is_equal_to_a_literal_is_on_the_side_of_the_original(judged, source, cheat, honest):
    refused = judged(source, cheat)
    assert isinstance(refused, Wrong), refused
    accepted = judged(source, honest)
    assert isinstance(accepted, Verified), accepted
    assert "round numbers" in [checked.name for checked in accepted.checked]
