// A strided loop, a tree in shared memory, a launcher on raw pointers.
#include <cuda_runtime.h>

__global__ void row_mean(const float* in, float* out, int columns) {
    __shared__ float partial[128];
    const float* row = in + blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += row[i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = partial[0] / columns;
}

void launch_row_mean(const float* in, float* out, int rows, int columns, cudaStream_t stream) {
    row_mean<<<rows, 128, 0, stream>>>(in, out, columns);
}
