#include <cuda_runtime.h>

__device__ float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }

__global__ void gelu_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = gelu(x[i]);
}

__global__ void clamp_kernel(const float* x, float* y, int n, float low, float high) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float v = x[i];
        if (v < low)
            v = low;
        else if (v > high)
            v = high;
        y[i] = v;
    }
}

__global__ void masked_fill(const float* x, const unsigned char* mask, const float* fill, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = (mask != nullptr && mask[i]) ? fill[0] : x[i];
}
