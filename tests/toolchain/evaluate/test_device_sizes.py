"""Candidates that do something else at sizes for a device: it is executed at the smallest sizes that have it."""

import pytest

from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified, Wrong
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

SCALE = """
#include <torch/extension.h>

__global__ void scaled(const int* x, int* y, int64_t n) {
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int64_t n = x.numel();
  if (n > 0) scaled<<<(n + 255) / 256, 256>>>(x.data_ptr<int>(), y.data_ptr<int>(), n);
  return y;
}
"""
CONTRACT = """
[[contract]]
name = "scaled"
reference = "kernel.cu"
symbols = ["rows", "columns"]

[contract.entry]
kind = "torch"
name = "forward"

[[contract.argument]]
tensor = "x"
role = "in"
dtype = "int32"
shape = ["rows", "columns"]

[[contract.workload]]
name = "tiny"
sizes = { rows = 5, columns = 7 }
seed = 1
"""
TRITON = """
import torch, triton, triton.language as tl

@triton.jit
def scaled(x, y, n, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)

@triton.jit
def scaled_in_turns(x, y, n, TILE: tl.constexpr):
    for start in range(tl.program_id(0) * TILE, STOP, TILE * tl.num_programs(0)):
        i = start + tl.arange(0, TILE)
        tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)

def forward(x):
    y = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return y
    blocks = triton.cdiv(n, 1024)
    if blocks > 100:
        scaled_in_turns[(100,)](x, y, n, 1024)
    else:
        scaled[(blocks,)](x, y, n, 1024)
    return y
"""
MACA = """
#include <torch/extension.h>

__global__ void scaled(const int* x, int* y, int64_t n) {
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void scaled_in_turns(const int* x, int* y, int64_t n) {
  const int64_t step = gridDim.x * static_cast<int64_t>(blockDim.x);
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < STOP; i += step) y[i] = 2 * x[i];
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int64_t n = x.numel(), blocks = (n + 255) / 256;
  if (blocks > 400) scaled_in_turns<<<400, 256>>>(x.data_ptr<int>(), y.data_ptr<int>(), n);
  else if (n > 0) scaled<<<blocks, 256>>>(x.data_ptr<int>(), y.data_ptr<int>(), n);
  return y;
}
"""
FULL_TURNS = {"triton": "n // (TILE * tl.num_programs(0)) * TILE * tl.num_programs(0)", "maca": "n / step * step"}


@pytest.fixture
def judged(tmp_path, build_cache):
    """Returns what is said of a candidate that the contract compares with the CUDA source."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def judge(target, text):
        (tmp_path / "kernel.cu").write_text(SCALE)
        (tmp_path / "contract.toml").write_text(CONTRACT)
        candidate = tmp_path / ("candidate.py" if target == "triton" else "candidate.cu")
        candidate.write_text(text)
        options = MigrateOptions(target, build_cache, contract=tmp_path / "contract.toml", seed=3, edges=True)
        return verify(candidate, tmp_path / "kernel.cu", options, lambda _: None).outcome

    return judge


@pytest.mark.parametrize(("target", "text"), [("triton", TRITON), ("maca", MACA)])
def test_a_kernel_of_large_sizes_alone_is_executed(judged, target, text):
    outcome = judged(target, text.replace("STOP", "n"))
    assert isinstance(outcome, Verified)
    assert "as at sizes for a device 1" in [checked.name for checked in outcome.checked]
    assert not outcome.caveat, outcome.caveat


@pytest.mark.parametrize(("target", "text"), [("triton", TRITON), ("maca", MACA)])
def test_a_kernel_of_large_sizes_alone_that_leaves_out_the_last_turn_is_wrong(judged, target, text):
    outcome = judged(target, text.replace("STOP", FULL_TURNS[target]))
    assert isinstance(outcome, Wrong), outcome
    assert "as at sizes for a device" in outcome.because


def test_what_takes_too_long_to_execute_is_named(judged):
    outcome = judged("triton", TRITON.replace("STOP", "n").replace("blocks > 100", "blocks > 12000"))
    assert isinstance(outcome, Verified)
    assert "at sizes for a device it launches scaled_in_turns, which no workload did" in outcome.caveat


CAPPED = TRITON.replace("    if blocks > 100:", "    if blocks < 0:").replace(
    "scaled[(blocks,)]", "scaled[(min(blocks, CAP),)]"
)


def test_a_grid_that_stops_growing_is_executed_beyond_that(judged):
    outcome = judged("triton", CAPPED.replace("STOP", "n").replace("CAP", "150"))
    assert isinstance(outcome, Wrong), outcome
    assert "as at sizes for a device" in outcome.because


def test_a_side_that_an_empty_input_alone_takes_is_named(judged):
    never = (
        TRITON.replace("STOP", "n")
        .replace("    if n == 0:\n        return y\n", "")
        .replace("blocks > 100", "n % 49999 == 0")
    )
    outcome = judged("triton", never)
    assert isinstance(outcome, Verified)
    assert "`n % 49999 == 0` is never true" in outcome.caveat


TWO_AXES = """
import torch, triton, triton.language as tl

@triton.jit
def scaled(x, y, rows, columns, TILE: tl.constexpr):
    column = tl.program_id(0) * TILE + tl.arange(0, TILE)
    for row in range(tl.program_id(1), rows, tl.num_programs(1)):
        i = tl.cast(row, tl.int64) * columns + column
        tl.store(y + i, tl.load(x + i, column < columns) * 2, column < columns)

def forward(x):
    y = torch.empty_like(x)
    rows, columns = x.shape
    if x.numel() > 0:
        tiles = triton.cdiv(columns, 256)
        scaled[(tiles, min(rows, CAP))](x, y, rows, columns, 256)
    return y
"""
NO_TURNS = ("range(tl.program_id(1), rows, tl.num_programs(1))", "range(tl.program_id(1), tl.program_id(1) + 1)")


@pytest.mark.parametrize(
    "cap",
    [
        "600 if tiles < 3 else 400",  # executed: 400 rows of three tiles
        "3900 if tiles > 12 else rows",  # only in the last sixteenth where both are large: named
        "60000 // tiles",  # another one for each number of tiles: as large where both are large
    ],
)
def test_a_grid_of_two_axes_that_stops_growing_is_executed_beyond_that_or_named(judged, cap):
    honest, cheat = (judged("triton", text.replace("CAP", cap)) for text in (TWO_AXES, TWO_AXES.replace(*NO_TURNS)))
    assert isinstance(honest, Verified), honest
    assert isinstance(cheat, Wrong) or "stops at" in cheat.caveat, cheat


def test_a_grid_that_grows_to_the_end_is_not_named(judged):
    outcome = judged("triton", TWO_AXES.replace(*NO_TURNS).replace("CAP", "rows"))
    assert isinstance(outcome, Verified)
    assert "stops at" not in outcome.caveat
