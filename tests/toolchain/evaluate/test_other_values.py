"""Numbers that are no sizes get another value in a workload, or the verdict names them."""

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.report.migration.verdict import reason
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
WINDOWED = """
__global__ void ends(const float* x, float* y, int n, int kernel_size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i + kernel_size - 1];
}
void run(const float* x, float* y, int n, int kernel_size) {
    ends<<<(n + 255) / 256, 256>>>(x, y, n, kernel_size);
}
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
    """With another window the extent that was found is too small."""
    entry = held(WINDOWED)
    assert isinstance(entry.outcome, Verified)
    assert "no drafted workload has another value than kernel_size = 3" in reason(entry.outcome)


def test_a_factor_that_is_asked_for_first_is_not_one_alone(held):
    assert isinstance(held(GROWN).outcome, Verified)
    assert isinstance(held(GROWN, "v *= factor", "v *= 1").outcome, Wrong)


FLAGGED = """
__global__ void mean(const float* x, float* y, int n, int divisor, bool padded) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] / (divisor > 0 ? divisor : (padded ? 4 : 3));
}
void run(const float* x, float* y, int n, int divisor, bool padded) {
    mean<<<(n + 255) / 256, 256>>>(x, y, n, divisor, padded);
}
"""


def test_a_flag_that_is_asked_for_on_one_side_of_a_branch_alone_has_both_values_there(held):
    entry = held(FLAGGED)
    assert isinstance(entry.outcome, Verified)
    assert "padded" not in entry.outcome.caveat
    assert isinstance(held(FLAGGED, "(padded ? 4 : 3)", "(padded ? 4 : 4)").outcome, Wrong)
    assert isinstance(held(FLAGGED, "(padded ? 4 : 3)", "(!padded ? 3 : 4)").outcome, Verified)


BOXES = """
#include <torch/extension.h>
__global__ void boxes(const float* x, float* y, int rows, int columns, int kernel_h, int kernel_w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * columns) return;
    int row = i / columns, column = i % columns;
    float sum = 0.f;
    for (int a = row; a < min(row + kernel_h, rows); a++)
        for (int b = column; b < min(column + kernel_w, columns); b++) sum += x[a * columns + b];
    y[i] = sum;
}
torch::Tensor run(torch::Tensor x, int kernel_h, int kernel_w) {
    auto y = torch::empty_like(x);
    boxes<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1), kernel_h,
                                            kernel_w);
    return y;
}
"""


def test_numbers_that_were_equal_differ(held):
    (workload,) = (w for w in held(BOXES).contract.workloads if w.scalars)
    assert workload.scalars == {"kernel_h": 4, "kernel_w": 5}
    assert isinstance(held(BOXES, "row + kernel_h", "row + kernel_w").outcome, Wrong)
    assert isinstance(held(BOXES, "row + kernel_h", "kernel_h + row").outcome, Verified)


DEFAULTED = """
#include <torch/extension.h>
__global__ void parted(const float* x, float* y, int rows, int columns, int parts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) y[i] = x[i / columns * columns + i % columns / parts * parts];
}
torch::Tensor run(torch::Tensor x, int parts = 1) {
    TORCH_CHECK(x.dim() == 2 && x.size(1) % parts == 0, "parts");
    auto y = torch::empty_like(x);
    parted<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1), parts);
    return y;
}
"""


def test_a_number_that_only_some_sizes_suit_has_another_value_at_such(held):
    entry = held(DEFAULTED)
    assert isinstance(entry.outcome, Verified)
    assert "parts" not in entry.outcome.caveat
    assert [w.scalars for w in entry.contract.workloads if w.scalars] == [{"parts": 2}]
    assert isinstance(held(DEFAULTED, "i % columns / parts * parts", "i % columns").outcome, Wrong)
    assert isinstance(
        held(DEFAULTED, "i % columns / parts * parts", "i % columns - i % columns % parts").outcome, Verified
    )
