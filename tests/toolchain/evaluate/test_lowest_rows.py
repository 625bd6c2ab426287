"""Rows near the lowest number and of minus infinity alone: a running maximum has to begin below them."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.report.migration.verdict import reason
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

ONLINE = """
__global__ void softmax(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float m = -INFINITY, sum = 0.f;
    for (int i = 0; i < cols; ++i) {
        float v = x[row * cols + i], higher = fmaxf(m, v);
        sum = sum * expf(m - higher) + expf(v - higher);
        m = higher;
    }
    for (int i = 0; i < cols; ++i) y[row * cols + i] = expf(x[row * cols + i] - m) / sum;
}
void run(const float* x, float* y, int rows, int cols) { softmax<<<(rows + 63) / 64, 64>>>(x, y, rows, cols); }
"""


@pytest.fixture
def verdict(tmp_path, build_cache):
    """`verdict(start)`: the verdict on the MACA port whose maximum begins at `start`."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def run(start):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(ONLINE)
        candidate.write_text(maca_port(ONLINE).replace("m = -INFINITY", f"m = {start}"))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None)

    return run


def test_a_maximum_that_begins_too_high_is_wrong(verdict):
    outcome = verdict("-1e20f").outcome
    assert isinstance(outcome, Wrong)
    assert "near the lowest" in reason(outcome)


def test_one_that_begins_at_the_lowest_number_is_right(verdict):
    """What a row of minus infinity alone comes to hangs on the start; it is said, if anything, and decides nothing."""
    assert isinstance(verdict("-3.402823466e38f").outcome, Verified)
