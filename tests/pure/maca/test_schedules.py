"""What can be turned in MACA C++."""

from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.evolve.space import AS_IS
from porter.source_text import Source
from porter_maca.features import features
from porter_maca.schedules import knobs, tuned
from porter_maca.targets import targets

TEXT = """\
#include <mc_runtime.h>
#define THREADS 256

__global__ void sums(const float* x, float* y, int n, int m) {
    float sum = 0;
    for (int r = 0; r < m; ++r) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[r * n + i];
    }
    atomicAdd(y, sum);
}

void run(const float* x, float* y, int n, int m) { sums<<<m, THREADS>>>(x, y, n, m); }
"""


def file(text):
    return (PortedFile("k.maca.cpp", text, Source(Path("k.cu"), text)),)


def turned(point, text=TEXT):
    found = tuned(file(text), point, targets()[0])
    return found[0].text if found else None


def test_a_kernel_has_unrolling_and_bounds():
    assert {knob.name: knob.values for knob in knobs(file(TEXT), targets()[0])} == {
        "sums.unroll": (AS_IS, 1, 2, 4, 8),
        "sums.blocks": (AS_IS, 1, 2, 4, 8),
    }


def test_the_innermost_loop_is_written_out():
    assert turned({"sums.unroll": 4}) == TEXT.replace(
        "        for (int i", "        #pragma unroll 4\n        for (int i"
    )


def test_a_pragma_that_stands_there_is_replaced():
    text = TEXT.replace("        for (int i", "#pragma unroll\n        for (int i")
    assert turned({"sums.unroll": 2}, text) == text.replace("#pragma unroll", "#pragma unroll 2")


def test_bounds_have_the_threads_of_the_launch():
    assert turned({"sums.blocks": 2}) == TEXT.replace("__global__ void", "__global__ __launch_bounds__(256, 2) void")


@pytest.mark.parametrize("launch", ["sums<<<m, n>>>", "sums<<<m, n > 9 ? 64 : 32>>>"])
def test_threads_that_only_a_run_knows_give_no_bounds(launch):
    names = {knob.name for knob in knobs(file(TEXT.replace("sums<<<m, THREADS>>>", launch)), targets()[0])}
    assert names == {"sums.unroll"}


def test_of_overloaded_kernels_one_is_turned():
    text = TEXT.replace(
        "#define THREADS 256\n", "#define THREADS 256\n__global__ void sums(int* x) { for (;;) x[0]++; }\n"
    )
    assert len(knobs(file(text), targets()[0])) == 2
    assert turned({"sums.unroll": 4}, text).count("#pragma unroll 4") == 1


def test_a_knob_that_the_text_has_not_is_refused():
    assert turned({"other.unroll": 2}) is None
    assert turned({"sums.unroll": AS_IS}) == TEXT


@pytest.mark.parametrize(
    ("before", "after", "cell"),
    [
        ("atomicAdd(y, sum)", "y[0] = sum", (0, 1, 0)),
        ("", "", (0, 3, 1)),
        ("float sum = 0", "float4 v; float sum = 0", (1, 3, 1)),
        ("float sum = 0", "__shared__ float part[32]; float sum = 0", (2, 3, 1)),
        ("atomicAdd(y, sum)", "y[0] = __shfl_up_sync(-1, sum, 1)", (0, 2, 2)),
    ],
)
def test_features_of_a_source(before, after, cell):
    assert features(TEXT.replace(before, after, 1) if before else TEXT) == cell


CHOSEN = """\
__device__ float4 pack(const float* x) { return *reinterpret_cast<const float4*>(x); }
__global__ void copy_packs(const float* x, float* y, int n) { y[threadIdx.x] = pack(x + 4 * threadIdx.x).x; }
__global__ void copy_tail(const float* x, float* y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; }
void run(const float* x, float* y, int n) {
    if (n % 4 == 0) copy_packs<<<1, 32>>>(x, y, n);
    else copy_tail<<<1, 32>>>(x, y, n);
}
"""


def test_a_choice_between_kernels_is_told_by_the_faster_one():
    assert features(CHOSEN) == (1, 0, 0)
    assert features(CHOSEN.replace("    else ", "    ")) == (1, 3, 0)
    returned = CHOSEN.replace(
        "copy_packs<<<1, 32>>>(x, y, n);\n    else", "{ copy_packs<<<1, 32>>>(x, y, n); return; }\n   "
    )
    assert features(returned) == (1, 0, 0)


ELEMENTS = """\
#include <mc_runtime.h>

__global__ void scale(const float* __restrict__ x, const float* w, float* y, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * x[i] + w[0];
}

void run(const float* x, const float* w, float* y, float a, int n, dim3 grid) {
    if (n > 9) scale<<<(n + 255) / 256, 256>>>(x, w, y, a, n);
    else scale<<<grid, 256>>>(x, w, y, a, n);
}
"""
TURNED = """\
#include <mc_runtime.h>
static inline dim3 fewer_scale(dim3 grid) { grid.x = (grid.x + 4 - 1) / 4; return grid; }


__global__ void scale(const float* __restrict__ x, const float* w, float* y, float a, int n) {
    float x_held[4];
#pragma unroll
    for (unsigned turn_ = 0; turn_ < 4u; ++turn_) {
        const int i = (blockIdx.x * 4u + turn_) * blockDim.x + threadIdx.x;
        if (i < n) { x_held[turn_] = x[i]; }
    }
#pragma unroll
    for (unsigned turn_ = 0; turn_ < 4u; ++turn_) {
        const int i = (blockIdx.x * 4u + turn_) * blockDim.x + threadIdx.x; [&]() {
    if (i >= n) return;
    y[i] = a * x_held[turn_] + w[0];
 }(); }
}

void run(const float* x, const float* w, float* y, float a, int n, dim3 grid) {
    if (n > 9) scale<<<fewer_scale((n + 255) / 256), 256>>>(x, w, y, a, n);
    else scale<<<fewer_scale(grid), 256>>>(x, w, y, a, n);
}
"""


def test_a_thread_loads_for_all_turns_before_it_computes_one():
    assert turned({"scale.turns": 4}, ELEMENTS) == TURNED


def test_what_is_bounded_as_a_whole_needs_no_return():
    text = ELEMENTS.replace("if (i >= n) return;\n    y[i]", "if (i < n) y[i]")
    assert "[&]" not in turned({"scale.turns": 2}, text)
    assert "if (i < n) y[i] = a * x_held[turn_] + w[0];" in turned({"scale.turns": 2}, text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if (i >= n) return;", ""),  # nothing says where it ends
        ("if (i >= n) return;", "if (i >= n || a == 0) return;"),
        ("if (i >= n) return;", "if (i >= n) return; if (gridDim.x > 1) y[0] = 0;"),
        ("if (i >= n) return;", "if (i >= n) return; __syncthreads();"),
        ("if (i >= n) return;", "if (i >= n) return; y[i] = blockIdx.x;"),
        ("y[i] = a * x[i]", "y[i] = a * x[i] + x[i + 1]"),  # read elsewhere, too
        ("y[i] = a * x[i]", "y[i] = a * *(x + i)"),
        ("const float* __restrict__ x", "float* x"),  # written perhaps
        ("const int i", "int turn_ = 0; const int i"),  # a name that it would get
        ("else scale<<<", "auto pointer = &scale; else scale<<<"),  # launched otherwise, too
        ("blockIdx.x", "blockIdx.y"),
    ],
)
def test_kernels_of_another_form_are_left_alone(one, other):
    assert one in ELEMENTS
    text = ELEMENTS.replace(one, other)
    assert "scale.turns" not in {knob.name for knob in knobs(file(text), targets()[0])}


def test_a_device_function_that_exchanges_leaves_no_turns():
    text = ELEMENTS.replace(
        "__global__", "__device__ float all(float v) { return __shfl_sync(~0u, v, 0); }\n__global__"
    )
    assert "scale.turns" not in {knob.name for knob in knobs(file(text), targets()[0])}


STRIDED = """\
__global__ void sum(const float* x, float* y, size_t n) {
    const float* row = x + blockIdx.x * n;
    float all = 0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) all += row[i];
    atomicAdd(y, all);
}
"""
BATCHED = """\
__global__ void sum(const float* x, float* y, size_t n) {
    const float* row = x + blockIdx.x * n;
    float all = 0;
    for (long long first_ = threadIdx.x; first_ < n; first_ += 2ll * (blockDim.x)) {
float row_held[2];
#pragma unroll
for (unsigned turn_ = 0; turn_ < 2u; ++turn_) {
const long long at_ = first_ + turn_ * static_cast<long long>(blockDim.x);
if (at_ < n) { row_held[turn_] = row[at_]; }
}
#pragma unroll
for (unsigned turn_ = 0; turn_ < 2u; ++turn_) {
const long long at_ = first_ + turn_ * static_cast<long long>(blockDim.x);
if (at_ < n) { const size_t i = at_;  all += row_held[turn_]; } } }
    atomicAdd(y, all);
}
"""


def test_a_loop_loads_for_several_turns_and_keeps_their_order():
    assert turned({"sum.batch": 2}, STRIDED) == BATCHED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("all += row[i];", "{ all += row[i]; if (all > 9) break; }"),
        ("all += row[i];", "{ all += row[i]; __syncthreads(); }"),
        ("all += row[i];", "all += row[i] + row[i + 1];"),
        ("all += row[i];", "{ all += row[i]; i += 1; }"),
        ("all += row[i];", "for (int k = 0; k < 2; ++k) all += row[i];"),
        ("const float* row", "float* row"),
        ("i < n;", "i < n && all < 9;"),
        ("size_t i = threadIdx.x", "auto i = threadIdx.x"),
        ("float all = 0;", "float all = 0, first_ = 0;"),
    ],
)
def test_loops_of_another_form_are_left_alone(one, other):
    assert one in STRIDED
    assert "sum.batch" not in {knob.name for knob in knobs(file(STRIDED.replace(one, other)), targets()[0])}


def test_knobs_that_turn_the_same_text_are_not_turned_together():
    text = ELEMENTS.replace("y[i] =", "for (int k = 0; k < int(x[i]); k += 2) y[i] += w[k];\n    y[i] +=")
    names = {knob.name for knob in knobs(file(text), targets()[0])}
    assert {"scale.turns", "scale.batch"} <= names
    assert turned({"scale.turns": 2}, text)
    assert turned({"scale.turns": 2, "scale.batch": 2}, text) is None
