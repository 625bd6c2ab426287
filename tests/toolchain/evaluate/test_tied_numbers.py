"""Among equal numbers which is the largest is open; whether a candidate leaves its memory is not."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Crashed, Verified
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

HISTOGRAM = """
#include <torch/extension.h>
__global__ void counted(const float* x, int* counts, int n, int bins, float lo, float hi) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || x[i] < lo || x[i] > hi) return;
    int bin = (int)((x[i] - lo) / (hi - lo) * bins);
    if (bin == bins) bin--;
    atomicAdd(&counts[bin], 1);
}
torch::Tensor histogram(torch::Tensor x, int64_t bins, double lo, double hi) {
    auto counts = torch::zeros({bins}, x.options().dtype(torch::kInt));
    counted<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), counts.data_ptr<int>(), x.numel(), bins, lo, hi);
    return counts;
}
"""


@pytest.fixture
def outcome(tmp_path, build_cache):
    """`outcome(old, new)`: that of the MACA port of a histogram in which `old` became `new`."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def run(old, new):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(HISTOGRAM)
        port = maca_port(HISTOGRAM)
        assert old in port
        candidate.write_text(port.replace(old, new))
        return verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None).outcome

    return run


def test_a_candidate_that_leaves_its_memory_at_equal_numbers_alone_is_none(outcome):
    found = outcome("if (bin == bins) bin--;", "")
    assert isinstance(found, Crashed), found
    assert "out of bounds" in found.because


def test_one_that_keeps_within_it_otherwise_is_verified(outcome):
    found = outcome("if (bin == bins) bin--;", "bin = min(bin, bins - 1);")
    assert isinstance(found, Verified), found
