"""Candidates that are wrong only next to one of their own numbers, and honest ones beside them."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

SCALE = """
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

template <typename T>
__global__ void scaled(const T* x, T* y, int64_t n) {
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = T(2) * x[i];
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int64_t n = x.numel();
  if (n == 0) return y;
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scaled", [&] {
    scaled<scalar_t><<<(n + 63) / 64, 64>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
  });
  return y;
}
"""
CONTRACT = """
[[contract]]
name = "scaled"
reference = "kernel.cu"
symbols = ["rows", "columns"]

[contract.entry]
kind = "torch"
name = "forward"

[[contract.argument]]
tensor = "x"
role = "in"
dtype = "float32"
shape = ["rows", "columns"]

[[contract.workload]]
name = "tiny"
sizes = { rows = 5, columns = 7 }
seed = 1

[[contract.workload]]
name = "float64"
sizes = { rows = 3, columns = 11 }
seed = 2
dtypes = { x = "float64" }
"""
HONEST = """
import torch, triton, triton.language as tl

@triton.jit
def scaled(x, y, n, TILE: tl.constexpr):
    for start in range(tl.program_id(0) * TILE, n, TILE * tl.num_programs(0)):
        i = start + tl.arange(0, TILE)
        tl.store(y + i, tl.load(x + i, i < n) * 2.0, i < n)

def forward(x):
    y = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return y
    if x.dtype == torch.float64:
        scaled[(triton.cdiv(n, 1024),)](x, y, n, 1024)
    else:
        scaled[(triton.cdiv(n, 512),)](x, y, n, 512)
    return y
"""


@pytest.fixture
def judged(tmp_path, build_cache):
    """Returns what is said of a candidate that the contract compares with the CUDA source."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def judge(candidate):
        (tmp_path / "kernel.cu").write_text(SCALE)
        (tmp_path / "contract.toml").write_text(CONTRACT)
        (tmp_path / "candidate.py").write_text(candidate)
        options = MigrateOptions("triton", build_cache, contract=tmp_path / "contract.toml", seed=3, edges=True)
        return verify(tmp_path / "candidate.py", tmp_path / "kernel.cu", options, lambda _: None).outcome

    return judge


def test_a_candidate_that_is_right_next_to_all_its_numbers_is_verified(judged):
    outcome = judged(HONEST)
    assert outcome.label == "verified", outcome.because
    assert any(checked.name.startswith("telling sizes") for checked in outcome.checked)
    assert any(checked.name.startswith("float64, telling sizes") for checked in outcome.checked)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("    if n == 0:\n", "    if n <= 1:\n"),
        ("(triton.cdiv(n, 1024),)", "(max(1, n // 1024),)"),
        ("TILE, n, TILE * tl.num_programs(0)", "TILE, n - (n % 92 == 1), TILE * tl.num_programs(0)"),
        ("i < n) * 2.0", "i < n) * (2.0 if n != 511 else 3.0)"),
    ],
)
def test_one_that_is_wrong_only_there_is_seen(judged, right, wrong):
    grid = HONEST.replace("TILE * tl.num_programs(0)", "n") if "cdiv" in right else HONEST
    assert grid.count(right) == 1
    outcome = judged(grid.replace(right, wrong))
    assert outcome.label == "wrong", outcome
    assert "telling sizes" in outcome.because
