"""Inputs that are views: ports that take them for dense are wrong where their originals do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Layout
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Fidelity, NotBuilt, Verified, Wrong
from porter.evaluate.problem.bench import bench
from porter.evaluate.verify import verify
from porter.execution.job import BuildFailure
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

TEXT = """
#include <torch/extension.h>
__global__ void scaled(const float* x, float* y, int rows, int cols, int row_stride, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = 2.0f * x[i / cols * row_stride + i % cols * step];
}
torch::Tensor forward(torch::Tensor x, torch::Tensor factors) {
  TORCH_CHECK(x.dim() == 2 && x.size(0) > 0 && x.size(1) > 0);
  TORCH_CHECK(factors.dim() == 1 && factors.is_contiguous());
  TAKEN
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  const int rows = x.size(0), cols = x.size(1);
  scaled<<<(rows * cols + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, cols, STRIDES);
  return y.mul_(factors.numel());
}
"""
DENSE = {"TAKEN": "", "STRIDES": "cols, 1"}
MADE_DENSE = {"TAKEN": "x = x.contiguous();", "STRIDES": "cols, 1"}
FOLLOWED = {"TAKEN": "", "STRIDES": "x.stride(0), x.stride(1)"}
ROWS = {"TAKEN": "TORCH_CHECK(x.stride(1) == 1);", "STRIDES": "x.stride(0), 1"}
REFUSED = {"TAKEN": "TORCH_CHECK(x.is_contiguous());", "STRIDES": "cols, 1"}


def text(spelling):
    if isinstance(spelling, str):
        return spelling
    return TEXT.replace("TAKEN", spelling["TAKEN"]).replace("STRIDES", spelling["STRIDES"])


class Port:
    """A port in CUDA, executed as its original is."""

    def __init__(self, side, place, fidelity):
        self.side, self.place, self.fidelity = side, place, fidelity

    def candidates(self, contracts):
        built = self.place.begin(self.side.request(contracts, 32)).result()
        return tuple(
            NotBuilt(b.message, b.log) if isinstance(b, BuildFailure) else (Candidate(32, self.place.execute(b)),)
            for b in built
        )


@pytest.fixture
def proven(build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())

    def prove(original, port, fidelity=Fidelity.EMULATED):
        program = parse(Source(Path("scale.cu"), text(original)))
        side = original_unit(program, (), ())
        ported = original_unit(parse(Source(Path("port.cu"), text(port))), (), ())
        with bench(build_cache, time_limit_s=20.0) as place:
            (proof,) = Prover(side, Port(ported, place, fidelity), {}, place).prove(draft(program), lambda _: None)
        return proof.entry

    return prove


@pytest.mark.parametrize(
    ("original", "layout"),
    [(MADE_DENSE, Layout.STEPS), (FOLLOWED, Layout.STEPS), (ROWS, Layout.ROWS_APART)],
    ids=["made dense", "strides followed", "of rows alone"],
)
def test_a_port_has_to_take_the_views_that_its_original_takes(proven, original, layout):
    entry = proven(original, original)
    assert isinstance(entry.outcome, Verified), entry.outcome
    (asked,) = (w for w in entry.contract.workloads if w.layouts)
    assert asked.layouts == {"x": layout}  # of `factors` no view is taken
    assert asked.name in {checked.name for checked in entry.outcome.checked}
    wrong = proven(original, DENSE).outcome
    assert isinstance(wrong, Wrong), wrong
    assert "inputs that are not dense" in wrong.because


def test_a_device_is_given_dense_inputs_and_the_verdict_says_so(proven):
    outcome = proven(MADE_DENSE, DENSE, Fidelity.NATIVE).outcome
    assert isinstance(outcome, Verified)
    assert "only dense inputs were tried" in outcome.caveat


@pytest.mark.parametrize("original", [REFUSED, DENSE], ids=["refused", "taken for dense"])
def test_what_an_original_does_not_take_is_not_asked(proven, original):
    entry = proven(original, DENSE)
    assert isinstance(entry.outcome, Verified)
    assert not any(w.layouts for w in entry.contract.workloads)
    assert "not dense" not in entry.outcome.caveat


IN_FOURS = """
#include <torch/extension.h>
__global__ void in_fours(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = make_float4(2 * x[i].x, 2 * x[i].y, 2 * x[i].z, 2 * x[i].w);
}
__global__ void one_by_one(const float* x, float* y, int from, int n) {
  int i = from + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int n = x.numel();
  int done = 0;
  if (reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0) {
    done = n / 4 * 4;
    const float4* fours = reinterpret_cast<const float4*>(x.data_ptr<float>());
    if (n > 3) in_fours<<<(n / 4 + 63) / 64, 64>>>(fours, (float4*)y.data_ptr<float>(), n / 4);
  }
  if (n > done) one_by_one<<<(n - done + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), done, n);
  return y;
}
"""


@pytest.mark.parametrize(
    ("changed", "label"),
    [("", "verified"), ("reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0", "crashed")],
)
def test_addresses_that_an_original_tells_apart_are_given(proven, changed, label):
    outcome = proven(IN_FOURS, IN_FOURS.replace(changed, "n > 0") if changed else IN_FOURS).outcome
    assert outcome.label == label, outcome
    if label == "verified":
        assert "inputs at odd addresses" in {checked.name for checked in outcome.checked}
    else:
        assert "inputs at odd addresses" in outcome.because


TRITON = """
import torch, triton, triton.language as tl

@triton.jit
def scaled(x, y, n, factor, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(y + i, tl.load(x + i, i < n) * 2.0 * factor, i < n)

def forward(x, factors):
    x = x.contiguous()
    y = torch.empty_like(x)
    scaled[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), factors.numel(), 1024)
    return y
"""


@pytest.mark.parametrize(("removed", "label"), [("", "verified"), ("    x = x.contiguous()\n", "wrong")])
def test_a_triton_launcher_is_given_views(tmp_path, build_cache, removed, label):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "kernel.cu").write_text(text(MADE_DENSE))
    (tmp_path / "candidate.py").write_text(TRITON.replace(removed, "") if removed else TRITON)
    options = MigrateOptions("triton", build_cache, seed=3)
    verdict = verify(tmp_path / "candidate.py", tmp_path / "kernel.cu", options, lambda _: None)
    assert verdict.outcome.label == label, verdict.outcome
    if label == "wrong":
        assert "inputs that are not dense" in verdict.outcome.because
