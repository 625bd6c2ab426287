// y[i, o] = max over k with o * stride <= k < min(o * stride + width, cols) of x[i, k]
#include <cuda_runtime.h>

// one thread for each window; ceil(cols / stride) windows a row, clipped at the end
__global__ void max_pool_1d(const float* x, float* y, int rows, int cols, int outs, int width, int stride)
{
    const size_t total = (size_t)rows * outs;
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t o = (size_t)blockIdx.x * blockDim.x + threadIdx.x; o < total; o += step) {
        const size_t i = o / outs;
        const int begin = (int)(o % outs) * stride;
        const int end = width < cols - begin ? begin + width : cols;
        const float* row = x + i * cols;
        float best = row[begin];
        for (int k = begin + 1; k < end; k++)
            if (row[k] > best) best = row[k];
        y[o] = best;
    }
}

void run_max_pool_window(const float* x, float* y, int rows, int cols, int width, int stride)
{
    const int outs = (cols - 1) / stride + 1;
    size_t blocks = ((size_t)rows * outs + 255) / 256;
    if (blocks > 65536) blocks = 65536;
    max_pool_1d<<<(unsigned)blocks, 256>>>(x, y, rows, cols, outs, width, stride);
}
