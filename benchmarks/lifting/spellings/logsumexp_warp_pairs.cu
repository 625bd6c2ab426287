// y[i] = log(sum over j of exp(x[i, j]))
#include <cuda_runtime.h>
#include <cmath>

// a float2 holds (running max, running sum of exponentials)
__device__ float2 lse_join(float2 p, float2 q)
{
    const float m = fmaxf(p.x, q.x);
    if (m == -INFINITY)
        return make_float2(m, 0.f);
    return make_float2(m, p.y * expf(p.x - m) + q.y * expf(q.x - m));
}

__global__ void lse_rows(const float* x, float* y, int rows, int cols)
{
    const int lane = threadIdx.x;
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < rows; row += gridDim.x * blockDim.y) {
        const float* p = x + (size_t)row * cols;
        float2 acc = {-INFINITY, 0.f};
        for (int j = lane; j < cols; j += 32) {
            const float v = p[j];
            if (v > acc.x) {
                acc.y = acc.y * expf(acc.x - v) + 1.f;
                acc.x = v;
            } else if (v > -INFINITY) {
                acc.y += expf(v - acc.x);
            }
        }
        __syncwarp();
#pragma unroll
        for (int w = 1; w < 32; w <<= 1) {
            float2 o;
            o.x = __shfl_xor_sync(0xffffffff, acc.x, w);
            o.y = __shfl_xor_sync(0xffffffff, acc.y, w);
            acc = lse_join(acc, o);
        }
        if (lane == 0)
            y[row] = acc.x + logf(acc.y);
    }
}

void run_logsumexp_warp_pairs(const float* x, float* y, int rows, int cols)
{
    const int per_block = 8;
    int blocks = (rows + per_block - 1) / per_block;
    if (blocks > 4096) blocks = 4096;
    lse_rows<<<blocks, dim3(32, per_block)>>>(x, y, rows, cols);
}
