"""Numbers that are no sizes get another value in a workload, or the verdict names them."""

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.migration import MigrateOptions
from porter.evaluate.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.report.verdict import reason
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

SCALED = """
__global__ void scaled(const float* x, float* y, int n, float alpha, float eps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i] * rsqrtf(x[i] * x[i] + eps);
}
void run(const float* x, float* y, int n, float alpha, float eps) {
    scaled<<<(n + 255) / 256, 256>>>(x, y, n, alpha, eps);
}
"""
STRIDED = """
__global__ void picked(const float* x, float* y, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * stride];
}
void run(const float* x, float* y, int n, int stride) { picked<<<(n + 255) / 256, 256>>>(x, y, n, stride); }
"""
GROWN = """
__global__ void grown(const int* x, int* y, int n, int factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? x[i] : 0;
    if (factor) v *= factor;
    if (i < n) y[i] = v;
}
void run(const int* x, int* y, int n, int factor) { grown<<<(n + 255) / 256, 256>>>(x, y, n, factor); }
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture
def held(tmp_path, build_cache):
    """`held(text, old, new)`: the only entry of the MACA port in which `old` became `new`."""

    def run(text, old="", new=""):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(text)
        if not old:
            (migration,) = migrate(source, MigrateOptions("maca", build_cache), lambda _: None)
            return migration.entries[0]
        port = maca_port(text)
        assert old in port
        candidate.write_text(port.replace(old, new))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None).entries[0]

    return run


def test_factors_have_two_values_each(held):
    entry = held(SCALED)
    assert isinstance(entry.outcome, Verified)
    assert entry.outcome.caveat == ""
    (workload,) = (w for w in entry.contract.workloads if w.scalars)
    assert workload.scalars == {"alpha": 0.75, "eps": 0.25}


@pytest.mark.parametrize(("old", "new"), [("alpha * x[i]", "0.5f * x[i]"), ("+ eps", "+ 1e-5f")])
def test_a_port_that_has_one_value_of_them_is_wrong(held, old, new):
    assert isinstance(held(SCALED, old, new).outcome, Wrong)


def test_a_number_that_the_original_takes_no_other_value_of_is_named(held):
    """At another stride the extent that was found is too small."""
    entry = held(STRIDED)
    assert isinstance(entry.outcome, Verified)
    assert "no drafted workload has another value than stride = 2" in reason(entry.outcome)


def test_a_factor_that_is_asked_for_first_is_not_one_alone(held):
    assert isinstance(held(GROWN).outcome, Verified)
    assert isinstance(held(GROWN, "v *= factor", "v *= 1").outcome, Wrong)
