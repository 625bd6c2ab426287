"""Grids, blocks, barriers and warps: what a correct kernel sees."""

from __future__ import annotations

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.execution.job import Callee, Schedule
from porter.source.program import CType
from porter_maca.dialect import MACA

SCHEDULES = list(Schedule)
WIDTHS = [{"warp_size": 32}, {"warp_size": 64, "dialect": MACA}]

INDICES = """
__global__ void k(unsigned* out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
"""

TREE = """
__global__ void k(const float* x, float* y, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.f;
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1) {
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
"""

TWO_STAGE = """
__global__ void k(const float* x, float* y) {
    __shared__ float partial[32];
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down_sync(~0ull, v, o);
    if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = v;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        v = threadIdx.x < blockDim.x / warpSize ? partial[threadIdx.x] : 0.f;
        for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_xor_sync(~0ull, v, o);
        if (threadIdx.x == 0) y[blockIdx.x] = v;
    }
}
"""

VOTES = """
__global__ void k(unsigned long long* out) {
    int t = threadIdx.x;
    unsigned long long b = __ballot_sync(~0ull, t % 3 == 0);
    int all = __all_sync(~0ull, t >= 0), any = __any_sync(~0ull, t == 5);
    unsigned long long together = 0;
    if (t % 2 == 1) together = __activemask();
    unsigned long long same = __match_any_sync(~0ull, t / 4);
    int count = __syncthreads_count(t < 7), both = __syncthreads_and(t < 7), either = __syncthreads_or(t == 63);
    if (t == 1) {
        out[0] = b; out[1] = all; out[2] = any; out[3] = together; out[4] = same;
        out[5] = count; out[6] = both; out[7] = either;
    }
}
"""

SEGMENTS = """
__global__ void k(int* out) {
    int t = threadIdx.x;
    out[t] = __shfl_sync(~0ull, t, 1, 8);
    out[64 + t] = __shfl_up_sync(~0ull, t, 2, 16);
    out[128 + t] = __shfl_xor_sync(~0ull, t, 3, 4);
    if (t < 16) out[192 + t] = __shfl_sync(0xffffull, t, 15 - t);
}
"""

DYNAMIC = """
template <class T>
__global__ void reversed(T* x) {
    extern __shared__ char raw[];
    T* s = reinterpret_cast<T*>(raw);
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("build", WIDTHS)
def test_every_thread_of_a_3d_grid_runs_once(execute, schedule, build):
    run = execute(
        INDICES, [np.zeros(24 * 60, np.uint32)], build=build, grid=(2, 3, 4), block=(5, 4, 3), schedule=schedule
    )
    want = np.add.outer(1000 * np.arange(24), np.arange(60)).ravel()
    assert run.finished
    assert not run.faults
    np.testing.assert_array_equal(run.outputs[0].storage, want)
    assert run.launches[0].grid == (2, 3, 4)
    assert run.launches[0].block == (5, 4, 3)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("build", WIDTHS)
def test_shared_memory_tree_sums_without_a_fault(execute, schedule, build):
    x = np.arange(1000, dtype=np.float32)
    run = execute(
        TREE, [x, np.zeros(4, np.float32), 1000], build=build, grid=(4, 1, 1), block=(256, 1, 1), schedule=schedule
    )
    assert not run.faults
    np.testing.assert_array_equal(run.outputs[1].storage, [x[i * 256 : (i + 1) * 256].sum() for i in range(4)])


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("build", WIDTHS)
def test_two_stage_shuffle_reduction_sums_without_a_fault(execute, schedule, build):
    x = np.arange(1024, dtype=np.float32)
    run = execute(
        TWO_STAGE, [x, np.zeros(2, np.float32)], build=build, grid=(2, 1, 1), block=(512, 1, 1), schedule=schedule
    )
    assert not run.faults
    np.testing.assert_array_equal(run.outputs[1].storage, [x[:512].sum(), x[512:].sum()])


@pytest.mark.parametrize("build", WIDTHS)
def test_votes_matches_and_counting_barriers(execute, build):
    run = execute(VOTES, [np.zeros(8, np.int64)], build=build, block=(64, 1, 1))
    width = build["warp_size"]
    assert not run.faults
    odd = sum(1 << i for i in range(1, width, 2))
    third = sum(1 << i for i in range(0, width, 3))
    assert [int(v) % 2**64 for v in run.outputs[0].storage] == [third, 1, 1, odd, 0b1111, 7, 0, 1]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("build", WIDTHS)
def test_shuffles_in_segments_and_under_partial_masks(execute, schedule, build):
    run = execute(SEGMENTS, [np.zeros(208, np.int32)], build=build, block=(64, 1, 1), schedule=schedule)
    t = np.arange(64)
    assert not run.faults
    got = run.outputs[0].storage
    np.testing.assert_array_equal(got[:64], t // 8 * 8 + 1)
    np.testing.assert_array_equal(got[64:128], np.where(t % 16 < 2, t, t - 2))
    np.testing.assert_array_equal(got[128:192], t ^ 3)
    np.testing.assert_array_equal(got[192:], 15 - np.arange(16))


def test_dynamic_shared_memory_has_the_size_of_the_launch(execute):

    x = np.arange(96, dtype=np.float64)
    doubles = {"callees": (Callee(Entry(EntryKind.KERNEL, "reversed", ("double",))),)}
    run = execute(DYNAMIC, [x], build=doubles, block=(96, 1, 1), shared_bytes=96 * 8)
    assert not run.faults
    np.testing.assert_array_equal(run.outputs[0].storage, x[::-1])


def test_threads_that_return_early_count_as_arrived(execute):
    text = """
    __global__ void k(int* out) {
        if (threadIdx.x >= 40) return;
        __shared__ int s;
        if (threadIdx.x == 0) s = 7;
        __syncthreads();
        out[threadIdx.x] = s;
    }"""
    run = execute(text, [np.zeros(40, np.int32)], block=(64, 1, 1))
    assert not run.faults
    assert (run.outputs[0].storage == 7).all()


def test_named_barriers_join_the_threads_they_count(execute):
    text = """
    __global__ void k(int* out) {
        __shared__ int s;
        if (threadIdx.x < 64) {
            if (threadIdx.x == 0) s = 5;
            porter::simt::named_barrier(1, 64);
            out[threadIdx.x] = s;
        }
    }"""
    run = execute(text, [np.zeros(64, np.int32)], block=(128, 1, 1))
    assert not run.faults
    assert (run.outputs[0].storage == 5).all()


def test_double_precision_computes_in_double(execute):
    text = "__global__ void k(float* x) { float third = 1.0f / 3.0f; x[0] = third; x[1] = expf(x[1]); }"
    run = execute(text, [np.array([0, 1], np.float32)], build={"double_precision": True, "watched": False})
    assert run.outputs[0].storage.dtype == np.float64
    np.testing.assert_allclose(run.outputs[0].storage, [1 / 3, np.e], rtol=1e-15)


def test_a_lambda_by_value_sees_shared_memory_itself(execute):
    text = """
    __global__ void k(int* out) {
        __shared__ int s[32];
        s[threadIdx.x] = 0;
        auto get = [=](int i) { return s[i]; };
        s[threadIdx.x] = threadIdx.x;
        __syncthreads();
        out[threadIdx.x] = get(31 - threadIdx.x);
    }"""
    run = execute(text, [np.zeros(32, np.int32)], block=(32, 1, 1))
    assert not run.faults
    np.testing.assert_array_equal(run.outputs[0].storage, 31 - np.arange(32))


def test_launches_in_macros_with_null_and_braced_arguments(execute):

    text = """
    struct P { int a; float b; };
    __global__ void k(float* x, P p, float* none) { if (!none) x[threadIdx.x] = p.a + p.b; }
    template <int A, int B> __global__ void put(float* x) { x[A] = B; }
    #define GO(K, ...) K<<<1, \\
        32>>>(__VA_ARGS__)
    void f(float* x) {
        P p{1, 2.f};
        GO(k, x, p, nullptr);
        k<<<1, 16>>>(x, {3, 4.f}, NULL);
        (put<1, (3 > 2) ? 8 : 9>)<<<dim3(1), {1, 1, 1}, 0, 0>>>(x);
        auto kernel = &put<2, 9>;
        kernel<<<1, 1, size_t{0}>>>(x);
    }"""
    run = execute(text, [np.zeros(32, np.float32)], name="f", kind=EntryKind.POINTER)
    assert not run.faults
    assert run.outputs[0].storage.tolist() == [7, 8, 9] + [7] * 13 + [3] * 16
    assert [(r.kernel, r.line) for r in run.launches] == [
        ("k", 9), ("k", 10), ("put<1, (3 > 2) ? 8 : 9>", 11), ("kernel", 13),
    ]  # fmt: skip


def test_an_overload_is_picked_by_its_parameters(execute):

    text = "void f(double* x) {}\n__global__ void k(float* x) { x[0] = 5; }\nvoid f(float* x) { k<<<1, 1>>>(x); }"
    build = {"callees": (Callee(Entry(EntryKind.POINTER, "f"), (CType("float*", "float", 1),)),)}
    run = execute(text, [np.zeros(1, np.float32)], build=build)
    assert run.outputs[0].storage[0] == 5


@pytest.mark.parametrize(("name", "template"), [("f", ()), ("g", ("float", "Kind::PLAIN"))])
def test_templates_are_called_from_their_namespace(execute, name, template):
    text = (
        "namespace a::b { enum class Kind { PLAIN }; __global__ void k(float* x) { x[0] = 5; }\n"
        "template <class T> void f(T* x);\nvoid f(double* x) {}\n"
        "template <> void f(float* x) { k<<<1, 1>>>(x); }\n"
        "template <class T, Kind kind> void g(T* x) { k<<<1, 1>>>(x); } }"
    )
    entry = Entry(EntryKind.POINTER, f"a::b::{name}", template)
    build = {"callees": (Callee(entry, (CType("float*", "float", 1),)),)}
    run = execute(text, [np.zeros(1, np.float32)], build=build)
    assert run.outputs[0].storage[0] == 5


def test_a_forced_inline_function_can_be_called_by_its_address(execute):
    text = """
    __device__ __forceinline__ float twice(float v) { return 2 * v; }
    template <class F> __device__ __noinline__ float apply(F f, float v) { return f(v); }
    __global__ void k(float* x) { x[threadIdx.x] = apply(twice, x[threadIdx.x]); }"""
    run = execute(text, [np.ones(32, np.float32)], block=(32, 1, 1))
    assert run.outputs[0].storage.tolist() == [2.0] * 32


@pytest.mark.parametrize(
    ("returned", "dtype"),
    [("float", DType.FLOAT32), ("double", DType.FLOAT64), ("int", DType.INT32), ("bool", DType.BOOL)],
)
def test_a_number_that_a_function_returns_is_a_result(execute, returned, dtype):
    text = f"""
    __global__ void k(float* x) {{ x[0] += 1; }}
    {returned} f(float* x) {{
        k<<<1, 1>>>(x);
        float first;
        cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
        return first;
    }}"""
    build = {"callees": (Callee(Entry(EntryKind.POINTER, "f"), (CType("float*", "float", 1),)),)}
    (result,) = execute(text, [np.zeros(1, np.float32)], build=build).results
    assert (result.dtype, result.shape, result.storage.item()) == (dtype, (), 1)


PRINTS = """
__global__ void k(int* out) {
    printf("%d.%d\\n", blockIdx.x, threadIdx.x);
    if (threadIdx.x == 0) puts("first");
    __syncthreads();
    if (threadIdx.x == 1) { printf("m"); printf("et\\n"); }
    out[threadIdx.x] = threadIdx.x;
}
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_threads_print_has_one_order_whatever_theirs(execute, schedule):
    run = execute(PRINTS, [np.zeros(2, np.int32)], grid=(2, 1, 1), block=(2, 1, 1), schedule=schedule)
    assert run.stdout.split() == ["0.0", "first", "0.1", "met", "1.0", "first", "1.1", "met"]


def test_a_launch_prints_when_it_has_ended(execute):
    text = """
    #include <cstdio>
    __global__ void k(int* out) { printf("k%d ", threadIdx.x); out[threadIdx.x] = 1; }
    void f(int* out) { std::printf("a "); k<<<1, 2, 0, cudaStreamDefault>>>(out);
        cudaStreamSynchronize(cudaStreamDefault); puts("b"); k<<<1, 1>>>(out); std::fputs("c", stdout); }
    """
    run = execute(text, [np.zeros(2, np.int32)], name="f", kind=EntryKind.POINTER)
    assert run.stdout == "a k0 k1 b\nk0 c"
