"""The last elements of an axis and zeros with a sign: maxima that lose them, and honest ones beside them."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.verify import verify
from porter.report.migration.verdict import reason
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

LARGEST = """
__device__ int key_of(float v) { int bits = __float_as_int(v); return bits >= 0 ? bits : bits ^ 0x7fffffff; }
__device__ float value_of(int key) { return __int_as_float(key >= 0 ? key : key ^ 0x7fffffff); }
__global__ void largest(const float* x, float* y, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    int best = (-2147483647 - 1);
    int end = rows;
    for (int row = 0; row < end; ++row) best = max(best, key_of(x[row * cols + col]));
    y[col] = value_of(best);
}
void run(const float* x, float* y, int rows, int cols) { largest<<<(cols + 63) / 64, 64>>>(x, y, rows, cols); }
"""


@pytest.fixture
def judged(tmp_path, build_cache):
    """`judged(right, wrong)`: the verdict on the MACA port in which `right` is `wrong`."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def run(right, wrong):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(LARGEST)
        text = maca_port(LARGEST)
        assert text.count(right) == 1
        candidate.write_text(text.replace(right, wrong))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7, edges=True), lambda _: None)

    return run


def test_a_maximum_of_all_but_the_last_of_many_rows_is_wrong(judged):
    outcome = judged("end = rows;", "end = rows > 64 ? rows / 32 * 32 : rows;").outcome
    assert outcome.label == "wrong", outcome


def test_a_key_that_loses_zeros_with_a_sign_is_wrong(judged):
    verdict = judged("key >= 0 ?", "key >= -1 ?")
    assert verdict.outcome.label == "wrong"
    assert any(workload in reason(verdict.outcome) for workload in ("negative zeros", "round numbers"))


def test_one_that_keeps_their_value_is_right(judged):
    assert judged("key >= 0 ?", "key == -1 ? 0 : key >= 0 ?").outcome.label == "verified"
