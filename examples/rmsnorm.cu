// RMS normalisation of half-precision rows, called through a C interface with device pointers.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define WARP_SIZE 32
#define FULL_MASK 0xffffffff

template <int kThreads>
__global__ void rmsnorm_kernel(const half* input, const half* weight, half* output, int columns, float epsilon) {
    constexpr int kWarps = kThreads / WARP_SIZE;
    __shared__ float partial[kWarps];
    const half* x = input + blockIdx.x * columns;
    half* y = output + blockIdx.x * columns;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        const float value = __half2float(x[i]);
        squares += value * value;
    }
#pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask /= 2) squares += __shfl_xor_sync(FULL_MASK, squares, mask);
    if (threadIdx.x % WARP_SIZE == 0) partial[threadIdx.x / WARP_SIZE] = squares;
    __syncthreads();

    float total = 0.0f;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) total += partial[warp];
    const float scale = rsqrtf(total / columns + epsilon);

    for (int i = threadIdx.x; i < columns; i += kThreads) {
        y[i] = __float2half(__half2float(x[i]) * scale * __half2float(weight[i]));
    }
}

extern "C" void rmsnorm_fp16(const half* input, const half* weight, half* output, int rows, int columns, float epsilon,
                             cudaStream_t stream) {
    rmsnorm_kernel<256><<<rows, 256, 0, stream>>>(input, weight, output, columns, epsilon);
}
