"""Running products that under- or overflow on the way: a tree of factors does so elsewhere than a chain of them."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.report.migration.verdict import reason
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

CHAIN = """
__global__ void cumprod(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float product = 1.f;
    for (int i = 0; i < cols; ++i) {
        product *= x[row * cols + i];
        y[row * cols + i] = product;
    }
}
void run(const float* x, float* y, int rows, int cols) { cumprod<<<(rows + 63) / 64, 64>>>(x, y, rows, cols); }
"""
SIZES = {"rows": 3, "cols": 3000}
TREE = """
__global__ void cumprod(const float* x, float* y, int rows, int cols) {
    __shared__ float parts[128];
    const int row = blockIdx.x, t = threadIdx.x;
    float before = 1.f;
    for (int start = 0; start < cols; start += 128) {
        parts[t] = start + t < cols ? x[row * cols + start + t] : 1.f;
        __syncthreads();
        for (int step = 1; step < 128; step *= 2) {
            const float other = t >= step ? parts[t - step] : 1.f;
            __syncthreads();
            parts[t] *= other;
            __syncthreads();
        }
        if (start + t < cols) y[row * cols + start + t] = STORED;
        before *= parts[127];
        __syncthreads();
    }
}
void run(const float* x, float* y, int rows, int cols) { cumprod<<<rows, 128>>>(x, y, rows, cols); }
"""


@pytest.fixture
def verdict(tmp_path, build_cache):
    """`verdict(stored)`: the verdict on a tree of factors that stores this of each element."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def run(stored):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(CHAIN)
        candidate.write_text(maca_port(TREE.replace("STORED", stored)))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7, sizes=SIZES), lambda _: None)

    return run


def test_a_tree_of_factors_is_right_and_what_was_not_compared_is_said(verdict):
    outcome = verdict("before * parts[t]").outcome
    assert isinstance(outcome, Verified)
    assert "since the original under- or overflows there in its own type" in reason(outcome)


def test_one_that_has_no_number_wherever_the_product_is_small_is_wrong(verdict):
    assert isinstance(verdict("fabsf(before) < 1e-30f ? NAN : before * parts[t]").outcome, Wrong)
