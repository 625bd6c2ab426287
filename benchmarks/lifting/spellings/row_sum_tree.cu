// y[i] = sum over j of x[i, j]
#include <cuda_runtime.h>

__global__ void row_sum_tree_kernel(const float* x, float* y, int cols)
{
    extern __shared__ float buf[];
    const int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;

    float acc = 0.f;
    for (int j = tid; j < cols; j += blockDim.x)
        acc += row[j];
    buf[tid] = acc;
    __syncthreads();

    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            buf[tid] += buf[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        y[blockIdx.x] = buf[0];
}

void run_row_sum_tree(const float* x, float* y, int rows, int cols)
{
    // smallest power of two that covers a row, at most 1024
    int threads = 32;
    while (threads < cols && threads < 1024)
        threads *= 2;
    row_sum_tree_kernel<<<rows, threads, threads * sizeof(float)>>>(x, y, cols);
}
