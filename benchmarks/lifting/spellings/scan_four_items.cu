// y[i, j] = sum over k <= j of x[i, k]
#include <cuda_runtime.h>

template <int THREADS>
__global__ void cumsum4(const float* x, float* y, int cols)
{
    static_assert(THREADS % 32 == 0 && THREADS <= 1024, "whole warps");
    constexpr int WARPS = THREADS / 32;
    __shared__ float tot[WARPS];
    const int lane = threadIdx.x & 31;
    const int wid = threadIdx.x >> 5;
    const float* in = x + (size_t)blockIdx.x * cols;
    float* out = y + (size_t)blockIdx.x * cols;
    float carry = 0.f;

    for (int tile = 0; tile < cols; tile += 4 * THREADS) {
        const int j = tile + 4 * threadIdx.x;
        float r[4];
#pragma unroll
        for (int q = 0; q < 4; ++q) r[q] = j + q < cols ? in[j + q] : 0.f;
        // in registers first
        r[1] += r[0];
        r[2] += r[1];
        r[3] += r[2];

        float s = r[3];
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const float o = __shfl_up_sync(0xffffffff, s, d);
            s += lane < d ? 0.f : o;
        }
        float ex = __shfl_up_sync(0xffffffff, s, 1);
        if (lane == 0) ex = 0.f;
        if (lane == 31) tot[wid] = s;
        __syncthreads();

        float before = carry + ex;
        float all = 0.f;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            if (w < wid) before += tot[w];
            all += tot[w];
        }
        carry += all;
#pragma unroll
        for (int q = 0; q < 4; ++q)
            if (j + q < cols) out[j + q] = before + r[q];
        __syncthreads();
    }
}

void run_scan_four_items(const float* x, float* y, int rows, int cols)
{
    cumsum4<128><<<rows, 128>>>(x, y, cols);
}
