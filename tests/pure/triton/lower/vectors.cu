#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void add4(const float* a, const float* b, float* c, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i < n) {
        float4 u = reinterpret_cast<const float4*>(a + i)[0];
        float4 v = reinterpret_cast<const float4*>(b + i)[0];
        reinterpret_cast<float4*>(c + i)[0] = make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
    }
}

__global__ void doubled(const half2* x, half2* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hadd2(x[i], x[i]);
}

__global__ void carried(float* x, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i < n) {
        float4 v = reinterpret_cast<float4*>(x + i)[0];
        x[i] = v.x + v.y;
    }
}
