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
def lifted(pytestconfig):
    """Returns the only entry of a source as a tensor program, with its verdict."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def lift_one(path, contract=None):
        options = MigrateOptions("triton", pytestconfig.cache.mkdir("simt"), contract=contract)
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
    assert line in printed(one.program)


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
    assert "** (1/2)" in printed(one.program)
    assert one.outcome.label == "wrong", one.outcome


DATA_DECIDES = CUT_OFF.replace(
    "for (int i = 0; i < (n < 100 ? n : 100); ++i) sum += row[i] * row[i];",
    "int i = 0; while (i < n && sum < 10.f) { sum += row[i] * row[i]; ++i; }",
)


def test_control_that_data_decide_is_refused_with_its_reason(lifted, tmp_path):
    (tmp_path / "norm.cu").write_text(DATA_DECIDES)
    one = lifted(tmp_path / "norm.cu")
    assert one.program is None
    assert isinstance(one.outcome, NotVerified)
    assert "a value of the data decides what is executed" in one.outcome.because
