#include <cuda_runtime.h>

__global__ void tree_sum(const float* x, float* out, int n) {
    __shared__ float s[256];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    s[tid] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (unsigned int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (tid < k) s[tid] += s[tid + k];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}

__inline__ __device__ float warp_max_of(float v) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_down_sync(0xffffffff, v, offset));
    return v;
}

__global__ void row_max(const float* x, float* out, int cols) {
    __shared__ float partial[32];
    const int row = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float best = -INFINITY;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) best = fmaxf(best, x[row * cols + c]);
    best = warp_max_of(best);
    if (lane == 0) partial[warp] = best;
    __syncthreads();
    best = threadIdx.x < blockDim.x / 32 ? partial[lane] : -INFINITY;
    if (warp == 0) best = warp_max_of(best);
    if (threadIdx.x == 0) out[row] = best;
}

__global__ void centred(const float* x, float* y, int n) {
    __shared__ float mean;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f, sum = v;
    sum = __syncthreads_or(v > 1.0f) ? 1.0f : 0.5f;
    if (threadIdx.x == 0) mean = sum / n;
    __syncthreads();
    if (i < n) y[i] = v - mean;
}
