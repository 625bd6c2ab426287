// y[i, j] = (x[i, j] - lo[i]) / (hi[i] - lo[i] + eps), lo[i] = min over k of x[i, k], hi[i] = max over k of x[i, k]
#include <cuda_runtime.h>

#define WARP_EACH(off, stmt) \
    for (int off = 16; off > 0; off >>= 1) { stmt; }

__global__ void minmax_normalise(const float* x, float* y, const int cols, const float eps)
{
    __shared__ float2 ends[32];  // .x low, .y high
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t first = (size_t)blockIdx.x * cols;

    float lo = x[first], hi = lo;
    for (int k = threadIdx.x; k < cols; k += blockDim.x) {
        const float v = x[first + k];
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
    }
    WARP_EACH(o, lo = fminf(lo, __shfl_xor_sync(~0u, lo, o)); hi = fmaxf(hi, __shfl_xor_sync(~0u, hi, o)))
    if (lane == 0) {
        ends[warp].x = lo;
        ends[warp].y = hi;
    }
    __syncthreads();

    if (warp == 0) {
        const int w = blockDim.x / 32;
        // lanes without a warp of their own repeat the first
        float2 e = ends[lane < w ? lane : 0];
        WARP_EACH(o, e.x = fminf(e.x, __shfl_xor_sync(~0u, e.x, o)); e.y = fmaxf(e.y, __shfl_xor_sync(~0u, e.y, o)))
        __syncwarp();
        if (lane == 0) ends[0] = e;
    }
    __syncthreads();

    const float low = ends[0].x;
    const float scale = 1.f / (ends[0].y - low + eps);
    for (int k = threadIdx.x; k < cols; k += blockDim.x)
        y[first + k] = (x[first + k] - low) * scale;
}

void run_minmax_normalise(const float* x, float* y, int rows, int cols)
{
    const int threads = cols > 1024 ? 512 : 96;
    minmax_normalise<<<rows, threads>>>(x, y, cols, 1e-6f);
}
