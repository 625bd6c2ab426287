"""Operators as tensor programs: found by executing their ports on symbols, and compared with their sources."""

from pathlib import Path

import pytest

from porter.evaluate.lift import lift
from porter.evaluate.migration import MigrateOptions
from porter.evaluate.outcome import NotVerified, Verified
from porter.ir.tensor.printer import printed
from porter.simt.compiler import missing_compiler
from porter.source.load import read_sources

SUITE = Path(__file__).parents[3] / "op_suites" / "kernelbench"


@pytest.fixture
def lifted(build_cache):
    """Returns the only entry of a source as a tensor program, with its verdict."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def lift_one(path, contract=None):
        options = MigrateOptions("triton", build_cache, contract=contract)
        (one,) = lift(read_sources(path)[0], options, lambda _: None)
        return one

    return lift_one


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        ("activation/hardtanh", "out[i, j] = minimum(max_val, maximum(min_val, x[i, j]))"),
        ("loss/mse_loss", "sum[k < rows, k2 < columns]((predictions[k, k2] - targets[k, k2]) ** 2) / (columns * rows)"),
        (
            "loss/triplet_margin_loss",
            "maximum(0, sum[k2 < columns]((anchor[k, k2] - positive[k, k2] + eps) ** 2) ** (1/2)",
        ),
        ("reduction/max_reduce", "out[i, j] = max[k < rows](x[i, k, j])"),
        ("norm/l2_norm", "out[i, j] = x[i, j] / sum[k < columns](x[i, k] ** 2) ** (1/2)"),
        ("reduction/cumsum_reverse", "out[i, j] = sum[j <= k < columns](x[i, k])"),
        ("reduction/argmin", "out[i, j] = argmin[k < rows](x[i, k, j]; k)"),
        ("reduction/max_pool1d", "max[k = stride * l - padding + dilation * t, t < kernel_size, 0 <= k < length]"),
    ],
)
def test_an_operator_is_lifted_and_equal_to_its_source(lifted, operator, line):
    one = lifted(SUITE / operator / "kernel.cu", SUITE / operator / "contract.toml")
    assert isinstance(one.outcome, Verified), one.outcome
    assert line in printed(*one.programs)


CUT_OFF = """
#include <torch/extension.h>

__global__ void norm(const float* x, float* y, int n) {
  __shared__ float total;
  const float* row = x + blockIdx.x * n;
  if (threadIdx.x == 0) {
    float sum = 0.f;
    for (int i = 0; i < (n < 100 ? n : 100); ++i) sum += row[i] * row[i];
    total = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = row[i] * rsqrtf(total);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  norm<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""


def test_a_source_that_leaves_out_elements_beyond_the_probes_is_found_to_differ(lifted, tmp_path):
    (tmp_path / "norm.cu").write_text(CUT_OFF)
    one = lifted(tmp_path / "norm.cu")
    assert "** (1/2)" in printed(*one.programs)
    assert one.outcome.label == "wrong", one.outcome


DATA_DECIDES = CUT_OFF.replace(
    "for (int i = 0; i < (n < 100 ? n : 100); ++i) sum += row[i] * row[i];",
    "int i = 0; while (i < n && sum < 10.f) { sum += row[i] * row[i]; ++i; }",
)


def test_control_that_data_decide_is_refused_with_its_reason(lifted, tmp_path):
    (tmp_path / "norm.cu").write_text(DATA_DECIDES)
    one = lifted(tmp_path / "norm.cu")
    assert one.programs == ()
    assert isinstance(one.outcome, NotVerified)
    assert "a value of the data decides what is executed" in one.outcome.because


SCALE_ROWS = """
__global__ void {name}(const float* x, float* y, int rows, int n) {{
{body}
}}
"""
GRID_STRIDE = SCALE_ROWS.format(
    name="means",
    body="""
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float sum = 0.f;
    for (int i = 0; i < n; ++i) sum += x[r * n + i];
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[r * n + i] = x[r * n + i] - sum / n;
  }""",
)


def test_a_flat_array_is_shown_as_a_matrix_and_the_verdict_is_that_of_a_kernel(lifted, tmp_path):
    (tmp_path / "means.cu").write_text(GRID_STRIDE)
    one = lifted(tmp_path / "means.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert "y[i, j] = x[i, j] - sum[k < n](x[i, k]) / n" in printed(*one.programs)


VECTORS = """
#include <torch/extension.h>

__global__ void twice(const float4* x, float4* y, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 v = x[i];
  y[i] = make_float4(v.x * 2.f, v.y * 2.f, v.z * 2.f, v.w * 2.f);
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.numel() % 4 == 0, "vectors of four");
  auto y = torch::empty_like(x);
  int n4 = x.numel() / 4;
  twice<<<(n4 + 127) / 128, 128>>>((float4*)x.data_ptr<float>(), (float4*)y.data_ptr<float>(), n4);
  return y;
}
"""


def test_sizes_that_a_source_does_not_take_are_no_probes(lifted, tmp_path):
    (tmp_path / "twice.cu").write_text(VECTORS)
    one = lifted(tmp_path / "twice.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert "= 2 * x[" in printed(*one.programs)


CHOICE = """
#include <torch/extension.h>

__global__ void kernel(const float* x, float* y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = mode == 1 ? x[i] * x[i] : x[i];
}

torch::Tensor forward(torch::Tensor x, int mode) {
  TORCH_CHECK(mode == 0 || mode == 1, "mode");
  auto y = torch::empty_like(x);
  kernel<<<(x.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), mode);
  return y;
}
"""


def test_each_choice_has_a_program(lifted, tmp_path):
    (tmp_path / "choice.cu").write_text(CHOICE)
    one = lifted(tmp_path / "choice.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert sorted(program.assumptions for program in one.programs) == [("mode is 0",), ("mode is 1",)]
