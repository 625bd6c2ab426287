// n = 2048: one warp to a row of 128, all lanes need the sum
#include <cuda_runtime.h>

__device__ __forceinline__ float warpAllReduceSum(float val) {
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        val += __shfl_xor_sync(0xffffffff, val, mask);
    }
    return val;
}

__global__ void normalizeRows(const float* x, float* y, int cols) {
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * (blockDim.x / 32) + warp;
    float sum = 0.f;
    for (int c = lane; c < cols; c += 32) sum += x[row * cols + c] * x[row * cols + c];
    sum = warpAllReduceSum(sum);
    for (int c = lane; c < cols; c += 32) y[row * cols + c] = x[row * cols + c] / sqrtf(sum);
}

extern "C" void run(const float* in, float* out, int n) { normalizeRows<<<n / 128 / 8, 256>>>(in, out, 128); }
