"""Ports that are right for one group, or for as many heads of keys as of queries, and for no others."""

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Crashed, Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler
from tests.toolchain.evaluate.maca_ports import maca_port

SHUFFLE = """
#include <torch/extension.h>
__global__ void shuffle(const float* x, float* y, int channels, int spatial, int groups, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int s = i % spatial, c = i / spatial % channels, n = i / spatial / channels;
  int source = c % groups * (channels / groups) + c / groups;
  y[i] = x[(n * channels + source) * spatial + s];
}
torch::Tensor forward(torch::Tensor x, int groups) {
  TORCH_CHECK(x.size(1) % groups == 0, "groups");
  auto y = torch::empty_like(x);
  shuffle<<<(x.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2), groups,
                                            x.numel());
  return y;
}
"""
SCORES = """
__global__ void scores_kernel(const float* q, const float* k, float* s, int steps, int heads, int kv_heads, int width) {
  int h = blockIdx.y, t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= steps) return;
  int shared_by = heads / kv_heads;
  int own = h / shared_by;
  float sum = 0.f;
  for (int i = 0; i < width; i++) sum += q[h * width + i] * k[(t * kv_heads + own) * width + i];
  s[h * steps + t] = sum;
}
void scores(const float* q, const float* k, float* s, int steps, int heads, int kv_heads, int width) {
  scores_kernel<<<dim3((steps + 127) / 128, heads), 128>>>(q, k, s, steps, heads, kv_heads, width);
}
"""
REORG = """
__global__ void reorg_kernel(const float* x, float* y, int w, int h, int c, int batch, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h * c * batch) return;
  int in_w = i % w, in_h = i / w % h, in_c = i / (w * h) % c, b = i / (w * h * c);
  int out_c = c / (stride * stride);
  int c2 = in_c % out_c, offset = in_c / out_c;
  int w2 = in_w * stride + offset % stride, h2 = in_h * stride + offset / stride;
  y[w2 + w * stride * (h2 + h * stride * (c2 + out_c * b))] = x[i];
}
void reorg(const float* x, float* y, int w, int h, int c, int batch, int stride) {
  reorg_kernel<<<(w * h * c * batch + 255) / 256, 256>>>(x, y, w, h, c, batch, stride);
}
"""


@pytest.fixture
def outcome(tmp_path, build_cache):
    """`outcome(text, old, new)`: that of the MACA port in which `old` became `new`."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def run(text, old="", new=""):
        source, candidate = tmp_path / "op.cu", tmp_path / "candidate.maca.cu"
        source.write_text(text)
        port = maca_port(text)
        assert old in port
        candidate.write_text(port.replace(old, new))
        options = MigrateOptions("maca", build_cache, seed=7)
        return verify(candidate, source, options, lambda _: None).entries[0].outcome

    return run


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SHUFFLE, "= c % groups * (channels / groups) + c / groups", "= c"),
        (SHUFFLE, "+ c / groups", "+ c % (channels / groups)"),
        (SCORES, "int own = h / shared_by", "int own = h % kv_heads"),
        (REORG, "stride * stride", "stride + stride"),
    ],
)
def test_what_is_right_for_one_group_alone_is_wrong(outcome, text, old, new):
    found = outcome(text, old, new)
    assert isinstance(found, Wrong | Crashed), found


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (SHUFFLE, "= c % groups * (channels / groups)", "= (c - c / groups * groups) * (channels / groups)"),
        (SCORES, "int own = h / shared_by", "int own = (h - h % shared_by) / shared_by"),
        (REORG, "int out_c = c / (stride * stride)", "int out_c = c / stride / stride"),
    ],
)  # fmt: skip
def test_what_is_right_for_all_is_verified(outcome, text, old, new):
    found = outcome(text, old, new)
    assert isinstance(found, Verified), found
    assert "no drafted workload has another" not in found.caveat


def test_threads_that_only_meet_where_shares_are_uneven_are_no_fault_of_the_source(tmp_path, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(REORG)
    options = MigrateOptions("maca", build_cache)
    (migration,) = migrate(tmp_path / "op.cu", options, lambda _: None)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified), entry.outcome
    assert "only with c % (stride * stride) == 0" in entry.outcome.caveat
