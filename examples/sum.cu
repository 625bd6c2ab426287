// The sum of a million numbers, as a whole program: each block adds up its share, a second launch adds the blocks.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t error = (call);                                                     \
        if (error != cudaSuccess) {                                                     \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

constexpr int kThreads = 512;
constexpr int kBlocks = 64;
constexpr unsigned kFullMask = 0xffffffffu;

__global__ void sum_kernel(const float* values, float* sums, int count) {
    __shared__ float warp_sums[kThreads / 32];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += values[i];

    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(kFullMask, sum, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();

    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(kFullMask, sum, offset);
        if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    }
}

int main() {
    const int count = 1000003;
    std::vector<float> host(count);
    for (int i = 0; i < count; ++i) host[i] = static_cast<float>(i % 7) - 3.0f;

    float *values, *sums;
    CHECK(cudaMalloc(&values, count * sizeof(float)));
    CHECK(cudaMalloc(&sums, kBlocks * sizeof(float)));
    CHECK(cudaMemcpy(values, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));

    sum_kernel<<<kBlocks, kThreads>>>(values, sums, count);
    sum_kernel<<<1, kThreads>>>(sums, sums, kBlocks);
    CHECK(cudaGetLastError());

    float sum = 0.0f;
    CHECK(cudaMemcpy(&sum, sums, sizeof(float), cudaMemcpyDeviceToHost));
    printf("sum = %.1f\n", sum);
    CHECK(cudaFree(values));
    CHECK(cudaFree(sums));
    return 0;
}
