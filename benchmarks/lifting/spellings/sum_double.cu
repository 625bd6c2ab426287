// y[0] = (sum over i, j of x[i, j]) / (rows * cols), summed in double
#include <cuda_runtime.h>

__device__ double block_sum_f64(double v)
{
    __shared__ double w[32];
    const int lane = threadIdx.x & 31;
    int k = 16;
    do {
        v += __shfl_down_sync(0xffffffff, v, k);
        k >>= 1;
    } while (k);
    if (lane == 0) w[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = lane < (blockDim.x >> 5) ? w[lane] : 0.0;
        for (k = 16; k; k >>= 1) v += __shfl_down_sync(0xffffffff, v, k);
    }
    return v;
}

__global__ void sum_rows_f64(const float* x, double* row_sum, int cols)
{
    double acc = 0.0;
    for (int j = threadIdx.x; j < cols; j += blockDim.x)
        acc += static_cast<double>(x[size_t(blockIdx.x) * cols + j]);
    acc = block_sum_f64(acc);
    if (threadIdx.x == 0) row_sum[blockIdx.x] = acc;
}

__global__ void mean_of_rows_f64(const double* row_sum, float* y, int rows, double count)
{
    double acc = 0.0;
    for (int i = threadIdx.x; i < rows; i += blockDim.x) acc += row_sum[i];
    acc = block_sum_f64(acc);
    if (threadIdx.x == 0) *y = static_cast<float>(acc / count);
}

void run_sum_double(const float* x, float* y, int rows, int cols)
{
    double* row_sum;
    cudaMallocAsync(reinterpret_cast<void**>(&row_sum), rows * sizeof(double), 0);
    sum_rows_f64<<<rows, 128>>>(x, row_sum, cols);
    mean_of_rows_f64<<<1, 1024>>>(row_sum, y, rows, double(rows) * cols);
    cudaFreeAsync(row_sum, 0);
}
