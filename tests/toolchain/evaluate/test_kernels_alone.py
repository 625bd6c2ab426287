"""A kernel without its launches: what porter chose for it is told, and a count that it takes apart has whole planes."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import KernelsVerified, Verified, Wrong
from porter.evaluate.verify import verify
from porter.report.migration.verdict import reason
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

DOUBLED = """
__global__ void doubled(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f * x[i];
}
"""
LAUNCHED = f"""{DOUBLED}
class Layer {{ void forward(const float* x, float* y, int n) {{ doubled<<<(n + 255) / 256, 256>>>(x, y, n); }} }};
"""
POOLED = """
__global__ void widened(int count, const float* x, int H, int W, int P, int Q, int stride, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int w = i % W, h = (i / W) % H, plane = i / W / H;
        const float* rows = x + plane * P * Q;
        y[i] = rows[min(h / stride, P - 1) * Q + min(w / stride, Q - 1)];
    }
}
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture
def outcome(tmp_path, build_cache):
    """`outcome(text, old, new)`: that of the MACA port in which `old` became `new`."""

    def run(text, old="", new=""):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(text)
        port = maca_port(text)
        assert old in port
        candidate.write_text(port.replace(old, new))
        options = MigrateOptions("maca", build_cache, seed=7)
        return verify(candidate, source, options, lambda _: None).entries[0].outcome

    return run


def test_a_port_for_the_blocks_that_porter_chose_is_told_to_be_so(outcome):
    found = outcome(DOUBLED, "blockDim.x", "256")
    assert isinstance(found, Verified)
    assert "launched with a grid of (cdiv(n, 256), 1, 1) and a block of (256, 1, 1), a guess" in reason(found)


def test_nothing_is_said_of_a_launch_that_the_source_has(outcome):
    found = outcome(LAUNCHED)
    assert isinstance(found, KernelsVerified)
    assert "a guess" not in reason(found)


def test_a_port_that_forgets_the_planes_behind_a_window_is_wrong(outcome):
    assert isinstance(outcome(POOLED), Verified)
    assert isinstance(outcome(POOLED, "x + plane * P * Q", "x"), Wrong)
