"""Drafts of real sources, completed by running them, and originals judged by running them."""

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from porter.contract.analysis.records import grouped
from porter.contract.infer.draft import draft
from porter.contract.model.confirmation import Confirmation
from porter.contract.model.contract import Contract, Distribution, EntryKind, Role
from porter.contract.model.questions import unknown_extents
from porter.contract.model.reader import loads
from porter.contract.model.toml import dumps
from porter.contract.probe.confirm import confirm
from porter.dialect import CUDA
from porter.evaluate.reference.doubt import unsound
from porter.execution.job import BuildRequest, Callee, Executable, Execute
from porter.oracle.reference import Reference, examine
from porter.simt.build import build
from porter.simt.compiler import missing_compiler
from porter.simt.run import run
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())


@pytest.fixture
def run_with(build_cache):
    """`run_with(text)`: the only contract that is drafted of a source, and a function that runs its entry."""

    def built(text: str) -> tuple[Contract, Program, Execute]:
        source = Source(Path("op.cu"), text)
        program = parse(source)
        (contract,) = draft(program)
        functions = program.kernels if contract.entry.kind is EntryKind.KERNEL else program.host_functions
        (entry,) = [f for f in functions if f.qualified == contract.entry.name]
        parameters = tuple(p.type for p in entry.params)
        parts = grouped([argument.name for argument in contract.arguments], entry.params)
        request = BuildRequest(source, (), CUDA, (Callee(contract.entry, parameters, parts),), 32)
        (executable,) = build(request, build_cache)
        assert isinstance(executable, Executable), executable
        return contract, program, partial(run, executable)

    return built


@pytest.fixture
def confirmed(run_with):
    """`confirmed(text)`: the drafted contract of a source, completed by running it."""

    def complete(text: str) -> Confirmation:
        contract, _, execute = run_with(text)
        return confirm(contract, execute, None)

    return complete


@pytest.fixture
def judge(run_with):
    """`judge(text, sizes)`: the completed contract, and the original judged by it, which takes as long again."""

    def judged(text: str, sizes: Mapping[str, int] | None = None) -> tuple[Confirmation, Reference]:
        contract, program, execute = run_with(text)
        confirmation = confirm(contract, execute, sizes)
        return confirmation, examine(confirmation.contract, program, execute, budget_s=math.inf)

    return judged


def test_an_embedding_is_understood_from_what_it_touches(judge):
    confirmation, reference = judge("""
__global__ void embed(float* out, const int* ids, const float* table, const float* bias, int n, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * C) { int row = ids[i / C]; out[i] = table[row * C + i % C] + bias[i % C]; }
}
extern "C" void run_embed(float* out, const int* ids, const float* table, const float* bias, int n, int C, int block) {
    embed<<<(n * C + block - 1) / block, block>>>(out, ids, table, bias, n, C);
}""")
    out, ids, table, bias = confirmation.contract.tensors
    assert confirmation.contract.questions == ()
    assert (out.role, out.shape) == (Role.OUT, ("n * C",))
    assert ids.shape == ("n",)
    assert bias.shape == ("C",)
    assert set(table.shape[0].split(" * ")) == {"C", "ids_bound"}
    assert reference.because == ""
    assert len(reference.expected) == len(confirmation.contract.workloads) > 3


def test_an_extent_that_only_host_code_copies_is_found_beyond_what_a_probe_has_at_first(judge):
    confirmation, reference = judge("""
__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n) x[i] *= 2;
}
void doubled(float* matrix, int n) {
    float* x;
    cudaMalloc(&x, n * n * sizeof(float));
    cudaMemcpy(x, matrix, n * n * sizeof(float), cudaMemcpyHostToDevice);
    twice<<<(n * n + 255) / 256, 256>>>(x, n);
    cudaMemcpy(matrix, x, n * n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x);
}""")
    (matrix,) = confirmation.contract.tensors
    assert (matrix.role, matrix.shape, confirmation.contract.conditions) == (Role.INOUT, ("n * n",), ())
    assert reference.because == ""


def test_vectors_without_a_tail_are_held_to_whole_vectors(judge):
    confirmation, reference = judge("""
__global__ void scale4(const float* x, float* y, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float4 v = reinterpret_cast<const float4*>(x + i)[0];
        v.x *= 2; v.y *= 2; v.z *= 2; v.w *= 2;
        reinterpret_cast<float4*>(y + i)[0] = v;
    }
}""")
    assert confirmation.inferred == ("n % 4 == 0",)
    assert confirmation.contract.tensors[0].shape == ("n",)
    assert reference.because == ""


def test_pairs_within_rows_are_held_to_even_rows(judge):
    confirmation, reference = judge("""
#include <cuda_fp16.h>
__global__ void turn(half* q, int heads, int width) {
    for (int i = threadIdx.x; i < heads * (width / 2); i += blockDim.x) {
        half* head = q + (blockIdx.x * heads + i / (width / 2)) * width;
        half2* pair = reinterpret_cast<half2*>(head) + i % (width / 2);
        *pair = __lowhigh2highlow(*pair);
    }
}
void turn_all(half* q, int tokens, int heads, int width) { turn<<<tokens, 64>>>(q, heads, width); }""")
    (q,) = confirmation.contract.tensors
    assert q.shape == ("tokens * heads * width",)  # of odd widths the last element is never touched
    assert confirmation.contract.conditions == ("width % 8 == 0",)
    assert reference.because == ""


def test_offsets_are_one_more_than_the_bags_between_them(judge):
    confirmation, reference = judge("""
__global__ void bags(float* y, const float* x, const int* offsets, int dim) {
    for (int d = threadIdx.x; d < dim; d += blockDim.x) {
        float sum = 0.0f;
        for (int j = offsets[blockIdx.x]; j < offsets[blockIdx.x + 1]; ++j) sum += x[j * dim + d];
        y[blockIdx.x * dim + d] = sum;
    }
}
void sum_bags(float* y, const float* x, const int* offsets, int count, int dim) {
    bags<<<count, 64>>>(y, x, offsets, dim);
}""")
    offsets = confirmation.contract.tensors[2]
    assert (offsets.shape, offsets.bound) == (("count + 1",), "count")  # of odd counts whole pairs would be as many
    assert reference.because == ""


def test_sizes_at_which_something_is_launched_are_found(judge):
    confirmation, reference = judge("""
template <typename T> struct Width { static constexpr int value = 16 / sizeof(T); };
__global__ void copy(float4* y, const float4* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
int copy_all(float* y, const float* x, int rows, int cols) {
    int left = cols % Width<float>::value;
    if (left) return left;
    copy<<<(rows * cols + 255) / 256, 256>>>((float4*)y, (const float4*)x, rows * cols / Width<float>::value);
    return 0;
}""")
    assert confirmation.contract.conditions == ("cols % 4 == 0",)
    assert [t.shape for t in confirmation.contract.tensors] == [("rows * cols",)] * 2
    assert reference.because == ""
    assert reference.launched


def test_a_missing_barrier_is_not_believed(judge):
    _, reference = judge("""
__global__ void shift(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.f;
    if (i < n) y[i] = tile[(threadIdx.x + 1) % 256];
}""")
    assert reference.because
    assert any(f.severity == "error" for f in reference.findings)


def test_an_accumulator_that_is_never_cleared_is_seen(judge):
    confirmation, reference = judge("""
__global__ void total(const float* x, float* partial, int n) {
    __shared__ float sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}""")
    assert unknown_extents(confirmation.contract) == ()
    assert reference.because


FILLED = """
__global__ void fill(float* out, const float* in, int n, int lead, int from, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * count) out[i / count * lead + from + i % count] = in[i];
}
extern "C" void run_fill(float* out, const float* in, int n, int lead, int from, int count) {
    fill<<<(n * count + 255) / 256, 256>>>(out, in, n, lead, from, count);
}"""


def test_rows_written_over_each_other_are_kept_apart_by_a_condition_that_is_told(judge):
    confirmation, reference = judge(FILLED)
    assert confirmation.inferred == ("from + count <= lead",)
    assert confirmation.contract.tensors[0].shape == ("(n - 1) * lead + from + count",)
    assert confirmation.contract.tensors[0].role is Role.INOUT
    assert reference.because == ""


def test_rows_apart_hide_no_access_behind_the_last_one(judge):
    text = FILLED.replace("from + i % count] = in[i]", "from + i % count] = in[i] + (n > 6 ? in[n * count] : 0)")
    _, reference = judge(text)
    assert "out of bounds" in reference.because


def test_extents_that_nobody_says_are_alike_are_found_to_be(judge):
    confirmation, reference = judge("""
#include <torch/extension.h>
#include <THC/THCDeviceUtils.cuh>
template <typename T> __host__ __device__ T THCRoundUp(T a, T b) { return THCCeilDiv(a, b) * b; }
__global__ void pick(const int count, const float* x, const long* target, const float* weight, float* out, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = x[i] * (target[i / C] == i % C ? weight[target[i / C]] : 1.0f);
}
void run_pick(torch::Tensor x, torch::Tensor target, torch::Tensor weight, torch::Tensor out) {
    int C = x.size(1), count = out.numel();
    pick<<<(count + 255) / 256, 256>>>(
        count, x.data_ptr<float>(), target.data_ptr<long>(), weight.data_ptr<float>(), out.data_ptr<float>(), C);
}""")
    x, target, weight, out = confirmation.contract.tensors
    assert (x.shape, target.shape, out.shape) == (out.shape, (out.shape[0],), (out.shape[0], "C"))
    assert weight.shape == (target.bound,)
    assert (confirmation.contract.questions, confirmation.inferred, reference.because) == ((), (), "")


def test_indices_held_in_floats_stay_within_what_they_select_from(judge):
    confirmation, reference = judge("""
#include <torch/extension.h>
__global__ void gather(const int count, const float* x, const float* box, float* out, int C, int W) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int row = box[5 * (i / W / C)];
        out[i] = x[(row * C + i / W % C) * W + i % W];
    }
}
void run_gather(torch::Tensor x, torch::Tensor box, torch::Tensor out) {
    int C = x.size(1), W = x.size(2), count = out.numel();
    gather<<<(count + 255) / 256, 256>>>(
        count, x.data_ptr<float>(), box.data_ptr<float>(), out.data_ptr<float>(), C, W);
}""")
    x, box, out = confirmation.contract.tensors
    assert out.shape[1:] == ("C", "W")
    assert box.shape == (f"5 * {out.shape[0]} - 4",)
    assert box.bound == x.shape[0]
    assert (confirmation.contract.questions, reference.because) == ((), "")


def test_a_quotient_of_sizes_is_found_whichever_comes_first(judge):
    confirmation, reference = judge("""
__global__ void scale_planes(const float* x, const float* scale, float* y, int count, int plane) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = x[i] * scale[i / plane];
}
extern "C" void run_scale(const float* x, const float* scale, float* y, int count, int plane) {
    scale_planes<<<(count + 255) / 256, 256>>>(x, scale, y, count, plane);
}""")
    scale = confirmation.contract.tensors[1]
    assert scale.shape == ("cdiv(count, plane)",)
    assert (confirmation.contract.questions, reference.because) == ((), "")


def test_both_sides_of_a_branch_on_sizes_are_run(judge):
    confirmation, reference = judge("""
__global__ void one(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void four(float4* y, const float4* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = make_float4(2 * x[i].x, 2 * x[i].y, 2 * x[i].z, 2 * x[i].w);
}
__global__ void broken(float* y, const float* x, int n) { y[threadIdx.x] = 2 * x[threadIdx.x + n]; }
static void twice(float* y, const float* x, int count) {
    if (count % 4 == 0 && count < 5000 && y != nullptr)
        four<<<(count / 4 + 255) / 256, 256>>>((float4*)y, (float4*)x, count / 4);
    else one<<<(count + 255) / 256, 256>>>(y, x, count);
}
extern "C" void run_twice(float* y, const float* x, int n) {
    if (n == 8) broken<<<1, 8>>>(y, x, n);
    else if (n > 0) twice(y, x, n);
}""")
    contract = confirmation.contract
    assert contract.branches == ("n == 8", "n % 4 == 0 && n < 5000")
    (vectors,) = [w for w in contract.workloads if w.name in contract.branches]
    assert vectors.name == contract.branches[-1]
    assert vectors.sizes["n"] % 4 == 0
    assert vectors.sizes["n"] > 250  # more than a block
    assert contract.conditions == ()
    assert reference.because == ""


def test_a_side_of_a_branch_is_run_at_sizes_at_which_its_threads_do_not_race(judge):
    confirmation, reference = judge("""
__global__ void turn(const float* x, float* y, int rows, int heads, int width) {
    int i = threadIdx.x + blockIdx.y * blockDim.x, head = i / width, inside = threadIdx.x % width;
    int batch = blockIdx.x / rows, row = blockIdx.x % rows;
    y[((batch * heads + head) * rows + row) * width + inside] = x[blockIdx.x * heads * width + i];
}
void run_turn(const float* x, float* y, int batches, int rows, int heads, int width) {
    int wide = heads * width, parts = 1;
    if (wide > 1024) parts = 4;
    dim3 grid(batches * rows, parts), block(wide / parts);
    turn<<<grid, block>>>(x, y, rows, heads, width);
}""")
    wide = [w.sizes for w in confirmation.contract.workloads if w.sizes["heads"] * w.sizes["width"] > 1024]
    assert wide
    assert all(sizes["heads"] % 4 == 0 for sizes in wide)
    assert confirmation.limits == ("heads * width <= 1024 || heads % 4 == 0",)
    assert not unsound(reference)


def test_garbage_that_is_only_copied_is_no_element_left_unwritten(judge):
    text = """
__global__ void turned(const float* x, float* y, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = tile[255 - threadIdx.x];
}
void turn(const float* x, float* y, int n) {
    CHECK
    turned<<<(n + 255) / 256, 256>>>(x, y, n);
}"""
    limited, _ = judge(text.replace("CHECK", ""))
    assert limited.inferred == ("n % 256 == 0",)
    assert "never written" in limited.mended
    _, at_odd_sizes = judge(text.replace("CHECK", "if (n % 256 == 0) throw 1;"))
    assert "depends on memory that was never written" in at_odd_sizes.because


def test_which_elements_are_touched_does_not_hang_on_what_chance_put_into_a_flag(judge):
    confirmation, reference = judge("""
__global__ void picked(const bool* which, const float* a, const float* b, float* y, float* kept, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = which[i] ? a[i] : b[i];
    if (y[i] > 0.5f) kept[i] = 1.f;
}
void pick(const bool* which, const float* a, const float* b, float* y, float* kept, size_t n) {
    picked<<<(unsigned)((n + 255) / 256), 256>>>(which, a, b, y, kept, n);
}""")
    assert confirmation.inferred == ()
    assert {tensor.shape for tensor in confirmation.contract.tensors} == {("n",)}
    assert reference.because == ""


def test_a_pointer_that_the_source_asks_for_is_left_out_once(judge):
    confirmation, reference = judge("""
__global__ void moved(
    const float* x, const float* bias, const float* scale, float* y, float* kept, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols || !x) return;
    float value = bias ? x[i] + bias[i % cols] : x[i];
    y[i] = value * scale[i % cols];
    if (kept != nullptr) kept[i] = value;
}
int move(const float* x, const float* bias, const float* scale, float* y, float* kept, int rows, int cols) {
    if (y == NULL) return -1;
    if (scale == nullptr) printf("no scale");
    moved<<<(rows * cols + 63) / 64, 64>>>(x, bias, scale, y, kept, rows, cols);
    return 0;
}""")
    contract = confirmation.contract
    assert [t.name for t in contract.tensors if t.optional] == ["bias", "kept"]
    assert [w.scalars for w in contract.workloads if w.scalars] == [{"bias": 0}, {"kept": 0}]
    (left_out,) = (e for e in reference.expected if "kept" in e.workload.scalars)
    without = dict(left_out.outputs.tensors)
    assert reference.because == ""
    assert (without["kept"].null, without["kept"].shape) == (True, (0,))
    assert loads(dumps((contract,)), Path("op.toml")) == (contract,)


def test_a_number_that_says_again_how_long_an_axis_is_does(judge):
    confirmation, reference = judge("""
#include <torch/extension.h>
#include <THC/THCDeviceUtils.cuh>
template <typename T> __host__ __device__ T THCRoundUp(T a, T b) { return THCCeilDiv(a, b) * b; }
__global__ void pick(const float* x, const int* label, float* y, int count, int classes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = label[i / classes] == i % classes ? x[i] : 0.0f;
}
torch::Tensor select(torch::Tensor x, torch::Tensor label, int classes) {
    auto y = torch::empty({x.size(0), x.size(1)}, x.options());
    int count = x.size(0) * x.size(1);
    dim3 grid(THCRoundUp(count, 128) / 128);
    pick<<<grid, 128>>>(x.data_ptr<float>(), label.data_ptr<int>(), y.data_ptr<float>(), count, classes);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("select", &select); }""")
    x, label = confirmation.contract.tensors
    assert confirmation.contract.conditions == ("classes == x_size1",)
    assert label.shape == x.shape[:1]
    assert not reference.at_fault


PAIRS = """
#include <cuda_fp16.h>
__global__ void doubled(const half2* x, half2* y, int cols) {
    int pairs = cols / 2, row = blockIdx.x;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        half2 v = x[row * pairs + i];
        y[row * pairs + i] = __hadd2(v, v);
    }
}
void launch(const half* x, half* y, int rows, int cols) {
    doubled<<<rows, 128>>>((const half2*)x, (half2*)y, cols);
}
"""


def test_whole_pairs_of_a_row_are_told_from_a_row_that_is_one_short(judge):
    confirmation, reference = judge(PAIRS)
    assert [t.shape for t in confirmation.contract.tensors] == [("2 * rows * (cols / 2)",)] * 2
    large = next(w for w in confirmation.contract.workloads if w.name == "large")
    assert all(size % 2 == 0 for size in large.sizes.values())
    assert reference.because == ""


AT_LEAST = """
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n / 4) ((float4*)y)[i] = ((const float4*)x)[i];
    if (i < n % 4) y[n - 1 - i] = x[n - 1 - i] + x[n - 4];
}
void run(const float* x, float* y, int n) { k<<<(n + 255) / 256, 256>>>(x, y, n); }
"""


WHOLE_VECTORS = AT_LEAST.replace("n / 4", "(n + 3) / 4").replace(
    "    if (i < n % 4) y[n - 1 - i] = x[n - 1 - i] + x[n - 4];\n", ""
)


@pytest.mark.parametrize(("text", "condition"), [(AT_LEAST, "n >= 4"), (WHOLE_VECTORS, "n % 4 == 0")])
def test_a_least_size_is_no_multiple(confirmed, text, condition):
    confirmation = confirmed(text)
    assert confirmation.inferred == (condition,)
    rests = {w.sizes["n"] % 4 for w in confirmation.contract.workloads}
    assert (rests == {0}) == (condition == "n % 4 == 0")


ARGMAX = """
__global__ void argmax(const float* x, int* at, int cols) {
    int best = 0;
    for (int c = 1; c < cols; ++c) best = x[blockIdx.x * cols + c] > x[blockIdx.x * cols + best] ? c : best;
    at[blockIdx.x] = best;
}
void run(const float* x, int* at, int rows, int cols) { argmax<<<rows, 1>>>(x, at, cols); }
"""


@pytest.mark.parametrize("sizes", [{}, {"rows": 37}, {"rows": 37, "cols": 1003}])
def test_who_fixes_sizes_knows_no_less(judge, sizes):
    confirmation, reference = judge(ARGMAX, sizes)
    assert confirmation.contract.questions == ()
    for name, size in sizes.items():
        assert {w.sizes[name] for w in confirmation.contract.workloads} == {size}
    assert reference.because == ""


WARPS = """
__device__ int warps_of(int threads) { int n = 0; for (; threads >= 32; threads -= 32) ++n; return n; }
__global__ void doubled(const float* x, float* y, int rows_, int n) {
    int warps = warps_of(blockDim.x);
    int row = blockIdx.x * warps + threadIdx.x / 32;
    if (row < rows_)
        for (int i = threadIdx.x % 32; i < n; i += 32) y[row * n + i] = 2.f * x[row * n + i];
}"""


def test_a_grid_that_nothing_bounds_covers_what_is_written(confirmed):
    confirmation = confirmed(WARPS)
    contract = confirmation.contract
    assert contract.entry.launch.grid == ("rows_", "1", "1")
    assert contract.symbols == ("rows_", "n")


def test_a_grid_whose_blocks_stride_stays_smaller_than_what_is_written(confirmed):
    """The second turn of the loop would never run."""
    confirmation = confirmed(WARPS.replace("if (row < rows_)", "for (; row < rows_; row += gridDim.x * warps)"))
    assert confirmation.contract.entry.launch.grid == ("rows", "1", "1")


HIDDEN = """
__global__ void flipped(const float* in, float* out, int M, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) out[col * M + row] = in[row * N + col];
}
#define M 1024
#define N 2048
"""


def test_a_parameter_hides_a_macro_that_is_defined_later(confirmed):
    confirmation = confirmed(HIDDEN)
    assert confirmation.contract.entry.launch.grid == ("cdiv(N, 16)", "cdiv(M, 16)", "1")


def test_what_only_rows_that_nobody_marked_write_is_seen_where_marks_are_cleared(judge):
    confirmation, reference = judge("""
__global__ void mark(const float* x, int* empty, int width) {
    for (int c = 0; c < width; ++c) if (x[blockIdx.x * width + c] <= 0.5f) empty[blockIdx.x] = 1;
}
__global__ void keep(const float* x, const int* empty, float* y, int width) {
    if (empty[blockIdx.x]) return;
    for (int c = threadIdx.x; c < width; c += blockDim.x) y[blockIdx.x * width + c] = 2 * x[blockIdx.x * width + c];
}
void launch(const float* x, int* empty, float* y, int rows, int width) {
    mark<<<rows, 1>>>(x, empty, width);
    keep<<<rows, 64>>>(x, empty, y, width);
}""")
    x, empty, y = confirmation.contract.tensors
    assert (x.shape, empty.shape, y.shape) == (("rows * width",), ("rows",), ("rows * width",))
    assert confirmation.contract.questions == ()
    assert not reference.because


FIND = """
__global__ void find(const float* x, int* where, int n, float wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) where[i] = %s;
}
void launch(const float* x, int* where, int n, float wanted) { find<<<(n + 63) / 64, 64>>>(x, where, n, wanted); }
"""


def test_an_answer_of_minus_ones_was_written(judge):
    _, reference = judge(FIND % "x[i] == 1e30f ? i : -1")
    assert set(reference.expected[0].outputs.tensors[-1][1].storage.tolist()) == {-1}
    assert unsound(reference) == ""


def test_an_answer_that_nobody_wrote_is_none(judge):
    _, reference = judge(FIND.replace("if (i < n)", "if (i < n && x[i] == 1e30f)") % "i")
    assert unsound(reference) == "the original writes none of its outputs"


def test_points_that_indices_choose_within_a_batch_are_as_many_as_one_size_says(judge):
    confirmation, reference = judge("""
__global__ void scatter(int b, int n, int m, const float* grad, const int* idx, float* points) {
    for (int i = blockIdx.x; i < b; i += gridDim.x)
        for (int j = threadIdx.x; j < m; j += blockDim.x)
            for (int k = 0; k < 3; ++k)
                atomicAdd(&points[(i * n + idx[i * m + j]) * 3 + k], grad[(i * m + j) * 3 + k]);
}
void scatter_points(int b, int n, int m, const float* grad, const int* idx, float* points) {
    scatter<<<2, 64>>>(b, n, m, grad, idx, points);
}""")
    _, idx, points = confirmation.contract.tensors
    assert confirmation.contract.questions == ()
    assert (idx.bound, points.role, points.shape) == ("n", Role.INOUT, ("3 * b * n",))
    assert reference.because == ""


def test_an_array_of_structs_has_no_part_of_one(confirmed):
    confirmation = confirmed("""
struct Particle { float x, y, z, mass; };
__global__ void moved(Particle* p, const Particle* by, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { p[i].x += dt * by[i].x; p[i].y += dt * by[i].y; p[i].mass = by[i].z; }
}
void move(Particle* p, const Particle* by, float dt, int n) { moved<<<(n + 127) / 128, 128>>>(p, by, dt, n); }
""")
    p, by = confirmation.contract.tensors
    assert confirmation.contract.questions == ()
    assert (p.role, p.shape, p.group) == (Role.INOUT, ("4 * n",), 4)
    assert (by.role, by.shape) == (Role.IN, ("4 * n",))


@pytest.mark.parametrize(("asked", "has_workload"), [("isnan(v)", True), ("v > 1e30f", False)])
def test_what_is_written_for_no_numbers_alone_is_as_long_as_they_are_many(confirmed, asked, has_workload):
    confirmation = confirmed(f"""
__global__ void cleared(float* depth, const float* normals, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        float v = normals[3 * i];
        if ({asked}) depth[i] = 0;
    }}
}}
void clear(float* depth, const float* normals, int n) {{ cleared<<<(n + 127) / 128, 128>>>(depth, normals, n); }}
""")
    depth, normals = confirmation.contract.tensors
    assert normals.shape[0].startswith("3 * n") or normals.shape == ("3 * (n - 1) + 1",)
    assert depth.shape == (("n",) if has_workload else ("1",))
    distributions = [w.distribution for w in confirmation.contract.workloads]
    assert (Distribution.SPECIALS in distributions) is has_workload
    if has_workload:
        assert depth.role is Role.INOUT


def test_bins_that_data_decide_on_are_as_many_as_hold_all_runs_and_told(judge):
    """Angles between points that are close to each other fall into the first bin, in whichever number they are."""
    confirmation, reference = judge("""
__global__ void angles(const float* degrees, int* bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; i < n && j < n && j < 16; ++j) {
        float apart = fabsf(degrees[i] - degrees[j]);
        if (apart > 0.02f) atomicAdd(&bins[(int)(apart * 40.0f)], 1);
    }
}""")
    degrees, bins = confirmation.contract.tensors
    assert confirmation.trouble == ""
    assert confirmation.enlarged == ("bins",)
    assert bins.shape[0].isdigit()
    assert int(bins.shape[0]) >= 1024
    assert degrees.shape == ("n",)
    assert unsound(reference) == ""


def test_a_slice_of_an_image_is_understood_where_it_reaches_the_last_row(judge):
    confirmation, reference = judge("""
#include <cassert>
__global__ void copy(
    const float* x, float* y, int rows, int cols, int height, int width, int planes, int row, int col
) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols * planes) {
        int c = i % cols, r = i / cols % rows, p = i / cols / rows;
        y[i] = x[(p * height + row + r) * width + col + c];
    }
}
void slice(
    const float* x, float* y, int rows, int cols, int height, int width, int planes, int row, int col
) {
    assert(row + rows <= height);
    assert(col + cols <= width);
    copy<<<(rows * cols * planes + 255) / 256, 256>>>(x, y, rows, cols, height, width, planes, row, col);
}""")
    x, y = confirmation.contract.tensors
    assert confirmation.contract.questions == ()
    assert set(x.shape[0].split(" * ")) == {"height", "width", "planes"}
    assert set(y.shape[0].split(" * ")) == {"rows", "cols", "planes"}
    assert not confirmation.inferred
    assert reference.because == ""


@pytest.mark.parametrize("taken", ["const std::vector<float>& by", "std::array<float, 3> by"])
def test_a_list_of_numbers_has_those_that_the_launcher_reads(judge, taken):
    confirmation, reference = judge(
        """
#include <array>
#include <vector>
__global__ void scale(float* x, float a, float b, float c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * a + b * c;
}
void scaled(float* x, LIST, int n) {
    scale<<<(n + 255) / 256, 256>>>(x, by[0], by[1], by[2], n);
}""".replace("LIST", taken)
    )
    assert confirmation.contract.questions == ()
    assert [a.name for a in confirmation.contract.arguments] == ["x", "by[0]", "by[1]", "by[2]", "n"]
    assert reference.because == ""


def test_a_kernel_is_run_with_the_blocks_that_its_own_launch_makes_of_its_sizes(judge):
    confirmation, reference = judge("""
__global__ void tell(const float* x, float* y, int rows, int cols) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * cols + threadIdx.x]);
    __syncthreads();
    y[blockIdx.x * cols + threadIdx.x] = sum / cols;
}
class Layer { public: void run(float* a, float* b, int m, int n) { tell<<<m, n>>>(a, b, m, n); } int state; };
""")
    launch = confirmation.contract.entry.launch
    assert (launch.grid[0], launch.block[0]) == ("rows", "cols")
    assert [t.shape for t in confirmation.contract.tensors] == [("rows * cols",)] * 2
    assert reference.because == ""


def test_sizes_that_fill_an_array_of_a_thread_are_held_to_its_extent(judge):
    confirmation, reference = judge("""
__global__ void mix(const float* x, float* y, int pixels, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    float own[4];
    for (int c = 0; c < channels; ++c) own[c] = x[i * channels + c];
    for (int c = 0; c < channels; ++c) y[i * channels + c] = own[c] - own[channels - 1 - c];
}
void mixed(const float* x, float* y, int pixels, int channels) {
    mix<<<(pixels + 255) / 256, 256>>>(x, y, pixels, channels);
}""")
    assert confirmation.inferred == ("channels <= 4",)
    assert {w.sizes["channels"] for w in confirmation.contract.workloads} == {3, 4}
    assert reference.because == ""


def test_no_size_is_held_to_an_array_of_one_or_two_elements(confirmed):
    confirmation = confirmed("""
__global__ void nearest(const float* x, float* y, int pixels, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    float best[2];
    for (int c = 0; c < k; ++c) best[c] = x[i] * c;
    for (int c = 0; c < k; ++c) y[i * k + c] = best[c];
}
void found(const float* x, float* y, int pixels, int k) { nearest<<<(pixels + 255) / 256, 256>>>(x, y, pixels, k); }""")
    assert "k <= 2" not in confirmation.inferred


def test_rows_that_a_count_fills_are_more_than_the_one_that_small_counts_reach(judge):
    """The first thread of a row reads all of it, so that a count below a row's width touches one whole row."""
    confirmation, reference = judge("""
__global__ void pull(const float* x, float* y, int count, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = x[i];
    if (i % width == 0)
        for (int j = 1; j < width; ++j) sum += x[i + j];
    y[i] = sum;
}
void pulled(const float* x, float* y, int count, int width) {
    pull<<<(count + 255) / 256, 256>>>(x, y, count, width);
}""")
    assert confirmation.contract.questions == ()
    assert confirmation.contract.tensors[0].shape != ("width",)
    assert reference.because == ""


def test_code_that_guards_none_of_its_tiles_has_sizes_of_whole_tiles_and_no_further_axis(judge):
    confirmation, reference = judge("""
#include <torch/extension.h>
__global__ void add(const float* x, const float* y, float* z, int rows, int columns) {
    for (int row = threadIdx.x; row < (rows + 31) / 32 * 32; row += 32)
        for (int c = 0; c < columns; ++c) {
            const int i = (blockIdx.x * rows + row) * columns + c;
            z[i] = x[i] + y[i];
        }
}
torch::Tensor added(torch::Tensor x, torch::Tensor y) {
    auto z = torch::zeros_like(x);
    add<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), z.data_ptr<float>(), x.size(1), x.size(2));
    return z;
}""")
    x, y = confirmation.contract.tensors
    assert len(x.shape) == 3
    assert y.shape in (x.shape, (" * ".join(x.shape),))
    assert confirmation.inferred == (f"{x.shape[1]} % 32 == 0",)
    assert reference.because == ""


WHOLE_TILES = """
#include <cuda_fp16.h>
__global__ void turn(const half* x, float* y, int cols) {
    extern __shared__ float row[];
    const uint4* wide = reinterpret_cast<const uint4*>(x + blockIdx.x * cols);
    for (int j = threadIdx.x; j < cols / 8; j += blockDim.x) {
        uint4 v = wide[j];
        for (int k = 0; k < 8; ++k) row[8 * j + k] = __half2float(reinterpret_cast<half*>(&v)[k]);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = row[cols - 1 - c];
}
void run(const half* x, float* y, int rows, int cols) { turn<<<rows, 64, cols * 4 + 4>>>(x, y, cols); }
"""


def test_rows_too_short_for_a_whole_vector_do_not_hide_what_the_vectors_span(judge):
    confirmation, reference = judge(WHOLE_TILES)
    x, y = confirmation.contract.tensors
    assert confirmation.inferred == ("cols % 8 == 0",)
    assert (x.shape, y.shape) == (("rows * cols",), ("rows * cols",))
    assert reference.because == ""


def test_what_reads_unwritten_memory_at_all_sizes_is_not_believed_at_rounder_ones(judge):
    _, reference = judge(WHOLE_TILES.replace("row[cols - 1 - c]", "row[cols - c]"))
    assert "never written" in reference.because


WHOLE_CHUNKS = WHOLE_TILES.replace("cols / 8;", "cols / 128;").replace(
    "        uint4 v = wide[j];\n        for (int k = 0; k < 8; ++k) row[8 * j + k] ="
    " __half2float(reinterpret_cast<half*>(&v)[k]);",
    "        for (int k = 0; k < 128; ++k) row[128 * j + k] = __half2float(x[blockIdx.x * cols + 128 * j + k]);",
)


def test_that_nothing_is_touched_at_rounder_sizes_explains_no_extent(judge):
    confirmation, reference = judge(WHOLE_CHUNKS)
    x, _ = confirmation.contract.tensors
    assert confirmation.inferred == ("cols % 128 == 0",)
    assert x.shape == ("rows * cols",)
    assert reference.because == ""


BUTTERFLIES = WHOLE_TILES.replace(
    "    __syncthreads();\n",
    """    __syncthreads();
    for (int len = 1; len < cols; len <<= 1) {
        for (int n = threadIdx.x; n < cols / 2; n += blockDim.x) {
            int i = n / len * len * 2 + n % len;
            float a = row[i], b = row[i + len];
            row[i] = a + b;
            row[i + len] = a - b;
        }
        __syncthreads();
    }
""",
).replace("cols * 4 + 4", "cols * 8")


def test_a_size_that_only_has_others_drawn_rounder_is_no_condition(judge):
    confirmation, reference = judge(BUTTERFLIES)
    assert not any("rows" in condition for condition in confirmation.inferred)
    assert any("cols == pow2ceil(cols)" in condition for condition in confirmation.inferred)
    assert reference.because == ""


ONE_OF_FOUR = """
__global__ void add(const float* a, const float* b, float* c) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    c[i] = a[i] + b[i];
}
void run(const float* a, const float* b, float* c, int blocks) { add<<<blocks, 64>>>(a, b, c); }
"""


def test_a_kernel_that_uses_one_element_of_several_has_an_extent(judge):
    confirmation, reference = judge(ONE_OF_FOUR)
    assert not confirmation.contract.questions
    a, _, c = confirmation.contract.tensors
    assert (a.shape, c.shape) == (("256 * blocks - 3",),) * 2
    assert reference.because == ""
