"""Operators as tensor programs: found by executing their sources on symbols, and compared with them."""

from pathlib import Path

import pytest

from porter.evaluate.formula.lift import lift
from porter.evaluate.formula.scheduled import formula_of
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import NotVerified, Verified
from porter.ir.tensor.printer import printed
from porter.registry import find_backend
from porter.report.source.tensors import tensor_text
from porter.schedule.polynomial import NotSchedulableError
from porter.simt.compiler import missing_compiler
from porter.source.load import read_sources

SUITE = Path(__file__).parents[3] / "op_suites" / "kernelbench"


@pytest.fixture
def lifted(build_cache):
    """Returns the only entry of a source as a tensor program, with its verdict."""
    if missing_compiler():
        pytest.skip(missing_compiler())

    def lift_one(path, contract=None, limit_s=20.0):
        options = MigrateOptions("", build_cache, contract=contract, time_limit_s=limit_s)
        (one,) = lift(read_sources(path)[0], options, lambda _: None)
        return one

    return lift_one


@pytest.mark.parametrize(
    ("operator", "line"),
    [
        ("activation/hardtanh", "out[i, j] = minimum(max_val, maximum(min_val, x[i, j]))"),
        ("loss/mse_loss", "sum[k < rows, k2 < columns]((predictions[k, k2] - targets[k, k2]) ** 2) / (columns * rows)"),
        (
            "loss/triplet_margin_loss",
            "maximum(0, sum[k2 < columns]((anchor[k, k2] - positive[k, k2] + eps) ** 2) ** (1/2)",
        ),
        ("reduction/max_reduce", "out[i, j] = max[k < rows](x[i, k, j])"),
        ("norm/l2_norm", "out[i, j] = x[i, j] / sum[k < columns](x[i, k] ** 2) ** (1/2)"),
        ("reduction/cumsum_reverse", "out[i, j] = sum[j <= k < columns](x[i, k])"),
        ("reduction/argmin", "out[i, j] = argmin[k < rows](x[i, k, j]; k)"),
        ("reduction/max_pool1d", "max[k = stride * l - padding + dilation * t, t < kernel_size, 0 <= k < length]"),
    ],
)
def test_an_operator_is_lifted_and_equal_to_its_source(lifted, operator, line):
    one = lifted(SUITE / operator / "kernel.cu", SUITE / operator / "contract.toml")
    assert isinstance(one.outcome, Verified), one.outcome
    assert all(line in printed(program) for program in one.programs)


CUT_OFF = """
#include <torch/extension.h>

__global__ void norm(const float* x, float* y, int n) {
  __shared__ float total;
  const float* row = x + blockIdx.x * n;
  if (threadIdx.x == 0) {
    float sum = 0.f;
    for (int i = 0; i < (n < 24 ? n : 24); ++i) sum += row[i] * row[i];
    total = sum;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = row[i] * rsqrtf(total);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  norm<<<x.size(0), 16>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""

LARGE = """
[[contract]]
name = "norm"
reference = "norm.cu"
symbols = ["rows", "n"]

[contract.entry]
kind = "torch"
name = "forward"

[[contract.argument]]
tensor = "x"
role = "in"
dtype = "float32"
shape = ["rows", "n"]
values = "normal"

[[contract.workload]]
name = "large"
sizes = { rows = 3, n = 120 }
seed = 1
"""


@pytest.fixture
def lifted_norm(lifted, tmp_path):
    """`lifted_norm(text)`: what is lifted of a norm of rows, whose contract is stated."""

    def lift_norm(text, **options):
        (tmp_path / "norm.cu").write_text(text)
        (tmp_path / "norm.toml").write_text(LARGE)
        return lifted(tmp_path / "norm.cu", tmp_path / "norm.toml", **options)

    return lift_norm


def test_a_source_that_leaves_out_elements_beyond_a_block_has_no_formula(lifted_norm):
    one = lifted_norm(CUT_OFF)
    assert one.programs == ()
    assert "differs where 'n' takes more than one block, or more than one step" in one.outcome.because


def test_a_source_that_leaves_out_elements_beyond_the_probes_is_found_to_differ(lifted, tmp_path):
    (tmp_path / "norm.cu").write_text(CUT_OFF.replace("24", "400"))
    one = lifted(tmp_path / "norm.cu")
    assert "** (1/2)" in printed(*one.programs)
    assert one.outcome.label == "wrong", one.outcome


DATA_DECIDES = CUT_OFF.replace(
    "for (int i = 0; i < (n < 24 ? n : 24); ++i) sum += row[i] * row[i];",
    "int i = 0; while (i < n && sum < 10.f) { sum += row[i] * row[i]; ++i; }",
)


def test_control_that_data_decide_is_refused_with_its_reason(lifted_norm):
    one = lifted_norm(DATA_DECIDES)
    assert one.programs == ()
    assert isinstance(one.outcome, NotVerified)
    assert "a value of the data decides how often a loop runs" in one.outcome.because


def test_a_kernel_that_comes_to_no_end_is_given_up(lifted_norm):
    endless = "for (int i = 0; n < 100 && i >= 0; i = (i + 1) & 1) total = row[i];"
    one = lifted_norm(CUT_OFF.replace("float sum = 0.f;", f"float sum = 0.f; {endless}"), limit_s=2.0)
    assert isinstance(one.outcome, NotVerified), one.outcome
    assert "its execution on symbols came to no end: the time limit is reached" in one.outcome.because


def test_a_kernel_that_is_not_expressed_is_named_with_its_place(lifted_norm):
    one = lifted_norm(CUT_OFF.replace("total = sum;", "total = sum; goto end; end:;"))
    assert isinstance(one.outcome, NotVerified)
    assert one.outcome.because.startswith(
        "it was not lifted: norm.cu:10: a kernel is not expressed: text that is not read"
    )


LOCKSTEP = """
#include <torch/extension.h>

__global__ void sums(const float* x, float* y, int n) {
  __shared__ volatile float part[64];
  int t = threadIdx.x;
  part[t] = t < n ? x[blockIdx.x * n + t] : 0.f;
  __syncthreads();
  if (t < 32) {
    part[t] += part[t + 32]; part[t] += part[t + 16]; part[t] += part[t + 8]; part[t] += part[t + 4];
    part[t] += part[t + 2]; part[t] += part[t + 1];
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.size(1) <= 64, "two warps");
  auto y = torch::empty({x.size(0)}, x.options());
  sums<<<x.size(0), 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""


def test_lanes_that_trust_each_other_are_lifted_with_the_barriers_that_takes(lifted, tmp_path):
    (tmp_path / "sums.cu").write_text(LOCKSTEP)
    one = lifted(tmp_path / "sums.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert "sum[k < " in printed(*one.programs)
    assert "with the __syncwarp() that takes" in one.outcome.caveat


OF_BLOCKS = """
#include <torch/extension.h>

__global__ void sums(const float* x, float* y, int n) {
  __shared__ float part[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  part[t] = i < n ? x[i] : 0.f;
  for (int s = 32; s > 0; s /= 2) {
    __syncthreads();
    if (t < s) part[t] += part[t + s];
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

torch::Tensor forward(torch::Tensor x) {
  int n = x.size(0), blocks = (n + 63) / 64;
  auto y = torch::empty({blocks}, x.options());
  sums<<<blocks, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""


def test_a_sum_for_each_block_is_not_taken_for_one_of_all(lifted, tmp_path):
    (tmp_path / "sums.cu").write_text(OF_BLOCKS)
    one = lifted(tmp_path / "sums.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert "out[i] = sum[k = 64 * i + t, t < 64, 0 <= k < n](x[k])" in printed(*one.programs)


SCALE_ROWS = """
__global__ void {name}(const float* x, float* y, int rows, int n) {{
{body}
}}
"""
GRID_STRIDE = SCALE_ROWS.format(
    name="means",
    body="""
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    float sum = 0.f;
    for (int i = 0; i < n; ++i) sum += x[r * n + i];
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[r * n + i] = x[r * n + i] - sum / n;
  }""",
)


def test_a_flat_array_is_shown_as_a_matrix_and_the_verdict_is_that_of_a_kernel(lifted, tmp_path):
    (tmp_path / "means.cu").write_text(GRID_STRIDE)
    one = lifted(tmp_path / "means.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert "y[i, j] = x[i, j] - sum[k < n](x[i, k]) / n" in printed(*one.programs)


VECTORS = """
#include <torch/extension.h>

__global__ void twice(const float4* x, float4* y, int n4) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  float4 v = x[i];
  y[i] = make_float4(v.x * 2.f, v.y * 2.f, v.z * 2.f, v.w * 2.f);
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.numel() % 4 == 0, "vectors of four");
  auto y = torch::empty_like(x);
  int n4 = x.numel() / 4;
  twice<<<(n4 + 127) / 128, 128>>>((float4*)x.data_ptr<float>(), (float4*)y.data_ptr<float>(), n4);
  return y;
}
"""


def test_sizes_that_a_source_does_not_take_are_no_probes(lifted, tmp_path):
    (tmp_path / "twice.cu").write_text(VECTORS)
    one = lifted(tmp_path / "twice.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert "= 2 * x[" in printed(*one.programs)


CHOICE = """
#include <torch/extension.h>

__global__ void kernel(const float* x, float* y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = mode == 1 ? x[i] * x[i] : x[i];
}

torch::Tensor forward(torch::Tensor x, int mode) {
  TORCH_CHECK(mode == 0 || mode == 1, "mode");
  auto y = torch::empty_like(x);
  kernel<<<(x.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), mode);
  return y;
}
"""


def test_each_choice_has_a_program(lifted, tmp_path):
    (tmp_path / "choice.cu").write_text(CHOICE)
    one = lifted(tmp_path / "choice.cu")
    assert isinstance(one.outcome, Verified), one.outcome
    assert sorted(program.assumptions for program in one.programs) == [("mode is 0",), ("mode is 1",)]


HALF_LIFTED = """
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void until(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    while (v > 1) v /= 2;
    y[i] = v;
}
void both(const float* x, float* y, float* z, int n) {
    twice<<<(n + 63) / 64, 64>>>(x, y, n);
    until<<<(n + 63) / 64, 64>>>(x, z, n);
}
"""


def test_a_kernel_by_itself_says_why_its_launcher_is_not_lifted(build_cache, tmp_path):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "both.cu").write_text(HALF_LIFTED)
    (source,) = read_sources(tmp_path / "both.cu")
    entries = {one.entry.name: one for one in lift(source, MigrateOptions("", build_cache), lambda _: None)}
    assert entries.keys() == {"twice", "until"}
    assert "y[i] = 2 * x[i]" in printed(*entries["twice"].programs)
    for one in entries.values():
        (why,) = one.left_out
        assert why.startswith("both: it was not lifted: line 10: a value of the data decides")
        assert why in tensor_text([one], source).plain


SHUFFLED = """
#include <torch/extension.h>

__global__ void shuffle(const float* x, float* y, int channels, int spatial, int groups, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int s = i % spatial, c = i / spatial % channels, n = i / spatial / channels;
  y[i] = x[(n * channels + c % groups * (channels / groups) + c / groups) * spatial + s];
}

torch::Tensor forward(torch::Tensor x, int groups) {
  TORCH_CHECK(x.size(1) % groups == 0, "groups");
  auto y = torch::empty_like(x);
  shuffle<<<(x.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2), groups,
                                            x.numel());
  return y;
}
"""
REPEATED = SHUFFLED.replace(
    "(n * channels + c % groups * (channels / groups) + c / groups) * spatial + s", "i"
).replace("y[i] = x[i]", "y[i] = x[i] * groups")
OF_ONE_GROUP = """
[[contract]]
name = "forward"
category = "elementwise"
symbols = ["batch", "channels", "spatial"]
conditions = []
entry = { kind = "torch", name = "forward" }
argument = [
    { tensor = "x", role = "in", dtype = "float32", shape = ["batch", "channels", "spatial"], values = "normal" },
    { scalar = "groups", type = "int", value = "1" },
]
workload = [
    { name = "odd", sizes = { batch = 3, channels = 12, spatial = 37 }, seed = 1 },
    { name = "large", sizes = { batch = 4, channels = 6, spatial = 130 }, seed = 2 },
]
"""


@pytest.fixture
def of_one_group(tmp_path):
    """Returns the path of a contract that gives `groups` the value 1."""
    path = tmp_path / "shuffle.toml"
    path.write_text(OF_ONE_GROUP)
    return path


def test_a_formula_of_one_value_of_a_number_is_no_port(lifted, of_one_group, tmp_path, build_cache):
    path = tmp_path / "shuffle.cu"
    path.write_text(SHUFFLED)
    (program,) = lifted(path, of_one_group).programs
    assert program.fixed == ("groups",)
    assert "groups is 1" in program.assumptions
    options = MigrateOptions("triton", build_cache, contract=of_one_group, time_limit_s=20.0)
    target = find_backend("triton").targets()[0]
    with pytest.raises(NotSchedulableError, match="for one value of 'groups' alone"):
        formula_of(read_sources(path)[0], target, options, lambda _: None)


def test_a_formula_that_has_the_number_is_one(lifted, of_one_group, tmp_path, build_cache):
    path = tmp_path / "repeat.cu"
    path.write_text(REPEATED)
    (program,) = lifted(path, of_one_group).programs
    assert program.fixed == ()
    assert "groups" in program.symbols
    options = MigrateOptions("triton", build_cache, contract=of_one_group, time_limit_s=20.0)
    target = find_backend("triton").targets()[0]
    formula_of(read_sources(path)[0], target, options, lambda _: None)


TWO = """
__global__ void place(const float* x, const int* at, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[at[i] % n < 0 ? 0 : at[i] % n] = x[0];
}
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
void scattered(const float* x, const int* at, float* y, int n) { place<<<(n + 127) / 128, 128>>>(x, at, y, n); }
void doubled(const float* x, float* y, int n) { twice<<<(n + 127) / 128, 128>>>(x, y, n); }
"""


def test_nothing_more_is_run_for_a_formula_once_an_entry_has_none(tmp_path, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(TWO)
    (source,), steps = read_sources(tmp_path / "op.cu"), []
    with pytest.raises(NotSchedulableError, match=r"^scattered was not lifted: (?!it was not lifted)"):
        formula_of(source, find_backend("triton").targets()[0], MigrateOptions("", build_cache), steps.append)
    assert any("running scattered" in step for step in steps)
    assert not any("running doubled" in step for step in steps)
