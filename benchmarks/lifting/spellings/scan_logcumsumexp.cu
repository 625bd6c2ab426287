// y[i, j] = log(sum over k <= j of exp(x[i, k]))
#include <cuda_runtime.h>
#include <math_constants.h>

template <class T, class Op>
__device__ T block_scan_inclusive(T v, T identity, Op op, T* warp_buf, T& total)
{
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    for (int d = 1; d < 32; d <<= 1) {
        T o = __shfl_up_sync(0xffffffff, v, d);
        v = lane >= d ? op(o, v) : v;
    }
    if (lane == 31) warp_buf[warp] = v;
    __syncthreads();
    T before = identity;
    total = identity;
    for (int w = 0; w < blockDim.x / 32; ++w) {
        if (w == warp) before = total;
        total = op(total, warp_buf[w]);
    }
    __syncthreads();
    return op(before, v);
}

__global__ void logcumsumexp(const float* x, float* y, int cols)
{
    __shared__ float buf[32];
    const auto add_exp = [](float a, float b) -> float {
        const float hi = fmaxf(a, b), lo = fminf(a, b);
        return isinf(hi) ? hi : hi + log1pf(expf(lo - hi));
    };
    float carry = -CUDART_INF_F;
    for (int base = 0; base < cols; base += blockDim.x) {
        const int j = base + threadIdx.x;
        const size_t at = size_t(blockIdx.x) * cols + j;
        float total;
        const float v = block_scan_inclusive(j < cols ? x[at] : -CUDART_INF_F, -CUDART_INF_F, add_exp, buf, total);
        if (j < cols) y[at] = add_exp(carry, v);
        carry = add_exp(carry, total);
    }
}

void run_scan_logcumsumexp(const float* x, float* y, int rows, int cols)
{
    logcumsumexp<<<rows, 160>>>(x, y, cols);
}
