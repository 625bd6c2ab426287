"""Builds and executes kernels that use CUDA's libraries and newer C++."""

import functools
import operator
import re

import numpy as np
import pytest

from porter.ir.simt.builder.errors import NotExpressibleError
from tests.pure.ir.simt.test_builder import built, one, run

BEFORE = """
enum class Mode : unsigned char { A, B, C = 7 };
namespace n { enum class Way { UP, DOWN }; }
template <typename... T> __device__ int count(T... v) { return sizeof...(v); }
__device__ int total(int v) { return v; }
template <typename... T> __device__ int total(int v, T... rest) { return v + total(rest...); }
template <typename F, typename... T> __device__ int called(F f, T... v) { return f(v...); }
struct Held { template <typename... T> __device__ int sum(int v, T... rest) const { return total(v, rest...); } };
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Mode m = t > 3 ? Mode::A : Mode::C; out[t] = (int)m + (m == Mode::A);", lambda t: 1 if t > 3 else 7),
        ("n::Way w = n::Way::DOWN; switch (w) { case n::Way::UP: out[t] = 1; break; default: out[t] = 5; }",
         lambda _: 5),
        ("out[t] = total(t, 2, 3) + 10 * count(t, 1.f, t) + 100 * count();", lambda t: t + 35),
        ("out[t] = called([&](int a, int b) { return a * 10 + b; }, t, 4) + Held().sum(1, t);", lambda t: 11 * t + 5),
        ("int a[4]; memset(a, 0, sizeof(a)); a[t & 3] = 3; out[t] = a[1];", lambda t: 3 if t % 4 == 1 else 0),
        ("short a[2]; memset(a, 0xff, sizeof(a)); out[t] = a[1];", lambda _: -1),
        ("float4 a[2]; a[1].y = 5; memset(a, 0.0f, sizeof(a)); a[t & 1].x = t; out[t] = a[1].x + a[1].y;",
         lambda t: t if t % 2 else 0),
        ("float a[2]; memset(a, 0x40, sizeof(a)); out[t] = 1000 * a[1];", lambda _: 3003),
        ("int* p = new int[3]; p[t % 3] = t; out[t] = p[t % 3]; delete[] p;", lambda t: t),
        ("int* p = (int*)malloc(12); p[2] = t; out[t] = p[2]; free(p);", lambda t: t),
        ("std::array<int, 3> a = {1, 2, t}; int s = 0; for (int v : a) s += v; out[t] = s + a.size() + a[2];",
         lambda t: 6 + 2 * t),
        ("cuda::std::array<int, 2> a{t, 4}; a[1] += a.front(); out[t] = a.back();", lambda t: t + 4),
        ("__shared__ int s[32]; int v[1] = {t}; __pipeline_memcpy_async(&s[t], v, 4); __pipeline_commit();"
         "__pipeline_wait_prior(0); __syncthreads(); out[t] = s[31 - t];", lambda t: 31 - t),
        ("out[t] = __shfl_down_sync(~0u, t, 1, 4 << (blockDim.x & 1));", lambda t: t + 1 if t % 4 < 3 else t),
        ("out[t] = __shfl_up_sync(~0u, t, 2, blockDim.x / 4);", lambda t: t - 2 if t % 8 > 1 else t),
        ("out[t] = __shfl_xor_sync(~0u, t, 3, blockDim.x / 2);", lambda t: t ^ 3),
        ("out[t] = __shfl_sync(~0u, t, 5, blockDim.x / 8);", lambda t: t // 4 * 4 + 1),
    ],
)  # fmt: skip
def test_what_kernels_take(body, expected):
    assert one(body, before=BEFORE) == [expected(t) for t in range(32)]


GROUPS = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("auto w = cg::tiled_partition<32>(cg::this_thread_block()); auto g = cg::labeled_partition(w, t % 3);"
         "out[t] = 100 * g.size() + g.thread_rank();", lambda t: 100 * len(range(t % 3, 32, 3)) + t // 3),
        ("auto w = cg::tiled_partition<16>(cg::this_thread_block()); auto g = cg::binary_partition(w, t % 16 < 5);"
         "out[t] = g.size();", lambda t: 5 if t % 16 < 5 else 11),
        ("auto w = cg::tiled_partition<8>(cg::this_thread_block()); out[t] = w.match_any(t % 4);",
         lambda t: 0x11 << t % 4),
        ("auto w = cg::tiled_partition<8>(cg::this_thread_block()); int all; out[t] = w.match_all(t / 8, all) + all;",
         lambda _: 256),
    ],
)  # fmt: skip
def test_groups_of_lanes_with_one_label(body, expected):
    assert one(body, before=GROUPS) == [expected(t) for t in range(32)]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("W(s).InclusiveSum(t, r); out[t] = r;", lambda t: t * (t + 1) // 2),
        ("int all; W(s).ExclusiveSum(t, r, all); out[t] = r + all;", lambda t: t * (t - 1) // 2 + 496),
        ("W(s).ExclusiveScan(t, r, 7, cub::Max()); out[t] = r;", lambda t: max(7, t - 1) if t else 7),
    ],
)
def test_scans_of_a_warp(call, expected):
    body = f"using W = cub::WarpScan<int>; __shared__ typename W::TempStorage s; int r; {call}"
    assert one(body, before="#include <cub/cub.cuh>\n") == [expected(t) for t in range(32)]


def test_philox_gives_the_numbers_that_its_authors_published():
    """The known answer of Philox4x32-10 for a counter and key of zeros (Salmon et al., Random123's kat_vectors)."""
    made = built("""__global__ void k(unsigned int* y) {
        curandStatePhilox4_32_10_t state;
        curand_init(0, 0, 0, &state);
        uint4 first = curand4(&state);
        y[0] = first.x; y[1] = first.y; y[2] = first.z; y[3] = first.w;
        curand_init(0, 0, 1, &state);
        y[4] = curand(&state);
        float u = curand_uniform(&state);
        y[5] = u > 0.f && u <= 1.f;
    }""")
    found = run(made, np.zeros(6, np.uint32), block=1)[0].tolist()
    assert found == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8, 0xE169C58D, 1]


def powers():
    """Computes what 1, 2, 4, ... steps of XORWOW make of each four bits of its five words, by stepping and squaring."""

    def after(rows, bits):
        return functools.reduce(operator.xor, (row for k, row in enumerate(rows) if bits >> k & 1), 0)

    rows, table = [], []
    for bit in range(160):
        v = [1 << bit >> 32 * word & 0xFFFFFFFF for word in range(5)]
        t = v[0] ^ v[0] >> 2
        v = [*v[1:], (v[4] ^ v[4] << 4 ^ t ^ t << 1) & 0xFFFFFFFF]
        rows.append(sum(word << 32 * place for place, word in enumerate(v)))
    for _ in range(131):
        table += [after(rows[d : d + 4], bits) for d in range(0, 160, 4) for bits in range(16)]
        rows = [after(rows, row) for row in rows]
    return np.array([value >> 32 * word & 0xFFFFFFFF for value in table for word in range(5)], np.uint32)


def test_xorwow_gives_nvidias_numbers_for_a_seed_a_subsequence_and_an_offset():
    """The numbers follow from the matrices of NVIDIA's curand_precalc.h, which are powers of the recurrence."""
    made = built("""__global__ void k(unsigned int* y) {
        curandState state;
        curand_init(0, 0, 0, &state);
        y[0] = curand(&state);
        curand_init(1234, 5, 3, &state);
        y[1] = curand(&state);
        curand_init(0x123456789ABCDEFull, (1ull << 40) + 77, (1ull << 33) + 1, &state);
        y[2] = curand(&state);
        y[3] = curand(&state);
    }""")
    found = run(made, np.zeros(4, np.uint32), powers(), block=1)[0].tolist()
    assert found == [3179217846, 1633321130, 3204306571, 3283417796]


def test_xorwow_keeps_the_second_normal_for_the_same_function_alone():
    made = built("""__global__ void k(float* y) {
        curandState state;
        curand_init(7, 0, 0, &state);
        curandState other = state;
        float2 first = curand_normal2(&state), second = curand_normal2(&state);
        y[0] = curand_normal(&other) == first.x;
        y[1] = curand_log_normal(&other, 0.5f, 2.f) == expf(0.5f + 2.f * second.x);
        y[2] = curand_log_normal(&other, 0.f, 1.f) == expf(0.5f + 2.f * second.y);
        y[3] = curand(&other) == curand(&state);
    }""")
    assert run(made, np.zeros(4, np.float32), block=1)[0].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("curandStateMRG32k3a s; out[t] = 1;", "the type 'curandStateMRG32k3a': this generator is not ported"),
        ("out[t] = tex1Dfetch<int>(0, t);", "a call of 'tex1Dfetch': textures and surfaces are not ported: read"),
        ("out[t] = clock64();", "a call of 'clock64': what the clock of a device says is not ported"),
        ("int* p = new int[out[t]]; out[t] = p[0];", "memory that a kernel allocates, of a size that is not known"),
        ("int* p = (int*)malloc(out[t]); out[t] = p[0];", "memory that a kernel allocates is not ported: give it"),
        ("thrust::complex<float> c(1.f, 2.f); out[t] = 1;", "complex numbers of this class are not ported"),
        ("out[t] = __shfl_sync(~0u, t, 1, 24);", "a shuffle among 24 lanes, which is no power of two"),
        ("auto g = cooperative_groups::this_grid(); g.sync();", "blocks that wait for each other: split the kernel"),
    ],
)
def test_what_is_not_ported_is_told_with_what_to_do(body, reason):
    with pytest.raises(NotExpressibleError, match=re.escape(reason)):
        one(body)


ORDERED = "struct Best { float d; int i; __device__ bool operator<(const Best& o) const { return d < o.d; } };"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Best a{1.f * (t % 4), t}, b{2.f, -1}; out[t] = std::max(a, b).i;", lambda t: t if t % 4 > 1 else -1),
        ("Best a{1.f * (t % 4), t}, b{2.f, -1}; out[t] = std::min(a, b).i;", lambda t: -1 if t % 4 > 2 else t),
        ('printf("%s", t > 3 ? "far" : "near"); out[t] = t;', lambda t: t),
        ("auto pick = [](int k) { return [k](int& l, int r) { l += k * r; }; }; int l = 1; pick(3)(l, t); out[t] = l;",
         lambda t: 1 + 3 * t),
    ],
)  # fmt: skip
def test_structs_with_an_order_and_values_that_calls_give(body, expected):
    assert one(body, before=ORDERED) == [expected(t) for t in range(32)]


def test_rows_of_a_type_that_the_template_is_given():
    made = built(
        """template <typename T> __global__ void k(T* y) {
        unsigned char bytes[24]; T (*rows)[3] = (T (*)[3])&bytes[0]; rows[1][2] = 5; y[0] = rows[1][2]; }""",
        "int",
    )
    assert run(made, np.zeros(1, np.int32), block=1)[0][0] == 5


COPIES = """
__device__ void copied(void* shared, const void* global, bool there) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  int bytes = there ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(bytes));
}
"""


def test_copies_in_the_background_are_done_at_once():
    made = built(f"""{COPIES} __global__ void k(float* y, const float* x) {{
        __shared__ __align__(16) float tile[5][4];
        copied(&tile[threadIdx.x][0], x + 4 * threadIdx.x, threadIdx.x % 2 == 0);
        if (threadIdx.x == 0) {{
          unsigned at = __cvta_generic_to_shared(tile);
          asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at + 64), "l"(x));
        }}
        asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group %0;" ::"n"(0));
        __syncthreads();
        for (int k = 0; k < 4; ++k) y[4 * threadIdx.x + k] = tile[threadIdx.x][k];
        if (threadIdx.x < 2) y[16 + threadIdx.x] = tile[4][threadIdx.x];
    }}""")
    x = np.arange(16, dtype=np.float32) + 1
    expected = [*np.where(np.arange(16) // 4 % 2 == 0, x, 0).tolist(), 1, 2]
    assert run(made, np.zeros(18, np.float32), x, block=4)[0].tolist() == expected


def test_an_address_of_other_memory_is_no_number():
    with pytest.raises(NotExpressibleError, match="an address as a number"):
        one("unsigned at = __cvta_generic_to_shared(out); out[t] = at;")


def test_rows_are_handed_on_as_they_are():
    made = built(
        """
        template <typename T, int N> __device__ T sum_of(T (*rows)[2][N], int k) {
          T s = 0;
          for (int i = 0; i < N; ++i) s += rows[k][0][i] * rows[k][1][i];
          return s;
        }
        template <typename T> __global__ void k(T* y) {
          T tile[3][2][4];
          for (int r = 0; r < 3; ++r) for (int i = 0; i < 4; ++i) { tile[r][0][i] = i + r; tile[r][1][i] = r; }
          T (*rows)[2][4] = tile;
          y[0] = sum_of<T, 4>(rows, 2) + sum_of<T, 4>(tile + 1, 0);
        }""",
        "int",
    )
    assert run(made, np.zeros(1, np.int32), block=1)[0][0] == 2 * (2 + 3 + 4 + 5) + (1 + 2 + 3 + 4)


def test_complex_types_of_headers_are_vectors_as_template_arguments():
    text = "template <typename T> __global__ void k(T* y) { y[0].x += 1; y[0].y -= 1; }"
    assert run(built(text, "cufftComplex"), np.zeros(2, np.float32), block=1)[0].tolist() == [1, -1]
    assert run(built(text, "cuDoubleComplex"), np.zeros(2, np.float64), block=1)[0].tolist() == [1, -1]
