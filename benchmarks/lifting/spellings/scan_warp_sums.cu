// y[i, j] = sum over k <= j of x[i, k]
#include <cuda_runtime.h>

__device__ __forceinline__ float warp_inclusive(float v, int lane)
{
#pragma unroll
    for (int d = 1; d <= 16; d <<= 1) {
        const float up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += up;
    }
    return v;
}

__global__ void cumsum_rows(const float* __restrict__ x, float* __restrict__ y, int cols)
{
    __shared__ float warp_tot[32];
    const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    const int nwarps = blockDim.x >> 5;
    const size_t row = (size_t)blockIdx.x * cols;
    float carry = 0.f;

    for (int j0 = 0; j0 < cols; j0 += blockDim.x) {
        const int j = j0 + threadIdx.x;
        float v = warp_inclusive(j < cols ? x[row + j] : 0.f, lane);
        if (lane == 31) warp_tot[wid] = v;
        __syncthreads();
        if (wid == 0) {
            const float t = warp_inclusive(lane < nwarps ? warp_tot[lane] : 0.f, lane);
            __syncwarp();
            warp_tot[lane] = t;
        }
        __syncthreads();
        if (wid > 0) v += warp_tot[wid - 1];
        if (j < cols) y[row + j] = carry + v;
        carry += warp_tot[nwarps - 1];
        __syncthreads();
    }
}

void run_scan_warp_sums(const float* x, float* y, int rows, int cols)
{
    const int threads = cols <= 256 ? 64 : cols <= 2048 ? 256 : 1024;
    cumsum_rows<<<rows, threads>>>(x, y, cols);
}
