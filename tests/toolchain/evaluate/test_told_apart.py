"""Sizes that have to agree in one of two ways, so that a contract has them as one, are told apart as far as may be."""

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Crashed, Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

# `scale` lies either way round, which no single condition says: with all sizes apart host code refuses every call.
GATHERED = """
#include <torch/extension.h>
__global__ void gather(const float* x, const float* scale, int by_row, int by_block, const int* rows, float* y,
                       float* s, int T, int K, int blocks) {
    int from = rows[blockIdx.x];
    if (from < 0 || from >= T) from = 0;
    for (int i = threadIdx.x; i < K; i += blockDim.x) y[blockIdx.x * K + i] = x[from * K + i];
    for (int i = threadIdx.x; i < blocks; i += blockDim.x)
        s[blockIdx.x * blocks + i] = scale[from * by_row + i * by_block];
}
void gather_rows(torch::Tensor const& x, torch::Tensor const& scale, torch::Tensor const& rows, torch::Tensor& y,
                 torch::Tensor& s) {
    int T = x.size(0), K = x.size(1), M = rows.size(0), blocks = s.size(1);
    TORCH_CHECK(y.size(0) == M && y.size(1) == K);
    TORCH_CHECK(s.size(0) == M);
    int by_row, by_block;
    if (scale.size(0) == blocks && scale.size(1) == T) {
        by_row = scale.stride(1), by_block = scale.stride(0);
    } else if (scale.size(0) == T && scale.size(1) == blocks) {
        by_row = scale.stride(0), by_block = scale.stride(1);
    } else {
        TORCH_CHECK(false, "neither way round");
    }
    gather<<<M, 128>>>(x.data_ptr<float>(), scale.data_ptr<float>(), by_row, by_block, rows.data_ptr<int>(),
                       y.data_ptr<float>(), s.data_ptr<float>(), T, K, blocks);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("gather_rows", &gather_rows, "gather"); }
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


def test_only_sizes_that_have_to_agree_are_one(tmp_path, build_cache):
    source = tmp_path / "op.cu"
    source.write_text(GATHERED)
    (migration,) = migrate(source, MigrateOptions("maca", build_cache), lambda _: None)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified)
    x, scale, rows, y, s = (tensor.shape for tensor in entry.contract.tensors)
    assert rows != x[:1]
    assert (y, s[:1]) == (rows + x[1:], rows)
    assert s[1] != x[1]
    assert set(scale) == {x[0], s[1]}


@pytest.mark.parametrize(
    ("old", "new"), [("from >= T)", "from >= gridDim.x)"), ("s[blockIdx.x * blocks + i]", "s[blockIdx.x * K + i]")]
)
def test_a_port_that_takes_one_size_for_another_is_wrong(tmp_path, build_cache, old, new):
    source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
    source.write_text(GATHERED)
    port = maca_port(GATHERED)
    assert old in port
    candidate.write_text(port.replace(old, new))
    (entry,) = verify(candidate, source, MigrateOptions("maca", build_cache, seed=7), lambda _: None).entries
    assert isinstance(entry.outcome, Wrong | Crashed)
