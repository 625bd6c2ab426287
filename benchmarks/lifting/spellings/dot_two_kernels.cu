// y[0] = sum over i of a[i] * b[i]
#include <cuda_runtime.h>
#include <algorithm>

namespace dot2k {

constexpr int kBlock = 256;
constexpr int kMaxBlocks = 320;

__device__ void tree(float (&buf)[kBlock])
{
    int stride = kBlock;
    while ((stride /= 2) > 0) {
        if (threadIdx.x < stride) buf[threadIdx.x] += buf[threadIdx.x + stride];
        __syncthreads();
    }
}

__global__ void partials(const float* a, const float* b, float* part, size_t n)
{
    __shared__ float buf[kBlock];
    float acc = 0.f;
    const size_t step = size_t(kBlock) * gridDim.x;
    for (size_t i = size_t(kBlock) * blockIdx.x + threadIdx.x; i < n; i += step) acc += a[i] * b[i];
    buf[threadIdx.x] = acc;
    __syncthreads();
    tree(buf);
    if (threadIdx.x == 0) part[blockIdx.x] = buf[0];
}

__global__ void finish(const float* part, float* y, int count)
{
    __shared__ float buf[kBlock];
    float acc = 0.f;
    for (int i = threadIdx.x; i < count; i += kBlock) acc += part[i];
    buf[threadIdx.x] = acc;
    __syncthreads();
    tree(buf);
    if (threadIdx.x == 0) y[0] = buf[0];
}

}  // namespace dot2k

void run_dot_two_kernels(const float* a, const float* b, float* y, int n)
{
    using namespace dot2k;
    const int blocks = std::min((n - 1) / kBlock + 1, kMaxBlocks);
    float* part = nullptr;
    cudaMallocAsync(&part, blocks * sizeof(float), cudaStream_t(0));
    partials<<<blocks, kBlock>>>(a, b, part, n);
    finish<<<1, kBlock>>>(part, y, blocks);
    cudaFreeAsync(part, cudaStream_t(0));
}
