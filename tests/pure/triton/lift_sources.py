"""Kernels `k(const float* x, float* out, int n)` for blocks of 128 threads, by what should become of them.

`LIFTED` are (name, rules that apply, text before the kernel, body); `LEFT_ALONE` (name, text before, body).
"""
# ruff: noqa: E501 - one line a kernel

from tests.pure.triton import pointed_sources

SUM_WARP = """
__device__ float warp_sum(float val) {
    for (int offset = 16; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}
"""
MAX_WARP = """
template <typename T> __inline__ __device__ T warp_max(T val) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) val = max(val, __shfl_xor_sync(0xffffffff, val, mask, 32));
    return val;
}
"""
GROUPS = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
"""
BLOCK_SUM = f"""{SUM_WARP}
__device__ float block_sum(float val) {{
    static __shared__ float shared[32];
    int lane = threadIdx.x % 32, wid = threadIdx.x / 32;
    val = warp_sum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / 32) ? shared[lane] : 0;
    if (wid == 0) val = warp_sum(val);
    return val;
}}
"""
BLOCK_MAX = f"""{MAX_WARP}
__device__ float block_max(float val) {{
    static __shared__ float shared[32];
    int lane = threadIdx.x & 0x1f;
    int wid = threadIdx.x >> 5;
    val = warp_max(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (lane < (blockDim.x >> 5)) ? shared[lane] : -1e20f;
    val = warp_max(val);
    return val;
}}
"""
SERIAL = """
template <typename T> struct Add { __device__ T operator()(T a, T b) const { return a + b; } };
template <typename T> struct Larger { __device__ T operator()(T a, T b) const { return a < b ? b : a; } };
template <template <typename> class R, typename T> __device__ T serial(T* s, T v, const R<T>& r, T begin) {
    __syncthreads();
    s[threadIdx.x] = v;
    __syncthreads();
    T lanes = begin;
    if (threadIdx.x < 32) {
        int lane = threadIdx.x % 32;
        if (lane < blockDim.x / 32) {
            for (int i = 0; i < 32; ++i) lanes = r(lanes, s[lane * 32 + i]);
            __syncwarp();
            s[lane] = lanes;
        }
    }
    __syncthreads();
    T all = begin;
    if (threadIdx.x == 0) {
        for (int i = 0; i < blockDim.x / 32; ++i) all = r(all, s[i]);
        s[0] = all;
    }
    __syncthreads();
    return s[0];
}
"""
TWO_OF_THEM = """
__device__ void two(float* s, float& a, float* b) {
    __syncthreads();
    s[threadIdx.x] = a;
    s[blockDim.x + threadIdx.x] = *b;
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) {
            s[threadIdx.x] += s[threadIdx.x + d];
            if (s[blockDim.x + threadIdx.x] < s[blockDim.x + threadIdx.x + d])
                s[blockDim.x + threadIdx.x] = s[blockDim.x + threadIdx.x + d];
        }
    }
    __syncthreads();
    a = s[0];
    *b = s[blockDim.x];
}
"""
ODD_STAGES = """
__device__ float odd(float v) {
    __shared__ float s[4];
    for (int o = 1; o < 32; o += o) v += __shfl_down_sync(~0u, v, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    return s[0] + s[1] + (s[2] + s[3]);
}
"""
SUM_OF_WIDTH = """
template <const int kWidth = 32> __device__ float width_sum(float val) {
    for (int mask = kWidth >> 1; mask >= 1; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask);
    return val;
}
"""
BLOCK_SUM_OF = f"""{SUM_OF_WIDTH}
template <const int kThreads = 256> __device__ float block_sum_of(float val) {{
    constexpr int kWarps = (kThreads + 32 - 1) / 32;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    static __shared__ float shared[kWarps];
    float sum = width_sum<32>(val);
    if (lane == 0) shared[warp] = sum;
    __syncthreads();
    sum = (lane < kWarps) ? shared[lane] : 0.0f;
    sum = width_sum<kWarps>(sum);
    sum = __shfl_sync(0xffffffff, sum, 0, 32);
    return sum;
}}
"""
BY_REFERENCE = """
__device__ void reduce(float& v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o); }
"""
MERGE = """
template <typename T> __device__ void merge(int& n, T& mean, T& m2, const int& n_b, const T& mean_b, const T& m2_b) {
    T whole = n + n_b;
    if (whole == 0) return;
    T delta = mean_b - mean;
    mean = (n * mean + n_b * mean_b) / whole;
    m2 += m2_b + delta * delta * n * n_b / whole;
    n = whole;
}
"""
MOMENTS = """
struct Moments { float mean; float m2; float count; };
__device__ Moments merged(Moments a, Moments b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}
"""
RESCALED = "float n = fmaxf(m, w); d = d * expf(m - n) + e * expf(w - n); m = n;"
BELOW = """
struct Below { float m, d; };
__device__ Below joined(Below a, Below b) {
    const Below& high = a.m > b.m ? a : b; const Below& low = a.m > b.m ? b : a;
    Below r; r.m = high.m; r.d = high.d + (low.d == 0.0f ? 0.0f : low.d * __expf(low.m - high.m)); return r;
}
"""
_STORE = "__shared__ float a[128]; int t = threadIdx.x; a[t] = x[blockIdx.x * 128 + t]; __syncthreads();"
_FIRST = "if (t == 0) out[blockIdx.x] = a[0];"
_LOAD = "int t = threadIdx.x; float v = x[blockIdx.x * 128 + t];"

TREE, WARP, STAGES = "shared tree", "warp reduction", "two-stage block reduction"
UNROLLED = "unrolled warp reduction"
TREE_SCAN = "scan as a tree"
SEVERAL = "warp reduction of several values"
WARP_SCAN, SCAN, ROWS = "warp scan", "shared scan", "scan of two rows in turns"
COUNTER = "loop with a counter of its own"
FOLD, DONE_TREE = "block reduction told by doing it", "tree told by doing it"
ONE, PARTS = "shared array of one number", "shared array in parts"
END, TESTED = "loop that ends at a bound", "loop with a bound and a test"

_ROWS = "__shared__ float a[2][128]; int t = threadIdx.x; int now = 0; a[now][t] = x[blockIdx.x * 128 + t]; __syncthreads();"


def _turns(operator: str, last: int = 64) -> str:
    """The steps of a scan for which the rows of `_ROWS` take turns."""
    return (
        f"for (int d = 1; d <= {last}; d <<= 1) {{ const int next = 1 - now; a[next][t] = t >= d ?"
        f" a[now][t - d] {operator} a[now][t] : a[now][t]; now = next; __syncthreads(); }}"
    )


_WARPS = f"__shared__ float part[32]; {_LOAD} v = warp_sum(v); if (t % 32 == 0) part[t / 32] = v; __syncthreads();"
_MOST = _WARPS.replace("warp_sum", "warp_max")
_DIVIDED = "out[blockIdx.x * 128 + t] = x[blockIdx.x * 128 + t] / "


LIFTED = (
    ("halving", [TREE], "", f"{_STORE} for (int s = blockDim.x / 2; s > 0; s >>= 1) {{ if (t < s) a[t] += a[t + s];"
     f" __syncthreads(); }} {_FIRST}"),
    ("dividing", [TREE], "", f"{_STORE} for (unsigned int s = 64; s >= 1; s = s / 2) {{ if (t < s) {{ a[t] = a[t] + a[s + t]; }}"
     f" __syncthreads(); }} {_FIRST}"),
    ("two halves of one array", [PARTS, TREE], "", f"__shared__ float a[256]; {_LOAD} a[t] = v; a[blockDim.x + t] = v * v;"
     " __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) { a[t] += a[t + s]; a[128 + t] += a[t + s + 128]; }"
     " __syncthreads(); } out[blockIdx.x * 128 + t] = v - a[0] / a[blockDim.x];"),
    ("maximum", [TREE], "", f"{_STORE} for (int s = 128 >> 1; s != 0; s /= 2) {{ if (s > t) a[t] = fmaxf(a[t], a[t + s]);"
     f" __syncthreads(); }} out[blockIdx.x * 128 + t] = a[0];"),
    ("interleaved", [TREE], "", f"{_STORE} for (int s = 1; s < blockDim.x; s *= 2) {{ if (t % (2 * s) == 0) a[t] += a[t + s];"
     f" __syncthreads(); }} {_FIRST}"),
    ("volatile tail", [TREE], "__device__ void tail(volatile float* s, int t) { s[t] += s[t + 32]; s[t] += s[t + 16];"
     " s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1]; }",
     f"{_STORE} for (int s = blockDim.x / 2; s > 32; s >>= 1) {{ if (t < s) a[t] += a[t + s]; __syncthreads(); }}"
     f" if (t < 32) tail(a, t); {_FIRST}"),
    ("interleaved without gaps", [TREE], "", f"{_STORE} for (unsigned int s = 1; s < blockDim.x; s *= 2) {{ int index = 2 * s * t;"
     f" if (index < blockDim.x) a[index] += a[index + s]; __syncthreads(); }} {_FIRST}"),
    ("a product, numbered in two dimensions", [TREE], "", "__shared__ float a[128]; int t = threadIdx.y * blockDim.x + threadIdx.x;"
     " a[t] = 1.0f + 0.1f * x[blockIdx.x * 128 + t]; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s)"
     f" a[t] *= a[t + s]; __syncthreads(); }} {_FIRST}"),
    ("two arrays", [TREE], "", "__shared__ float a[128], b[128]; int t = threadIdx.x; float v = x[blockIdx.x * 128 + t];"
     " a[t] = v; b[t] = v * v; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) { a[t] += a[t + s];"
     " b[t] += b[t + s]; } __syncthreads(); } out[blockIdx.x * 128 + t] = b[0] - a[0] * a[0];"),
    ("a tree in each turn", [TREE], "", "__shared__ float a[128]; int t = threadIdx.x; float total = 0.0f;"
     " for (int turn = 0; turn < 2; ++turn) { a[t] = x[turn * 128 + t]; __syncthreads();"
     " for (int s = 64; s > 0; s >>= 1) { if (t < s) a[t] += a[t + s]; __syncthreads(); } total += a[0]; __syncthreads(); }"
     " out[blockIdx.x * 128 + t] = total;"),
    ("two slices of dynamic memory", [TREE], "", "extern __shared__ float m[]; float* a = m; float* b = &a[blockDim.x];"
     " int t = threadIdx.x; float v = x[blockIdx.x * 128 + t]; a[t] = v; b[t] = v * v; __syncthreads();"
     " for (int s = 64; s > 0; s >>= 1) { if (t < s) { a[t] += a[t + s]; b[t] += b[t + s]; } __syncthreads(); }"
     " float mean = a[0] / 128; out[blockIdx.x * 128 + t] = b[0] / 128 - mean * mean;"),
    ("the largest and its place", [TREE], "", "__shared__ float a[128]; __shared__ int p[128]; int t = threadIdx.x;"
     " a[t] = rintf(x[blockIdx.x * 128 + t]); p[t] = t; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) {"
     " float other = a[t + s]; if (other > a[t] || (other == a[t] && p[t + s] < p[t])) { a[t] = other; p[t] = p[t + s]; } }"
     " __syncthreads(); } out[blockIdx.x * 128 + t] = a[0] + p[0];"),
    ("moments in three arrays", [TREE], MERGE, "__shared__ float a[128], q[128]; __shared__ int c[128]; int t = threadIdx.x;"
     " float v = x[blockIdx.x * 128 + t]; c[t] = 1; a[t] = v; q[t] = 0.0f; __syncthreads(); for (int s = 64; s > 0; s >>= 1) {"
     " if (t < s) { float delta = a[s + t] - a[t]; int whole = c[t] + c[t + s]; if (whole > 0) {"
     " q[t] += q[t + s] + delta * delta * c[t] * c[t + s] / whole; a[t] += delta * c[t + s] / whole; c[t] = whole; } } __syncthreads(); } if (t == 0) out[blockIdx.x] = a[0] + q[0] / c[0];"),
    ("stores in both branches", [TREE], "", "__shared__ float a[128]; int t = threadIdx.x; float total = 0.0f;"
     " for (int turn = 0; turn < 2; ++turn) { if (n > 7) { a[t] = x[turn * 128 + t]; } else { a[t] = 0.0f; }"
     " __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) a[t] += a[t + s]; __syncthreads(); }"
     " total += a[0]; __syncthreads(); } out[blockIdx.x * 128 + t] = total;"),
    ("butterfly", [WARP], "", f"{_LOAD} for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffff, v, m);"
     " out[blockIdx.x * 128 + t] = v;"),
    ("rising butterfly of a segment", [WARP], "", f"{_LOAD} for (int m = 1; m < 8; m <<= 1) {{"
     " float other = __shfl_xor_sync(0xffffffff, v, m, 8); v = fminf(other, v); } out[blockIdx.x * 128 + t] = v;"),
    ("exchanged through two variables", [WARP], "", f"{_LOAD} for (int m = 16; m > 0; m >>= 1) {{"
     " float other = __shfl_xor_sync(~0u, v, m); float got = other; v += got; } out[blockIdx.x * 128 + t] = v;"),
    ("two values", [WARP], "", f"{_LOAD} float w = v * v; for (int m = warpSize / 2; m; m /= 2) {{"
     " v += __shfl_xor_sync(~0u, v, m); w = fmaxf(w, __shfl_xor_sync(~0u, w, m)); } out[blockIdx.x * 128 + t] = v * w;"),
    ("two fields", [WARP], "", f"{_LOAD} float2 p = make_float2(v, v * v); for (int m = 16; m > 0; m >>= 1) {{"
     " p.x += __shfl_xor_sync(~0u, p.x, m); p.y = fmaxf(p.y, __shfl_xor_sync(~0u, p.y, m)); } out[blockIdx.x * 128 + t] = p.x * p.y;"),
    ("down to the first lane", [WARP], "", f"{_LOAD} for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);"
     " if (t % 32 == 0) out[blockIdx.x * 4 + t / 32] = v;"),
    ("down and broadcast", [WARP], "", f"{_LOAD} for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);"
     " v = __shfl_sync(0xffffffff, v, 0); out[blockIdx.x * 128 + t] = v;"),
    ("halves, which round after each step", [WARP], "", f"{_LOAD} __half h = __float2half(v); for (int m = 16; m > 0; m >>= 1)"
     " h = __hadd(h, __shfl_xor_sync(0xffffffff, h, m)); out[blockIdx.x * 128 + t] = __half2float(h);"),
    ("halves of a segment", [WARP], "", f"{_LOAD} __half h = __float2half(v); for (int m = 4; m > 0; m >>= 1)"
     " h = __hadd(h, __shfl_xor_sync(~0u, h, m, 8)); out[blockIdx.x * 128 + t] = __half2float(h);"),
    ("by a reference, down to the first lane", [WARP], BY_REFERENCE,
     f"{_LOAD} reduce(v); if (t % 32 == 0) out[blockIdx.x * 4 + t / 32] = v;"),
    ("the largest and the first place that has it", [SEVERAL], "", f"{_LOAD} v = rintf(v); int at = t;"
     " for (int m = 16; m > 0; m >>= 1) { float w = __shfl_xor_sync(~0u, v, m); int b = __shfl_xor_sync(~0u, at, m);"
     " if (w > v || (w == v && b < at)) { v = w; at = b; } } out[blockIdx.x * 128 + t] = v + at;"),
    ("the smallest and the last place that has it, down a segment", [SEVERAL], "", f"{_LOAD} v = rintf(v); int at = t % 7;"
     " for (int m = 1; m < 8; m <<= 1) { const int b = __shfl_xor_sync(~0u, at, m, 8); const float w = __shfl_xor_sync(~0u, v, m, 8);"
     " bool take = w < v; if (w == v) take = b > at; v = take ? w : v; at = take ? b : at; } out[blockIdx.x * 128 + t] = v + at;"),
    ("moments by references, down to the first lane", [SEVERAL], MERGE, f"{_LOAD} int count = t % 3; float mean = count ? v : 0.0f, m2 = 0.0f;"
     " for (int o = 16; o > 0; o /= 2) { auto c = __shfl_down_sync(~0u, count, o); auto a = __shfl_down_sync(~0u, mean, o);"
     " auto q = __shfl_down_sync(~0u, m2, o); merge(count, mean, m2, c, a, q); }"
     " if (t % 32 == 0) out[blockIdx.x * 4 + t / 32] = mean + m2 / count;"),
    ("moments in a struct", [SEVERAL], MOMENTS, f"{_LOAD} Moments acc = {{v, 0.0f, 1.0f}}; for (int o = 16; o > 0; o >>= 1) {{"
     " Moments other; other.mean = __shfl_xor_sync(~0u, acc.mean, o); other.m2 = __shfl_xor_sync(~0u, acc.m2, o);"
     " other.count = __shfl_xor_sync(~0u, acc.count, o); acc = merged(acc, other); }"
     " out[blockIdx.x * 128 + t] = acc.mean + acc.m2 / acc.count;"),
    ("an extreme and the sum below it", [SEVERAL], "", f"{_LOAD} float m = v, d = 1.0f; for (int o = 16; o > 0; o >>= 1) {{"
     f" float w = __shfl_xor_sync(~0u, m, o); float e = __shfl_xor_sync(~0u, d, o); {RESCALED} }} out[blockIdx.x * 128 + t] = m + d;"),
    ("an extreme and a sum of lanes that may have nothing", [SEVERAL], BELOW, f"{_LOAD} Below b{{t % 3 ? v : -INFINITY, t % 3 ? 1.0f : 0.0f}};"
     " for (int o = 16; o > 0; o /= 2) { Below c; c.m = __shfl_xor_sync(~0u, b.m, o); c.d = __shfl_xor_sync(~0u, b.d, o); b = joined(b, c); }"
     " out[blockIdx.x * 128 + t] = b.m + b.d;"),
    ("an extreme and a sum in a struct that is made of both", [SEVERAL], "struct Both { float m, d; };",
     f"{_LOAD} Both b{{v, 1.0f}}; for (int o = 16; o > 0; o >>= 1) {{ const Both c = {{__shfl_xor_sync(~0u, b.m, o), __shfl_xor_sync(~0u, b.d, o)}};"
     " const float n = fmaxf(b.m, c.m); b.d = b.d * expf(b.m - n) + c.d * expf(c.m - n); b.m = n; } out[blockIdx.x * 128 + t] = b.m + b.d;"),
    ("extremes and sums in two arrays", [TREE], "", "__shared__ float a[128], s[128]; int t = threadIdx.x; a[t] = x[blockIdx.x * 128 + t];"
     " s[t] = 1.0f; __syncthreads(); for (int k = 64; k > 0; k >>= 1) { if (t < k) { float high = fmaxf(a[t], a[t + k]);"
     " s[t] = s[t] * expf(a[t] - high) + s[t + k] * expf(a[t + k] - high); a[t] = high; } __syncthreads(); }"
     " out[blockIdx.x * 128 + t] = a[0] + s[0];"),
    ("up a tree and down again", [TREE_SCAN], "", f"{_STORE} for (int d = 1; d < 128; d *= 2) {{ __syncthreads();"
     " const int right = (t + 1) * 2 * d - 1; if (right < 128) a[right] += a[right - d]; } if (t == 0) a[127] = 0.0f;"
     " for (int d = 64; d > 0; d /= 2) { __syncthreads(); const int right = (t + 1) * 2 * d - 1; if (right < 128) {"
     " const float left = a[right - d]; a[right - d] = a[right]; a[right] += left; } } __syncthreads(); out[blockIdx.x * 128 + t] = a[t];"),
    ("two elements a thread and an offset", [TREE_SCAN], "", "__shared__ float a[256]; int t = threadIdx.x; a[2 * t] = x[t];"
     " a[2 * t + 1] = x[blockIdx.x * 128 + t]; int offset = 1; for (int d = 256 >> 1; d > 0; d >>= 1) { __syncthreads(); if (t < d) {"
     " int ai = offset * (2 * t + 1) - 1; int bi = offset * (2 * t + 2) - 1; a[bi] += a[ai]; } offset *= 2; }"
     " if (t == 0) { a[255] = 0; } for (int d = 1; d < 256; d *= 2) { offset >>= 1; __syncthreads(); if (t < d) {"
     " int ai = offset * (2 * t + 1) - 1; int bi = offset * (2 * t + 2) - 1; float held = a[ai]; a[ai] = a[bi]; a[bi] += held; } }"
     " __syncthreads(); out[blockIdx.x * 128 + t] = a[2 * t] + a[2 * t + 1];"),
    ("up a tree and down with what is whole", [TREE_SCAN], "", f"{_STORE} for (unsigned int d = 1; d <= 64; d *= 2) {{"
     " unsigned int i = (t + 1) * 2 * d - 1; if (i < 128) a[i] += a[i - d]; __syncthreads(); }"
     " for (unsigned int d = 32; d > 0; d /= 2) { unsigned int i = (t + 1) * 2 * d - 1; if (i + d < 128) a[i + d] += a[i];"
     " __syncthreads(); } out[blockIdx.x * 128 + t] = a[t];"),
    ("unrolled", [UNROLLED], "", f"{_LOAD} v += __shfl_xor_sync(~0u, v, 16); v += __shfl_xor_sync(~0u, v, 8);"
     " v += __shfl_xor_sync(~0u, v, 4); v += __shfl_xor_sync(~0u, v, 2); v += __shfl_xor_sync(~0u, v, 1);"
     " out[blockIdx.x * 128 + t] = v;"),
    ("unrolled down", [UNROLLED], "", f"{_LOAD} v = max(v, __shfl_down_sync(~0u, v, 16)); v = max(v, __shfl_down_sync(~0u, v, 8));"
     " v = max(v, __shfl_down_sync(~0u, v, 4)); v = max(v, __shfl_down_sync(~0u, v, 2));"
     " v = max(v, __shfl_down_sync(~0u, v, 1)); if ((t & 31) == 0) out[blockIdx.x * 4 + t / 32] = v;"),
    ("constexpr width", [WARP], "template <int N> __device__ float reduce(float v) { constexpr int W = N / 4;"
     " for (int m = W / 2; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffff, v, m, W); return v; }",
     f"{_LOAD} out[blockIdx.x * 128 + t] = reduce<32>(v);"),
    ("template width", [WARP], "template <int W> __device__ float reduce(float v) { for (int m = W / 2; m > 0; m >>= 1)"
     " v += __shfl_xor_sync(0xffffffff, v, m, W); return v; }", f"{_LOAD} out[blockIdx.x * 128 + t] = reduce<16>(v);"),
    ("two stages", [WARP, STAGES], BLOCK_SUM, f"{_LOAD} v = block_sum(v); if (threadIdx.x == 0) out[blockIdx.x] = v;"),
    ("two stages everywhere", [WARP, STAGES], BLOCK_MAX, f"{_LOAD} out[blockIdx.x * 128 + t] = block_max(v);"),
    ("a second stage as wide as there are warps", [WARP, STAGES], BLOCK_SUM_OF,
     f"{_LOAD} out[blockIdx.x * 128 + t] = v / block_sum_of<128>(v);"),
    ("a second stage of the first warp, as wide as there are warps", [WARP, STAGES], SUM_OF_WIDTH,
     f"__shared__ float part[4]; {_LOAD} v = width_sum<32>(v); if (t % 32 == 0) part[t / 32] = v; __syncthreads();"
     " v = (t % 32 < 4) ? part[t % 32] : 0.0f; if (t / 32 == 0) v = width_sum<4>(v); if (t == 0) out[blockIdx.x] = v;"),
    ("a second stage that all lanes read", [WARP], SUM_OF_WIDTH,
     f"__shared__ float part[4]; {_LOAD} v = width_sum<32>(v); if (t % 32 == 0) part[t / 32] = v; __syncthreads();"
     " v = (t % 32 < 4) ? part[t % 32] : 0.0f; v = width_sum<4>(v); out[blockIdx.x * 128 + t] = v;"),
    ("two stages in place", [WARP, STAGES], SUM_WARP, f"__shared__ float part[4]; __shared__ float mean; {_LOAD}"
     " float sum = warp_sum(v); if (t % 32 == 0) part[t / 32] = sum; __syncthreads(); if (t < 32) {"
     " sum = t < 4 ? part[t] : 0.0f; sum = warp_sum(sum); if (t == 0) mean = sum / 128; } __syncthreads();"
     " out[blockIdx.x * 128 + t] = v - mean;"),
    ("two values in two stages", [WARP, STAGES], SUM_WARP, f"__shared__ float sa[4], sb[4]; __shared__ float mean, var; {_LOAD}"
     " int lane = t % 32, wid = t / 32; float s = warp_sum(v); float q = warp_sum(v * v); if (lane == 0) { sa[wid] = s;"
     " sb[wid] = q; } __syncthreads(); if (wid == 0) { s = lane < 4 ? sa[lane] : 0.0f; q = lane < 4 ? sb[lane] : 0.0f;"
     " s = warp_sum(s); q = warp_sum(q); if (lane == 0) { mean = s / 128; var = q / 128 - mean * mean; } }"
     " __syncthreads(); out[blockIdx.x * 128 + t] = (v - mean) * rsqrtf(var + 1e-5f);"),
    ("two stages into a new variable", [WARP, STAGES], SUM_WARP, f"__shared__ float part[32]; {_LOAD} float mine = warp_sum(v);"
     " if (t % 32 == 0) part[t / 32] = mine; __syncthreads(); float total = t < blockDim.x / 32 ? part[t % 32] : 0.0f;"
     " if (t / 32 == 0) total = warp_sum(total); if (t == 0) out[blockIdx.x] = total;"),
    ("a second stage by the first thread", [WARP, STAGES, ONE], MAX_WARP, f"__shared__ float part[4]; {_LOAD} v = warp_max(v);"
     " if (t % 32 == 0) part[t / 32] = v; __syncthreads(); if (t == 0) { float m = part[t]; for (int j = 1; j < 4; j++)"
     " m = fmaxf(m, part[j]); part[0] = m; } __syncthreads(); out[blockIdx.x * 128 + t] = part[0];"),
    ("a second stage by each thread", [WARP, STAGES], SUM_WARP, f"__shared__ float part[4]; {_LOAD} float s = warp_sum(v);"
     " if (t % 32 == 0) part[t / 32] = s; __syncthreads(); float total = 0.0f;"
     " for (int j = 0; j < blockDim.x / 32; ++j) total += part[j]; out[blockIdx.x * 128 + t] = v / total;"),
    ("a second stage by each thread into what it had", [WARP, STAGES], SUM_WARP, f"{_WARPS} v = 0;"
     f" for (int j = 0; j < 4; ++j) v += part[j]; {_DIVIDED} v;"),
    ("a second stage from the first warp's result on", [WARP, STAGES], MAX_WARP, f"{_MOST} v = part[0];"
     f" for (int j = 1; j < (blockDim.x + 31) / 32; ++j) v = fmaxf(v, part[j]); {_DIVIDED} v;"),
    ("a second stage from a finite least on", [WARP, STAGES], MAX_WARP, f"{_MOST} float m = 0.5f;"
     f" for (int j = 0; j < 4; ++j) m = fmaxf(m, part[j]); {_DIVIDED} m;"),
    ("a second stage in place", [WARP, STAGES, ONE], SUM_WARP, f"{_WARPS} if (t == 0) {{"
     f" for (int j = 1; j < 4; ++j) part[0] += part[j]; part[0] *= 2; }} __syncthreads(); {_DIVIDED} part[0];"),
    ("a second stage from the first thread's own value on", [WARP, STAGES], SUM_WARP, f"__shared__ float total; {_WARPS}"
     f" if (t == 0) {{ for (int j = 1; j < (int)(blockDim.x >> 5); ++j) v += part[j]; total = v; }} __syncthreads(); {_DIVIDED} total;"),
    ("two reductions through one array", [WARP, STAGES, STAGES, ONE], SUM_WARP, f"{_WARPS} if (t == 0) {{ float m = part[0];"
     " for (int j = 1; j < 4; ++j) m += part[j]; part[0] = m; } __syncthreads(); float w = x[blockIdx.x * 128 + t] - part[0];"
     " __syncthreads(); w = warp_sum(w * w); if (t % 32 == 0) part[t / 32] = w; __syncthreads(); float all = 0;"
     " for (int j = 0; j < 4; ++j) all += part[j]; out[blockIdx.x * 128 + t] = all / 128;"),
    ("stages under a condition of constants", [WARP, STAGES], SUM_WARP + "constexpr int kThreads = 128;\n", f"{_WARPS}"
     " if constexpr (kThreads > 32) { v = t < 4 ? part[t] : 0; if (t < 32) v = warp_sum(v); if (t == 0) out[blockIdx.x] = v; }"),
    ("groups of a block and a warp", [STAGES], GROUPS, "__shared__ float part[32]; auto block = cg::this_thread_block();"
     " cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block); int t = block.thread_rank();"
     " float v = x[blockIdx.x * block.size() + t]; v = cg::reduce(warp, v, cg::plus<float>());"
     " if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v; block.sync();"
     " float w = warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0.0f;"
     f" float all = cg::reduce(warp, w, cg::plus<float>{{}}); {_DIVIDED} all;"),
    ("reductions of integers in one instruction", [STAGES], "", "__shared__ int part[32]; int t = threadIdx.x;"
     " int v = (int)(x[blockIdx.x * 128 + t] * 100.0f); v = __reduce_max_sync(~0u, v); if (t % 32 == 0) part[t / 32] = v;"
     " __syncthreads(); if (t < 32) { v = t < 4 ? part[t] : -1000; v = __reduce_max_sync(0xffffffff, v);"
     " if (t == 0) out[blockIdx.x] = (float)v; }"),
    ("a second stage of as many threads as warps", [WARP, STAGES], SUM_WARP, f"{_WARPS} if (t < 4) {{ v = part[t];"
     " for (int o = 2; o > 0; o >>= 1) v += __shfl_xor_sync(0xf, v, o); if (t == 0) out[blockIdx.x] = v; }"),
    ("a second stage whose result the first lane stores", [WARP, STAGES], SUM_WARP, f"{_WARPS} v = t % 32 < 4 ? part[t % 32] : 0;"
     " if (t / 32 == 0) { v = warp_sum(v); if (t % 32 == 0) out[blockIdx.x] = v; }"),
    ("a second stage under a bound whose result the first lane stores", [WARP, STAGES], SUM_WARP, f"{_WARPS} if (t < 32) {{"
     " v = t < 4 ? part[t] : 0; v = warp_sum(v); if (t % 32 == 0) out[blockIdx.x] = v; }"),
    ("a second stage in each warp", [WARP, WARP], SUM_WARP, f"{_WARPS} if (t % 32 < 4) {{ v = part[t % 32];"
     " for (int o = 2; o > 0; o >>= 1) v += __shfl_xor_sync(0xf, v, o, 4); out[blockIdx.x * 128 + t] = v; }"),
    ("a second stage that leaves a warp out", [WARP], SUM_WARP, f"{_WARPS} v = 0;"
     f" for (int j = 0; j < 3; ++j) v += part[j]; {_DIVIDED} v;"),
    ("a second stage in place whose parts are read", [WARP], SUM_WARP, f"{_WARPS} if (t == 0) {{"
     f" for (int j = 1; j < 4; ++j) part[0] += part[j]; }} __syncthreads(); {_DIVIDED} (part[0] + part[3]);"),
    ("two stages with a lane named between", [WARP, STAGES], SUM_WARP, f"__shared__ float part[32]; {_LOAD} v = warp_sum(v);"
     " int lane = t & 31, warp = t >> 5; if (lane == 0) part[warp] = v; __syncthreads(); float total = 0;"
     f" for (int j = 0; j < 4; ++j) total += part[j]; {_DIVIDED} (total + lane);"),
    ("two stages and a broadcast", [WARP, STAGES, ONE], SUM_WARP, f"__shared__ float part[32]; {_LOAD} float s = warp_sum(v);"
     " if (t % 32 == 0) part[t / 32] = s; __syncthreads(); s = t < 4 ? part[t] : 0.0f; if (t < 32) s = warp_sum(s);"
     " if (t == 0) part[0] = s; __syncthreads(); out[blockIdx.x * 128 + t] = v - part[0] / 128;"),
    ("stages whose warps' results are read later", [WARP], "", f"__shared__ float part[32]; {_LOAD} float s = v;"
     " for (int m = 16; m > 0; m >>= 1) s += __shfl_down_sync(~0u, s, m); if (t % 32 == 0) part[t / 32] = s;"
     " __syncthreads(); s = t < 4 ? part[t] : 0.0f; if (t < 32) { for (int m = 16; m > 0; m >>= 1)"
     " s += __shfl_down_sync(~0u, s, m); } out[blockIdx.x * 128 + t] = s + part[t / 32];"),
    ("stages whose result each first lane hands on", [WARP], BLOCK_SUM, f"{_LOAD} v = block_sum(v);"
     " v = __shfl_sync(~0u, v, 0); out[blockIdx.x * 128 + t] = v;"),
    ("scan of a warp", [WARP_SCAN], "", f"{_LOAD} int lane = t % 32; for (int d = 1; d < 32; d *= 2) {{"
     " float n = __shfl_up_sync(0xffffffff, v, d); if (lane >= d) v += n; } out[blockIdx.x * 128 + t] = v;"),
    ("running maximum of a warp", [WARP_SCAN], "", f"{_LOAD} for (int d = 1; d <= 16; d <<= 1) {{"
     " float n = __shfl_up_sync(0xffffffff, v, d, 32); if (d <= (threadIdx.x & 31)) v = fmaxf(v, n); }"
     " out[blockIdx.x * 128 + t] = v;"),
    ("scan of a block", [SCAN], "", f"{_STORE} for (int d = 1; d < blockDim.x; d *= 2) {{ float v = 0.0f; if (t >= d)"
     " v = a[t - d]; __syncthreads(); a[t] += v; __syncthreads(); } out[blockIdx.x * 128 + t] = a[t];"),
    ("guarded scan of a block", [SCAN], "", f"{_STORE} for (int d = 1; d < 128; d <<= 1) {{ float v; if (t >= d)"
     " v = a[t - d]; __syncthreads(); if (t >= d) a[t] = fmaxf(a[t], v); __syncthreads(); }"
     " out[blockIdx.x * 128 + t] = a[127 - t];"),
    ("two rows in turns", [ROWS], "", f"{_ROWS} {_turns('+')} out[blockIdx.x * 128 + t] = a[now][t] + a[now][127];"),
    ("products of two rows in turns, chunk by chunk", [ROWS], "", "__shared__ float a[2][128]; const int t = threadIdx.x;"
     " float carry = 1.0f, last = 0.0f; for (int c = 1; c < 3; ++c) { int now = 1; a[now][t] = 1.0f + x[t] / (64.0f * c);"
     f" __syncthreads(); {_turns('*')} last = carry * a[now][t]; carry *= a[now][127]; __syncthreads(); }}"
     " out[blockIdx.x * 128 + t] = last;"),
    ("items until the last", [END], "", "const long long base = (blockIdx.x * 128LL + threadIdx.x) * 2;"
     " for (int k = 0; k < 2; ++k) { if (base + k >= n - 3) return; out[base + k] = x[base + k] + 1.0f; }"),
    ("items until a bound", [END], "constexpr int ITEMS = 4;", "int t = threadIdx.x; for (int k = 0; k < ITEMS; k++) {"
     " int i = t * 2 + 128 * k; if (n / 2 < i + 9) break; out[i] = x[i] * 2.0f; } out[200 + t % 32] = x[t % 32];"),
    ("items in the head of whose loop is a bound", [TESTED, END], "", "const int base = threadIdx.x * 2;"
     " for (int k = 0; k < 12 && base + k < n - 3; ++k) { out[base + k] = x[base + k] + 1.0f; }"),
    ("few turns that end by what they made", [TESTED], "", "int t = threadIdx.x; float kept[2], s = 0.0f; for (int k = 0; s < 0.5f"
     " && k < 2; ++k) { kept[k] = fabsf(x[t * 2 + k]); s += kept[k]; } out[t] = s < 0.5f ? kept[1] : s;"),
    ("one warp adds what the others stored, one thread the rest", [FOLD], SERIAL, "extern __shared__ unsigned char m[];"
     " auto s = reinterpret_cast<float*>(m); float v = x[blockIdx.x * 128 + threadIdx.x]; float a = serial<Add>(s, v, Add<float>(), 0.0f);"
     " out[blockIdx.x * 128 + threadIdx.x] = a + v;"),
    ("that three times in one array, with another operation and a least value", [FOLD, FOLD, FOLD], SERIAL, "extern __shared__ unsigned char m[];"
     " auto s = reinterpret_cast<float*>(m); float v = x[blockIdx.x * 128 + threadIdx.x]; float a = serial<Larger>(s, v - 1.0f,"
     " Larger<float>(), 0.5f); a += serial<Add>(s, v, Add<float>(), 0.0f); float c = serial<Add>(s, v * v, Add<float>(), 0.0f);"
     " out[blockIdx.x * 128 + threadIdx.x] = a + c;"),
    ("two values by reference and by address", [FOLD], TWO_OF_THEM, "__shared__ float s[256]; float v = x[blockIdx.x * 128 + threadIdx.x],"
     " w = v * v; two(s, v, &w); out[blockIdx.x * 128 + threadIdx.x] = v - w;"),
    ("rows of lanes added in any order", [FOLD], ODD_STAGES, f"{_LOAD} v = odd(v); out[blockIdx.x * 128 + t] = v;"),
    ("a tree without its loop in a longer array", [DONE_TREE], "template <int B> __device__ void unrolled(float* s) { if (B >= 256) {"
     " if (threadIdx.x < 128) s[threadIdx.x] += s[threadIdx.x + 128]; __syncthreads(); } if (B >= 128) { if (threadIdx.x < 64)"
     " s[threadIdx.x] += s[threadIdx.x + 64]; __syncthreads(); } if (threadIdx.x < 32) { volatile float* w = s; if (blockDim.x >= 64)"
     " w[threadIdx.x] += w[threadIdx.x + 32]; w[threadIdx.x] += w[threadIdx.x + 16]; w[threadIdx.x] += w[threadIdx.x + 8];"
     " w[threadIdx.x] += w[threadIdx.x + 4]; w[threadIdx.x] += w[threadIdx.x + 2]; w[threadIdx.x] += w[threadIdx.x + 1]; } }",
     "__shared__ float a[256]; int t = threadIdx.x; a[t] = x[blockIdx.x * 128 + t] * 2.0f; __syncthreads(); unrolled<128>(a);"
     " if (t == 0) out[blockIdx.x] = a[0];"),
    ("a tree whose last warp keeps its sum in a register", [DONE_TREE], "", f"{_STORE} for (int s = 64; s > 32; s >>= 1) {{ if (t < s)"
     " a[t] += a[t + s]; __syncthreads(); } if (t < 32) { volatile float* w = a; float v = w[t]; v += w[t + 32]; __syncwarp(); w[t] = v;"
     " __syncwarp(); v += w[t + 16]; __syncwarp(); w[t] = v; __syncwarp(); v += w[t + 8]; __syncwarp(); w[t] = v; __syncwarp();"
     " v += w[t + 4]; __syncwarp(); w[t] = v; __syncwarp(); v += w[t + 2]; __syncwarp(); w[t] = v; __syncwarp(); v += w[t + 1];"
     f" __syncwarp(); w[t] = v; __syncwarp(); }} {_FIRST}"),
    ("a tree of what a loop has added up in shared memory", [DONE_TREE], "", "__shared__ float a[128]; int t = threadIdx.x; a[t] = 0.0f;"
     " for (int i = t; i < n; i += 128) a[t] += x[i]; __syncthreads(); if (t < 64) a[t] += a[t + 64]; __syncthreads(); if (t < 32) {"
     " a[t] += a[t + 32]; __syncwarp(); a[t] += a[t + 16]; __syncwarp(); a[t] += a[t + 8]; __syncwarp(); a[t] += a[t + 4];"
     f" __syncwarp(); a[t] += a[t + 2]; __syncwarp(); a[t] += a[t + 1]; }} {_FIRST}"),
    ("a counter from before", [COUNTER], "", "int i = threadIdx.x; float s = 0.0f; for (; i < n; i += blockDim.x) s += x[i];"
     " out[blockIdx.x * 128 + threadIdx.x] = s;"),
    ("a while with its step", [COUNTER], "", "float s = 0.0f; unsigned int i = blockIdx.x * 128 + threadIdx.x;"
     " while (i < n) { s += x[i]; i += blockDim.x * gridDim.x; } i = n - 1; out[blockIdx.x * 128 + threadIdx.x] = s + x[i];"),
    ("pieces of four and their tail", [COUNTER, COUNTER], "", "int i = threadIdx.x; float s = x[i]; int last = (n - 1) % 512;"
     " for (; i * 4 < n - 1 - last; i += blockDim.x) { for (int j = 0; j < 4; ++j) s += x[4 * i + j]; } i = n - 1 - last + threadIdx.x;"
     " for (; i < n - 1; i += blockDim.x) s += x[i]; out[blockIdx.x * 128 + threadIdx.x] = s;"),
    *pointed_sources.LIFTED,
)  # fmt: skip

_ITEMS = "int t = threadIdx.x; for (int k = 0; k < 4; ++k)"
LEFT_ALONE = (
    ("two lanes with nothing that make NaN of it", "", f"{_LOAD} float m = t % 3 ? v : -INFINITY, d = t % 3 ? 1.0f : 0.0f;"
     " for (int o = 16; o > 0; o >>= 1) { float w = __shfl_xor_sync(~0u, m, o); float e = __shfl_xor_sync(~0u, d, o);"
     f" {RESCALED} }} out[blockIdx.x * 128 + t] = m + d;"),
    ("two fields of one place", "union Two { float x; float y; };", f"{_LOAD} Two p; p.x = v; for (int m = 16; m > 0; m >>= 1) {{"
     " p.x += __shfl_xor_sync(~0u, p.x, m); p.y += __shfl_xor_sync(~0u, p.y, m); } out[blockIdx.x * 128 + t] = p.x;"),
    ("a sum brought to the wrong extreme", "", f"{_LOAD} float m = v, d = 1.0f; for (int o = 16; o > 0; o >>= 1) {{"
     f" float w = __shfl_xor_sync(~0u, m, o); float e = __shfl_xor_sync(~0u, d, o); {RESCALED.replace('w - n', 'm - n')} }}"
     " out[blockIdx.x * 128 + t] = m + d;"),
    ("an array of which two numbers are used", "", "__shared__ float s[2]; s[0] = 1; s[1] = 2; out[threadIdx.x] = s[0] + s[1];"),
    ("an array whose first number's address is taken", "", "__shared__ int s[2]; s[0] = 0; __syncthreads();"
     " atomicAdd(&s[0], 1); __syncthreads(); out[threadIdx.x] = s[0];"),
    ("items while a bound moves", "", f"{_ITEMS} {{ if (t + k >= n - k) return; out[t + k] = x[t]; }}"),
    ("items that go down", "", f"{_ITEMS} {{ if (t - k >= n) return; out[t + k] = x[t]; }}"),
    ("items by an index that may wrap", "", f"{_ITEMS} {{ unsigned i = t + k; if (i >= n) return; out[i] = x[i]; }}"),
    ("items by a sum that may wrap", "", f"unsigned u = n; {_ITEMS} {{ if (k + u >= n) return; out[t] = x[t]; }}"),
    ("items before something else", "", f"{_ITEMS} {{ if (t + k >= n) return; out[t + k] = x[t]; }} out[t] = 0.0f;"),
    ("items loaded before it is asked", "", f"{_ITEMS} {{ float v = x[t + k]; if (t + k >= n) return; out[t + k] = v; }}"),
    ("items up to one place", "", f"{_ITEMS} {{ if (t + k == n) return; out[t + k] = x[t]; }}"),
    ("items whose bound the loop sets", "", f"int e = n; {_ITEMS} {{ if (t + k >= e) break; out[t + k] = x[t]; e = 9; }}"),
    ("items by a counter that the loop sets", "", f"{_ITEMS} {{ if (t + k >= n) break; out[t + k] = x[t]; k += 1; }}"),
    ("turns whose test reads behind the last", "", "int t = threadIdx.x; for (int k = 0; x[t + k] > 0.0f && k < 3; ++k)"
     " { out[t + k] = 0.0f; }"),
    ("many turns that end by what they made", "", "float s = 0.0f; for (int k = 0; k < 9 && s < 2.0f; ++k) { s += x[k]; }"
     " out[threadIdx.x] = s;"),
    ("as many turns as somebody says", "", "float s = 0.0f; for (int k = 0; k < n && s < 2.0f; ++k) { s += x[k]; }"
     " out[threadIdx.x] = s;"),
    ("items for ever", "", "for (int k = 0; k < n; ++k) { if (k >= 9) break; out[k] = x[k]; }"),
    ("a serial reduction that begins with something", SERIAL, "__shared__ float s[128]; float v = x[blockIdx.x * 128 + threadIdx.x];"
     " float a = serial<Add>(s, v, Add<float>(), 1.0f); out[blockIdx.x * 128 + threadIdx.x] = a;"),
    ("a serial reduction whose array is read", SERIAL, "__shared__ float s[128]; float v = x[blockIdx.x * 128 + threadIdx.x];"
     " float a = serial<Add>(s, v, Add<float>(), 0.0f); out[blockIdx.x * 128 + threadIdx.x] = a + s[threadIdx.x];"),
    ("a serial reduction of numbers that are rounded", SERIAL, "__shared__ int s[128]; float v = x[blockIdx.x * 128 + threadIdx.x];"
     " int a = serial<Add, int>(s, (int)v, Add<int>(), v > 0.0f ? 1 : 0); out[blockIdx.x * 128 + threadIdx.x] = a;"),
    ("a row of lanes is left out", ODD_STAGES.replace("(s[2] + s[3])", "s[2]"), f"{_LOAD} v = odd(v); out[blockIdx.x * 128 + t] = v;"),
    ("a row of lanes is added twice", ODD_STAGES.replace("s[3]", "s[2]"), f"{_LOAD} v = odd(v); out[blockIdx.x * 128 + t] = v;"),
    ("rows of lanes with an operation too many", ODD_STAGES.replace("s[0] + s[1]", "fmaxf(s[0], s[1])"),
     f"{_LOAD} v = odd(v); out[blockIdx.x * 128 + t] = v;"),
    ("rows of lanes that some threads do not have", ODD_STAGES.replace("return s[0]", "if (threadIdx.x == 5) return v; return s[0]"),
     f"{_LOAD} v = odd(v); out[blockIdx.x * 128 + t] = v;"),
    ("a sum that is written to memory on the way", ODD_STAGES.replace("(float v) {", "(float v, float* out) { out[127] = v;"),
     f"{_LOAD} v = odd(v, out); out[blockIdx.x * 128 + t] = v;"),
    ("a tree of differences without its loop", "", f"{_STORE} if (t < 64) a[t] -= a[t + 64]; __syncthreads(); {_FIRST}"),
    ("a tree that some threads may not come to", "", "__shared__ float a[128]; int t = threadIdx.x; a[t] = 0.0f; if (x[t] > 0.0f) {"
     " a[t] = x[t]; if (t < 64) a[t] += a[t + 64]; if (t < 32) a[t] += a[t + 32]; if (t < 16) a[t] += a[t + 16]; if (t < 8)"
     " a[t] += a[t + 8]; if (t < 4) a[t] += a[t + 4]; if (t < 2) a[t] += a[t + 2]; if (t < 1) a[t] += a[t + 1]; }"
     " if (t == 0) out[blockIdx.x] = a[0];"),
    ("a tree that leaves a register", "", f"{_STORE} float v = a[t]; if (t < 64) {{ v += a[t + 64]; a[t] = v; }} __syncthreads();"
     " if (t == 0) { for (int i = 1; i < 64; ++i) a[0] += a[i]; } __syncthreads(); if (t == 0) out[blockIdx.x] = a[0] + v;"),
    ("a counter that is read behind the loop", "", "int i = threadIdx.x; float s = 0.0f; for (; i < n; i += 128) s += x[i];"
     " out[blockIdx.x * 128 + threadIdx.x] = s + i;"),
    ("a counter that goes on where it was in the next turn", "", "int i = threadIdx.x; float s = 0.0f; for (int k = 1; k < 3; ++k)"
     " for (; i < k * 64; i += 32) s += x[i]; out[blockIdx.x * 128 + threadIdx.x] = s;"),
    ("a counter whose beginning has changed", "", "int m = 3; int i = m; float s = 0.0f; m = n / 2; for (; i < m; i += 2) s += x[i];"
     " out[blockIdx.x * 128 + threadIdx.x] = s;"),
    ("a counter that something else points to", "", "int i = threadIdx.x; int* p = &i; float s = 0.0f; for (; i < n; i += 128)"
     " s += x[i]; out[blockIdx.x * 128 + threadIdx.x] = s + *p;"),
    ("a counter that the body moves", "", "int i = threadIdx.x; float s = 0.0f; while (i < n) { s += x[i]; if (s > 9.0f) i += 128;"
     " i += 128; } out[blockIdx.x * 128 + threadIdx.x] = s;"),
    ("two rows of which the other one is read", "", f"{_ROWS} {_turns('+')} out[blockIdx.x * 128 + t] = a[1 - now][t];"),
    ("two rows and a step too few", "", f"{_ROWS} {_turns('+', 32)} out[blockIdx.x * 128 + t] = a[now][t];"),
    ("two rows whose number is read", "", f"{_ROWS} {_turns('+')} out[blockIdx.x * 128 + t] = a[now][t] + now;"),
    ("two rows of differences", "", f"{_ROWS} {_turns('-')} out[blockIdx.x * 128 + t] = a[now][t];"),
    ("a scan as a tree that keeps its total", "", f"{_STORE} for (int d = 1; d < 128; d *= 2) {{ __syncthreads();"
     " const int right = (t + 1) * 2 * d - 1; if (right < 128) a[right] += a[right - d]; }"
     " for (int d = 64; d > 0; d /= 2) { __syncthreads(); const int right = (t + 1) * 2 * d - 1; if (right < 128) {"
     " const float left = a[right - d]; a[right - d] = a[right]; a[right] += left; } } __syncthreads(); out[blockIdx.x * 128 + t] = a[t];"),
    ("a scan as a tree whose offset is read", "", f"{_STORE} int o = 1; for (int d = 64; d > 0; d /= 2) {{ __syncthreads();"
     " if (t < d) a[o * (2 * t + 2) - 1] += a[o * (2 * t + 1) - 1]; o *= 2; } if (t == 0) a[127] = 0.0f;"
     " for (int d = 1; d < 128; d *= 2) { o /= 2; __syncthreads(); if (t < d) { float left = a[o * (2 * t + 1) - 1];"
     " a[o * (2 * t + 1) - 1] = a[o * (2 * t + 2) - 1]; a[o * (2 * t + 2) - 1] += left; } } __syncthreads(); out[blockIdx.x * 128 + t] = a[t] + o;"),
    ("a tree in which equal values keep their own place", "", "__shared__ float a[128]; __shared__ int p[128]; int t = threadIdx.x;"
     " a[t] = x[blockIdx.x * 128 + t]; p[t] = t; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) {"
     " if (a[t + s] > a[t]) { a[t] = a[t + s]; p[t] = p[t + s]; } } __syncthreads(); } out[blockIdx.x * 128 + t] = a[0] + p[0];"),
    ("of equal values each lane keeps its own place", "", f"{_LOAD} int at = t; for (int m = 16; m > 0; m >>= 1) {{"
     " float w = __shfl_xor_sync(~0u, v, m); int b = __shfl_xor_sync(~0u, at, m); if (w > v) { v = w; at = b; } }"
     " out[blockIdx.x * 128 + t] = v + at;"),
    ("a place that means none", "", f"{_LOAD} int at = t - 1; for (int m = 16; m > 0; m >>= 1) {{"
     " float w = __shfl_xor_sync(~0u, v, m); int b = __shfl_xor_sync(~0u, at, m);"
     " if (b >= 0 && (w > v || (w == v && b < at))) { v = w; at = b; } } out[blockIdx.x * 128 + t] = v + at;"),
    ("moments of nothing, which are no numbers", MOMENTS.replace("if (count == 0.0f) return a;", ""),
     f"{_LOAD} Moments acc = {{v, 0.0f, 1.0f}}; for (int o = 16; o > 0; o >>= 1) {{"
     " Moments other; other.mean = __shfl_xor_sync(~0u, acc.mean, o); other.m2 = __shfl_xor_sync(~0u, acc.m2, o);"
     " other.count = __shfl_xor_sync(~0u, acc.count, o); acc = merged(acc, other); } out[blockIdx.x * 128 + t] = acc.m2;"),
    ("moments that forget the distance of the means", MOMENTS.replace("delta * delta * a.count", "delta * a.count"),
     f"{_LOAD} Moments acc = {{v, 0.0f, 1.0f}}; for (int o = 16; o > 0; o >>= 1) {{"
     " Moments other; other.mean = __shfl_xor_sync(~0u, acc.mean, o); other.m2 = __shfl_xor_sync(~0u, acc.m2, o);"
     " other.count = __shfl_xor_sync(~0u, acc.count, o); acc = merged(acc, other); } out[blockIdx.x * 128 + t] = acc.m2;"),
    ("a turn that counts besides", "", f"{_LOAD} int at = t, taken = 0; for (int m = 16; m > 0; m >>= 1) {{"
     " float w = __shfl_xor_sync(~0u, v, m); int b = __shfl_xor_sync(~0u, at, m);"
     " if (w > v || (w == v && b < at)) { v = w; at = b; ++taken; } } out[blockIdx.x * 128 + t] = v + at + taken;"),
    ("partial places read by all lanes", "", f"{_LOAD} int at = t; for (int m = 16; m > 0; m >>= 1) {{"
     " float w = __shfl_down_sync(~0u, v, m); int b = __shfl_down_sync(~0u, at, m);"
     " if (w > v || (w == v && b < at)) { v = w; at = b; } } out[blockIdx.x * 128 + t] = v + at;"),
    ("partial sums of lanes through a reference", BY_REFERENCE, f"{_LOAD} reduce(v); out[blockIdx.x * 128 + t] = v;"),
    ("a partial sum is read", "", f"{_STORE} for (int s = 64; s > 0; s >>= 1) {{ if (t < s) a[t] += a[t + s];"
     " __syncthreads(); } if (t == 0) out[blockIdx.x] = a[0] + a[1];"),
    ("partial sums are read by their threads", "", f"{_STORE} for (int s = 64; s > 0; s >>= 1) {{ if (t < s)"
     " a[t] += a[t + s]; __syncthreads(); } out[blockIdx.x * 128 + t] = a[t];"),
    ("another slice overlaps", "", "extern __shared__ float m[]; float* a = m; float* b = m + 64; int t = threadIdx.x;"
     " a[t] = x[blockIdx.x * 128 + t]; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) a[t] += a[t + s];"
     " __syncthreads(); } out[blockIdx.x * 128 + t] = a[0] + b[t / 2];"),
    ("the root of the slice is read", "", "extern __shared__ float m[]; float* a = m; int t = threadIdx.x;"
     " a[t] = x[blockIdx.x * 128 + t]; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) a[t] += a[t + s];"
     " __syncthreads(); } out[blockIdx.x * 128 + t] = a[0] + m[t];"),
    ("a slice of unknown place", "", "extern __shared__ float m[]; float* a = m; float* b = m + n; int t = threadIdx.x;"
     " a[t] = x[blockIdx.x * 128 + t]; __syncthreads(); for (int s = 64; s > 0; s >>= 1) { if (t < s) a[t] += a[t + s];"
     " __syncthreads(); } out[blockIdx.x * 128 + t] = a[0] + b[t];"),
    ("the tree is of half the block", "", f"{_STORE} for (int s = 32; s > 0; s >>= 1) {{ if (t < s) a[t] += a[t + s];"
     f" __syncthreads(); }} {_FIRST}"),
    ("the tree stops early", "", f"{_STORE} for (int s = 64; s > 1; s >>= 1) {{ if (t < s) a[t] += a[t + s];"
     f" __syncthreads(); }} {_FIRST}"),
    ("a thread may be gone", "", f"{_STORE} if (t >= n) return; for (int s = 64; s > 0; s >>= 1) {{ if (t < s)"
     f" a[t] += a[t + s]; __syncthreads(); }} {_FIRST}"),
    ("the operands differ", "", f"{_STORE} for (int s = 64; s > 0; s >>= 1) {{ if (t < s) a[t] -= a[t + s];"
     f" __syncthreads(); }} {_FIRST}"),
    ("a scan that stops early", "", f"{_STORE} for (int d = 1; d < 64; d *= 2) {{ float v = 0.0f; if (t >= d)"
     " v = a[t - d]; __syncthreads(); a[t] += v; __syncthreads(); } out[blockIdx.x * 128 + t] = a[t];"),
    ("a scan from another element", "", f"{_STORE} for (int d = 1; d < 128; d *= 2) {{ float v = 0.0f; if (t > d)"
     " v = a[t - d]; __syncthreads(); a[t] += v; __syncthreads(); } out[blockIdx.x * 128 + t] = a[t];"),
    ("a scan that adds something", "", f"{_STORE} for (int d = 1; d < 128; d *= 2) {{ float v = 1.0f; if (t >= d)"
     " v = a[t - d]; __syncthreads(); a[t] += v; __syncthreads(); } out[blockIdx.x * 128 + t] = a[t];"),
    ("a scan of half warps", "", f"{_LOAD} for (int d = 1; d < 32; d *= 2) {{ float n = __shfl_up_sync(0xffffffff, v, d, 16);"
     " if (t % 32 >= d) v += n; } out[blockIdx.x * 128 + t] = v;"),
    ("another value is exchanged", "", f"{_LOAD} float w = v * v; for (int m = 16; m > 0; m >>= 1)"
     " v += __shfl_xor_sync(0xffffffff, w, m); out[blockIdx.x * 128 + t] = v;"),
    ("all lanes read what only the first has", "", f"{_LOAD} for (int o = 16; o > 0; o >>= 1)"
     " v += __shfl_down_sync(0xffffffff, v, o); out[blockIdx.x * 128 + t] = v;"),
    ("the first lane's value goes on in a loop", "", f"{_LOAD} for (int turn = 0; turn < 2; ++turn) {{"
     " for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o); }"
     " if (t == 0) out[blockIdx.x] = v;"),
    ("a step is missing", "", f"{_LOAD} v += __shfl_xor_sync(~0u, v, 16); v += __shfl_xor_sync(~0u, v, 8);"
     " v += __shfl_xor_sync(~0u, v, 4); v += __shfl_xor_sync(~0u, v, 2); v += __shfl_xor_sync(~0u, v, 2);"
     " out[blockIdx.x * 128 + t] = v;"),
    ("segments of another width", "", f"{_LOAD} for (int m = 16; m > 0; m >>= 1) v += __shfl_xor_sync(0xffffffff, v, m, 16);"
     " out[blockIdx.x * 128 + t] = v;"),
)  # fmt: skip


def source(before: str, body: str) -> str:
    """A CUDA source with one kernel `k`."""
    return f"{before}\n__global__ void k(const float* x, float* out, int n) {{ {body} }}\n"
