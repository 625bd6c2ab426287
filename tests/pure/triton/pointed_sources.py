"""Kernels of `lift_sources` whose reductions go through pointers: to arrays of each thread's own, to variables of it.

`LIFTED` are as there; in `LEFT_ALONE` no rule applies in the kernel itself.
"""
# ruff: noqa: E501 - one line a kernel

ROWS = """
template <typename T, int N> __device__ T warp_rows(T* v) {
    for (int i = 0; i < N; i++) {
        for (int m = 16; m > 0; m >>= 1) v[i] += __shfl_xor_sync(0xffffffff, v[i], m, 32);
    }
    return (T)0.0f;
}
template <typename T, int N> __device__ T block_rows(T* v) {
    static __shared__ T shared[N][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    warp_rows<T, N>(v);
    if (lane == 0) {
        for (int i = 0; i < N; i++) shared[i][warp] = v[i];
    }
    __syncthreads();
    bool some = threadIdx.x < (blockDim.x / 32.f);
    for (int i = 0; i < N; i++) v[i] = some ? shared[i][lane] : (T)0.0f;
    warp_rows<T, N>(v);
    return (T)0.0f;
}
"""
CHOSEN = """
enum class Way { most = 0, sum };
const float LEAST = -100000000.f;
template <Way way, int N> __device__ void lanes(float* p);
template <Way way, int N> __device__ void threads(float* p);
template <> __device__ void lanes<Way::most, 1>(float* p) {
    *p = max(*p, __shfl_xor_sync(~0u, *p, 16, 32));
    *p = max(*p, __shfl_xor_sync(~0u, *p, 8, 32));
    *p = max(*p, __shfl_xor_sync(~0u, *p, 4, 32));
    *p = max(*p, __shfl_xor_sync(~0u, *p, 2, 32));
    *p = max(*p, __shfl_xor_sync(~0u, *p, 1, 32));
}
template <> __device__ void lanes<Way::sum, 2>(float* p) {
    float a, b;
#define ONE_STEP(by) \\
    a = __shfl_xor_sync(~0u, *(p + 0), by, 32); b = __shfl_xor_sync(~0u, *(p + 1), by, 32); *(p + 0) += a; *(p + 1) += b
    ONE_STEP(16); ONE_STEP(8); ONE_STEP(4); ONE_STEP(2); ONE_STEP(1);
}
template <> __device__ void threads<Way::most, 1>(float* p) {
    static __shared__ float shared[1][32];
    lanes<Way::most, 1>(p);
    if (threadIdx.x % 32 == 0) shared[0][threadIdx.x / 32] = *p;
    __syncthreads();
    if (threadIdx.x < (blockDim.x >> 5)) *p = shared[0][threadIdx.x % 32]; else *p = LEAST;
    lanes<Way::most, 1>(p);
}
template <> __device__ void threads<Way::sum, 2>(float* p) {
    const int count = 2;
    static __shared__ float shared[32][count];
    lanes<Way::sum, count>(p);
    if (threadIdx.x % 32 == 0) { for (int i = 0; i < count; ++i) shared[threadIdx.x / 32][i] = *(p + i); }
    __syncthreads();
    if (threadIdx.x < (blockDim.x >> 5)) { for (int i = 0; i < count; ++i) *(p + i) = shared[threadIdx.x % 32][i]; }
    else { for (int i = 0; i < count; ++i) *(p + i) = 0.f; }
    lanes<Way::sum, count>(p);
}
"""
TOTAL = """
__device__ void total(float& v) {
    __shared__ float part[4];
    __shared__ float whole;
    for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(~0u, v, m);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) { whole = 0.0f; for (int i = 0; i < 4; ++i) whole += part[i]; }
    __syncthreads();
    v = whole;
}
"""
CROSSED = """
__device__ void crossed(float* v) {
    float own = v[0], other = v[1];
    for (int m = 16; m > 0; m >>= 1) { own += __shfl_xor_sync(~0u, own, m); }
    for (int m = 1; m < 32; m += m) { other = fmaxf(other, __shfl_xor_sync(~0u, other, m)); }
    v[0] = other; v[1] = own;
}
"""
OVERLOADED = """
#include <cuda_fp16.h>
template <typename T> __device__ T joined(T a, T b) { return a + b; }
template <> __device__ __half joined(__half a, __half b) { return __hadd(a, b); }
template <typename T> __device__ T joined(T a, T b, T c) { return a + b + c; }
template <typename T> __device__ T of_warp(T v) {
    for (int m = 16; m > 0; m >>= 1) v = joined(v, __shfl_xor_sync(0xffffffff, v, m, 32));
    return v;
}
template <typename T> __device__ T of_block(T v) {
    static __shared__ T shared[32];
    v = of_warp<T>(v);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = (threadIdx.x < (blockDim.x / 32.f)) ? shared[threadIdx.x % 32] : (T)(0.0f);
    v = of_warp<T>(v);
    return v;
}
"""
PAIRS = """
__device__ void first_most(float* v, int* at) {
    for (int m = 16; m > 0; m >>= 1) {
        float w = __shfl_xor_sync(~0u, *v, m);
        int b = __shfl_xor_sync(~0u, *at, m);
        if (w > *v || (w == *v && b < *at)) { *v = w; *at = b; }
    }
}
"""
TWO_ARRAYS = """
__device__ void both(float* a, float* b) {
    for (int m = 16; m > 0; m >>= 1) { a[0] += __shfl_xor_sync(~0u, a[0], m); a[1] += __shfl_xor_sync(~0u, a[1], m); }
    for (int m = 16; m > 0; m >>= 1) b[0] = fminf(b[0], __shfl_xor_sync(~0u, b[0], m));
}
__device__ void both_of_block(float* a, float* b) {
    __shared__ float s[3][32];
    both(a, b);
    if (threadIdx.x % 32 == 0) { s[0][threadIdx.x / 32] = a[0]; s[1][threadIdx.x / 32] = a[1]; s[2][threadIdx.x / 32] = *b; }
    __syncthreads();
    a[0] = a[1] = 0.0f;
    *b = INFINITY;
    if (threadIdx.x % 32 < blockDim.x / 32) { a[0] = s[0][threadIdx.x % 32]; a[1] = s[1][threadIdx.x % 32]; *b = s[2][threadIdx.x % 32]; }
    both(a, b);
}
"""
WARP, FOLD, LANES = "warp reduction", "block reduction told by doing it", "warp reduction told by doing it"
SEVERAL = "warp reduction of several values"
UNROLLED = "unrolled warp reduction"
_TWO = "int t = threadIdx.x; float a[2]; a[0] = x[blockIdx.x * 128 + t]; a[1] = a[0] * a[0];"
_FIRST = "if (t == 0) out[blockIdx.x] = a[0] + a[1];"
_ALL = "out[blockIdx.x * 128 + t] = a[0] + a[1];"

LIFTED = (
    ("an array that the first thread reads", [WARP, LANES, LANES, FOLD], ROWS, f"{_TWO} block_rows<float, 2>(a); {_FIRST}"),
    ("an array in each turn", [WARP, LANES, LANES, FOLD], ROWS, "int t = threadIdx.x; float sum = 0.0f; for (int turn = 0; turn < 2; ++turn) {"
     " float a[3] = {x[turn * 128 + t], 1.0f, 0.5f * t}; block_rows<float, 3>(a); if (t == 0) sum += a[0] + a[1] * a[2]; __syncthreads(); }"
     " if (t == 0) out[blockIdx.x] = sum;"),
    ("an array over lanes", [WARP, LANES], ROWS, f"{_TWO} warp_rows<float, 2>(a); {_ALL}"),
    ("explicit specialisations", [UNROLLED, LANES, LANES, LANES, LANES, FOLD, FOLD], CHOSEN,
     f"{_TWO} float top[1] = {{LEAST}}; top[0] = fmaxf(top[0], a[0]); threads<Way::most, 1>(top); threads<Way::sum, 2>(a);"
     " if (t == 0) out[blockIdx.x] = a[0] + a[1] + top[0];"),
    ("a pointer to a variable", [UNROLLED, LANES], CHOSEN, "int t = threadIdx.x; float v = x[blockIdx.x * 128 + t]; lanes<Way::most, 1>(&v);"
     " out[blockIdx.x * 128 + t] = v;"),
    ("two of four elements over lanes", [LANES], CHOSEN, "int t = threadIdx.x; float v = x[blockIdx.x * 128 + t]; float a[4] = {1.0f, v, v * v, 2.0f};"
     " lanes<Way::sum, 2>(a + 1); out[blockIdx.x * 128 + t] = a[0] + a[1] + a[2] + a[3];"),
    ("elements by reference, through a variable that all threads share", [WARP, FOLD, FOLD], TOTAL, f"{_TWO} total(a[0]); __syncthreads(); total(a[1]); {_ALL}"),
    ("a sum by an overload", [FOLD], OVERLOADED, "int t = threadIdx.x; float v = of_block<float>(x[blockIdx.x * 128 + t]); if (t == 0) out[blockIdx.x] = v;"),
    ("two arrays at once", [WARP, LANES, LANES, FOLD], TWO_ARRAYS, f"{_TWO} float least[1] = {{a[0] - 1.0f}}; both_of_block(a, least);"
     " out[blockIdx.x * 128 + t] = a[0] + a[1] + least[0];"),
    ("an extreme and its place by pointers", [SEVERAL], PAIRS, "int t = threadIdx.x; float v = rintf(x[blockIdx.x * 128 + t]); int at = t;"
     " first_most(&v, &at); out[blockIdx.x * 128 + t] = v + at;"),
    ("elements of a loop that is written there", [WARP], "", f"{_TWO} for (int i = 0; i < 2; ++i) for (int m = 16; m > 0; m >>= 1)"
     f" a[i] = fmaxf(a[i], __shfl_xor_sync(~0u, a[i], m)); {_ALL}"),
    ("a block of which one thread decides whether it goes on", [WARP, LANES, LANES, FOLD], ROWS, f"{_TWO} const float first = x[blockIdx.x];"
     f" if (first > 9.0f) {{ out[blockIdx.x] = 0.0f; return; }} block_rows<float, 2>(a); {_FIRST}"),
)  # fmt: skip

LEFT_ALONE = (
    ("sums of which one takes the other's place", CROSSED, f"{_TWO} crossed(a); {_ALL}"),
    ("an array that all threads read", ROWS, f"{_TWO} block_rows<float, 2>(a); {_ALL}"),
    ("an array that is read by another name", ROWS, f"{_TWO} float* p = a; block_rows<float, 2>(a); out[blockIdx.x * 128 + t] = p[1];"),
    ("an element that is read by another name", ROWS, f"{_TWO} float& r = a[1]; block_rows<float, 2>(a); out[blockIdx.x * 128 + t] = r;"),
    ("an array that is handed on", f"{ROWS} __device__ float last(const float* v) {{ return v[1]; }}", f"{_TWO} block_rows<float, 2>(a); out[blockIdx.x * 128 + t] = last(a);"),
    ("rows of which one is lost", ROWS.replace("shared[i][lane]", "shared[0][lane]"), f"{_TWO} block_rows<float, 2>(a); {_FIRST}"),
    ("rows that are one too long", ROWS.replace("33", "3"), f"{_TWO} block_rows<float, 2>(a); {_FIRST}"),
    ("more elements than there are", ROWS, f"{_TWO} block_rows<float, 3>(a); {_FIRST}"),
    ("sums that begin with one", ROWS.replace("(T)0.0f;\n    warp", "(T)1.0f;\n    warp"), f"{_TWO} block_rows<float, 2>(a); {_FIRST}"),
    ("sums of what is rounded on the way", ROWS.replace("static __shared__ T", "static __shared__ int"), f"{_TWO} block_rows<float, 2>(a); {_FIRST}"),
    ("more warps than are counted", ROWS.replace("32.f", "33.f"), f"{_TWO} block_rows<float, 2>(a); {_FIRST}"),
    ("a sum by an overload that adds something", OVERLOADED.replace("a + b;", "a + b + (T)1;"), "int t = threadIdx.x; float v = of_block<float>(x[t]); if (t == 0) out[blockIdx.x] = v;"),
    ("two arrays that are one", TWO_ARRAYS, f"{_TWO} both_of_block(a, a); {_ALL}"),
    ("a thread leaves by what it has loaded", ROWS, f"{_TWO} if (a[0] > 9.0f) return; block_rows<float, 2>(a); {_FIRST}"),
)  # fmt: skip
