#include <cuda_runtime.h>

__global__ void scaled(const double* x, double* y, long long n, double factor) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + 0.1;
}

__global__ void rotated(float* x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % blockDim.x];
}

__global__ void scattered(const float* x, const int* to, float* y) {
    extern __shared__ float s[];
    s[to[threadIdx.x]] = x[threadIdx.x];
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

__global__ void led(const float* x, float* y) {
    __shared__ float first[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0) first[warp] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] - first[warp];
}
