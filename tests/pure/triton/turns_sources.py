"""Bodies of kernels `k(const float* x, float* out, int n)` for blocks of 128 threads, by what becomes of their loops.

In `TOGETHER` several turns of a loop are done at a time, in `AHEAD` several turns' loads, in `ALONE` neither: (name, body).
"""
# ruff: noqa: E501 - one line a kernel

_STORE = "out[blockIdx.x * 128 + threadIdx.x] = s;"
TOGETHER = [
    ("a sum", f"float s = 1.0f; for (int i = threadIdx.x; i < n - 3; i += 128) s += x[i]; {_STORE}"),
    ("a difference of squares", f"float s = 0; for (int i = threadIdx.x; i < n - 3; i += 128) {{ float v = x[i]; s -= v * v; }} {_STORE}"),
    ("the larger", f"float s = -1e30f; for (int i = threadIdx.x; i < n - 3; i += blockDim.x) s = fmaxf(s, x[i]); {_STORE}"),
    ("the smaller, from one of them", f"float s = x[threadIdx.x]; for (int i = threadIdx.x + 128; i < n - 3; i += 128) s = fminf(s, x[i]); {_STORE}"),
    ("two sums, one under a condition", f"float s = 0, q = 0; for (int i = threadIdx.x; i <= n - 9; i += 128) {{ float v = x[i]; s += v; if (v > 0) q += v * threadIdx.x; }} s += q; {_STORE}"),
    ("a sum that turns are left out of", f"float s = 0; for (int i = threadIdx.x; i < n - 3; i += 128) {{ if (x[i] < 0) continue; s += x[i]; }} {_STORE}"),
    ("a count", f"int c = 0; for (int i = threadIdx.x; i < n - 3; i += 128) if (x[i] > 0.25f) c++; float s = c; {_STORE}"),
    ("stores", "for (int i = threadIdx.x; i < n - 3; i += 128) out[i] = x[i] * 2.0f + 1.0f;"),
    ("stores of what a thread knows", "float v = x[threadIdx.x]; for (int i = threadIdx.x; i < n - 3; i += 128) out[i] = x[i] * v;"),
    ("columns that a thread goes down", "int p = threadIdx.x; if (p < 100) { float s = 0; for (int c = 0; c < n / 128; ++c) s += x[c * 100 + p] * c; out[p] = s; }"),
    ("rows that a thread goes along", "float s = 0; for (int c = 0; c < n / 64 + 1; ++c) s += x[threadIdx.x + c]; out[threadIdx.x] = s;"),
    ("a stride over the grid", f"float s = 0; for (long long i = blockIdx.x * 128LL + threadIdx.x; i < n - 3; i += gridDim.x * 128LL) s += x[i]; {_STORE}"),
    ("what was written before", "float s = 0; if (blockIdx.x == 0) { for (int i = threadIdx.x; i < n - 3; i += 128) out[i] = x[i] + 1.0f; for (int i = threadIdx.x; i < n - 3; i += 128) s += out[i]; out[threadIdx.x] = s; }"),
    ("in place", "if (blockIdx.x == 0) { for (int i = threadIdx.x; i < n; i += 128) out[i] = x[i]; for (int i = threadIdx.x; i < n - 3; i += 128) out[i] = out[i] * 3.0f; }"),
    ("a sum of all threads", "typedef cub::BlockReduce<float, 128> R; __shared__ typename R::TempStorage m; float s = 0; for (int i = threadIdx.x; i < n - 3; i += 128) s += x[i]; float all = R(m).Sum(s); if (threadIdx.x == 0) out[blockIdx.x] = all;"),
    ("a sum of all threads that is asked for twice", "typedef cub::BlockReduce<float, 128> R; __shared__ typename R::TempStorage m; float s = 0; for (int i = threadIdx.x; i < n - 3; i += 128) s += x[i]; float all = R(m).Sum(s); out[blockIdx.x * 128 + threadIdx.x] = s; if (threadIdx.x == 0) out[blockIdx.x * 128] = all;"),
    ("a sum of all threads that begins with 1", "typedef cub::BlockReduce<float, 128> R; __shared__ typename R::TempStorage m; float s = 1; for (int i = threadIdx.x; i < n - 3; i += 128) s += x[i]; float all = R(m).Sum(s); if (threadIdx.x == 0) out[blockIdx.x] = all;"),
    ("sums of all threads, round by round", "typedef cub::BlockReduce<float, 128> R; __shared__ typename R::TempStorage m; float t = 0; for (int r = 0; r < n / 100; ++r) { float s = 0; for (int i = threadIdx.x; i < n - 3; i += 128) s += x[i] * r; float all = R(m).Sum(s); __syncthreads(); if (threadIdx.x == 0) t += all; } if (threadIdx.x == 0) out[blockIdx.x] = t + 1;"),
    ("the largest of all threads", "typedef cub::BlockReduce<float, 128> R; __shared__ typename R::TempStorage m; float s = 0.5f; for (int i = threadIdx.x; i < n - 3; i += 128) s = fmaxf(s, x[i]); float all = R(m).Reduce(s, cub::Max()); if (threadIdx.x == 0) out[blockIdx.x] = all;"),
    ("few items of a thread", "int b = threadIdx.x * 2; for (int k = 0; k < 2; ++k) if (b + k < n - 3) out[b + k] = x[b + k] * 2.0f;"),
    ("some threads", f"float s = 0; if (threadIdx.x % 3) for (int i = threadIdx.x; i < n - 3; i += 128) s += x[i]; {_STORE}"),
    ("a sum that lanes exchange one by one", f"float s = 0; for (int i = threadIdx.x; i < n; i += 128) s += x[i]; s = __shfl_sync(0xffffffff, s, n & 31); {_STORE}"),
]  # fmt: skip
AHEAD = [
    ("a mean that is updated", f"float s = 0, c = 0; for (int i = threadIdx.x; i < n - 3; i += 128) {{ c += 1.0f; s += (x[i] - s) / c; }} {_STORE}"),
    ("a length that grows", f"float s = 1; for (int i = threadIdx.x; i < n - 3; i += blockDim.x) s = sqrtf(s * s + x[i] * x[i]); {_STORE}"),
    ("what is stored on the way", "float s = 2; for (int i = threadIdx.x; i < n - 3; i += 128) { float v = x[i] * x[i]; s = v / s + 0.5f; out[i] = s; }"),
]  # fmt: skip
ALONE = [
    ("a quotient that decides what is loaded", f"float s = 1; for (int i = threadIdx.x; i < n; i += 128) s = s / x[(int)s]; {_STORE}"),
    ("quotients of what the loop writes", "float s = 1; for (int i = threadIdx.x; i < n; i += 128) { s = out[i] / s; out[i] = s; }"),
    ("a sum that is read on the way", "float s = 0; for (int i = threadIdx.x; i < n; i += 128) { s += x[i]; out[i] = s; }"),
    ("a product", f"float s = 1; for (int i = threadIdx.x; i < n; i += 128) s *= x[i]; {_STORE}"),
    ("the last one", f"float s = 0; for (int i = threadIdx.x; i < n; i += 128) s = x[i]; {_STORE}"),
    ("a sum that may end", f"float s = 0; for (int i = threadIdx.x; i < n; i += 128) {{ if (x[i] < 0) break; s += x[i]; }} {_STORE}"),
    ("what the next turn reads", "for (int i = threadIdx.x; i < n - 128; i += 128) out[i + 128] = out[i] + x[i];"),
    ("stores to one place", "for (int c = 0; c < n; ++c) out[threadIdx.x] = x[c * 128 + threadIdx.x];"),
    ("stores to places that come again", "for (int i = threadIdx.x; i < n; i += 128) out[i % 128] = x[i];"),
    ("stores to places that are told by what is loaded", "for (int i = threadIdx.x; i < n; i += 128) out[(int)x[i]] = x[i];"),
    ("an index that passes int", f"float s = 0; for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) s += x[i]; {_STORE}"),
    ("what lanes exchange", f"float s = 0; for (int i = threadIdx.x; i < n; i += 128) s += __shfl_xor_sync(0xffffffff, x[i], 1); {_STORE}"),
    ("a shared array", f"__shared__ float t[128]; float s = 0; for (int i = threadIdx.x; i < n; i += 128) {{ t[127 - threadIdx.x] = x[i]; __syncthreads(); s += t[threadIdx.x]; __syncthreads(); }} {_STORE}"),
    ("rows of one and columns of another", "float s = 0; for (int c = 0; c < n; ++c) s += x[threadIdx.x * n + c] * x[c * n + threadIdx.x]; out[threadIdx.x] = s;"),
    ("a window that is cut off", "float s = 0; for (int k = 0; k < 7; ++k) if (threadIdx.x + k < n) s += x[threadIdx.x + k]; out[threadIdx.x] = s;"),
    ("what another load decides on loading", f"float s = 0; for (int i = threadIdx.x; i < n - 3; i += 128) if (out[i] > 0) s += x[i]; {_STORE}"),
    ("what a load decides on storing", "for (int i = threadIdx.x; i < n; i += 128) if (x[i] > 0) out[i] = x[i];"),
    ("an alternating sum", f"float s = 0, g = 1; for (int i = threadIdx.x; i < n; i += 128) {{ s += x[i] * g; g = -g; }} {_STORE}"),
]  # fmt: skip


def source(body: str) -> str:
    """The kernel `k`."""
    return f"__global__ void k(const float* x, float* out, int n) {{\n{body}\n}}\n"
