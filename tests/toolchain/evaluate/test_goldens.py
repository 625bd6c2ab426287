"""Recordings of CUDA sources: what the original's own code does its candidate may do by them, too, and no more."""

from dataclasses import replace

import pytest

from porter.contract.model.dtype import DType
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Refused, Verified, Wrong
from porter.evaluate.record import record
from porter.evaluate.verify import verify
from porter.oracle.golden import read_golden, write_golden
from porter.simt.compiler import missing_compiler

MEAN_OF_SQUARES = """
#include <torch/extension.h>

__global__ void squares(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.numel() <= 5000);
  auto y = torch::empty_like(x);
  int n = x.numel();
  squares<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y.sum() / n;
}
"""
LENGTH = """
#include <cuda_runtime.h>
#include <cmath>

__global__ void total(const float* x, float* t, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * x[i];
  *t = sum;
}

float length(const float* x, int n) {
  if (n > 300) throw 1;
  float *t, sum;
  cudaMalloc(&t, sizeof(float));
  total<<<1, 1>>>(x, t, n);
  cudaMemcpy(&sum, t, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(t);
  return sqrtf(sum);
}
"""
TRITON = """
import torch, triton, triton.language as tl

@triton.jit
def squares(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v * v, mask=at < n)

def forward(x):
    y = torch.empty_like(x)
    squares[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), B=1024)
    return y.sum() / x.numel()
"""
NUMBER = """
import torch, triton, triton.language as tl

@triton.jit
def total(x, t, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(t, tl.sum(v * v, 0))

def length(x, n):
    t = torch.empty(1, device=x.device)
    total[(1,)](x, t, n, B=triton.next_power_of_2(max(1, n)))
    return t.item() ** 0.5
"""
MACA = MEAN_OF_SQUARES
SOURCES = {"mean.cu": MEAN_OF_SQUARES, "length.cu": LENGTH}


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture(scope="module")
def golden(build_cache, tmp_path_factory):
    """The recording of one of `SOURCES`, made once."""
    folder = tmp_path_factory.mktemp("goldens")
    options = MigrateOptions("triton", build_cache, seed=5)

    def made(name):
        path = folder / f"{name}.golden"
        if not path.exists():
            (folder / name).write_text(SOURCES[name])
            write_golden(path, record(folder / name, options, lambda _: None))
            (folder / name).unlink()  # what is held to the recording has nothing else
        return path

    made.options = options
    return made


CANDIDATES = {
    "the original's epilogue": ("mean.cu", "triton", TRITON, Verified),
    "the work is the library's": (
        "mean.cu", "triton", TRITON.replace("y.sum() / x.numel()", "(x * x).sum() / x.numel()"), Refused,
    ),
    "an epilogue that the original has not": (
        "mean.cu", "triton", TRITON.replace("y.sum() / x.numel()", "y.norm(1) / x.numel()"), Refused,
    ),
    "the original's epilogue, of the inputs": (
        "mean.cu", "triton", TRITON.replace("v * v, mask", "v, mask").replace("y.sum() /", "x.sum() /"), Wrong,
    ),
    "a number is returned": ("length.cu", "triton", NUMBER, Verified),
    "C++ with the original's epilogue": ("mean.cu", "maca", MACA, Verified),
    "C++ whose work is the library's": (
        "mean.cu", "maca", MACA.replace("y.sum() / n", "x.square().sum() / n"), Refused,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "target", "text", "outcome"), CANDIDATES.values(), ids=CANDIDATES)
def test_candidates_are_held_to_a_recording_as_to_its_source(golden, tmp_path, name, target, text, outcome):
    source = tmp_path / ("op.py" if target == "triton" else "op.maca.cu")
    source.write_text(text if target == "triton" else text.replace("cuda_runtime.h", "mcr/mc_runtime.h"))
    (tmp_path / name).write_text(SOURCES[name])
    options = replace(golden.options, target=target)
    recorded = verify(source, golden(name), options, lambda _: None)
    assert isinstance(recorded.outcome, outcome), recorded.outcome
    itself = verify(source, tmp_path / name, options, lambda _: None)
    assert type(itself.outcome) is type(recorded.outcome), itself.outcome


def test_what_the_original_does_itself_is_in_the_recording(golden):
    held = read_golden(golden("mean.cu"))
    assert {"sum", "div"} <= held.own.operators
    assert "softmax" not in held.own.operators
    assert (held.own.functions, held.own.kernels) == (frozenset({"forward"}), frozenset({"squares"}))
    assert read_golden(golden("length.cu")).own.numbers == {"length": DType.FLOAT32}


TOTAL = """
#include <torch/extension.h>

__global__ void parts(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
  y[threadIdx.x] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.numel() <= 5000);
  auto y = torch::empty({4}, x.options());
  parts<<<1, 4>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y.sum();
}
"""
PARTS = """
import torch, triton, triton.language as tl

@triton.jit
def parts(x, y, n, B: tl.constexpr):
    sum = tl.zeros((B,), tl.float32)
    for start in range(tl.program_id(0) * B, n, 4 * B):
        at = start + tl.arange(0, B)
        sum += tl.load(x + at, mask=at < n, other=0.0)
    tl.store(y + tl.program_id(0), tl.sum(sum, 0))

def forward(x):
    y = torch.empty(4, device=x.device)
    parts[(4,)](x, y, x.numel(), B=256)
    return y.sum()
"""
EPILOGUES = {
    "of the parts": ("y.sum()", Verified),
    "of both, the parts for show": ("x.sum() + 0 * y.sum()", Refused),
    "of the inputs, copied before": ("x.clone().sum()", Refused),
}


@pytest.mark.parametrize("target", ["triton", "maca"])
@pytest.mark.parametrize(("said", "outcome"), EPILOGUES.values(), ids=EPILOGUES)
def test_the_original_s_operators_are_free_only_where_a_kernel_came_before(golden, tmp_path, target, said, outcome):
    text = PARTS if target == "triton" else TOTAL
    source = tmp_path / ("op.py" if target == "triton" else "op.maca.cu")
    source.write_text(text.replace("return y.sum()", f"return {said}"))
    (tmp_path / "total.cu").write_text(TOTAL)
    found = verify(source, tmp_path / "total.cu", replace(golden.options, target=target), lambda _: None)
    assert isinstance(found.outcome, outcome), found.outcome
