// y[i] = 1 if any over j of (x[i, j] > limit) else 0
#include <cuda_runtime.h>

// The block leaves a row as soon as one of its tiles has a hit.
__global__ void any_above(const float* x, float limit, float* y, int rows, int cols)
{
    int row = blockIdx.x;
    while (row < rows) {
        int found = 0;
        for (int start = 0; start < cols && !found; start += blockDim.x) {
            const int j = start + threadIdx.x;
            const int mine = j < cols && x[(size_t)row * cols + j] > limit;
            found = __syncthreads_or(mine);
        }
        if (threadIdx.x == 0) y[row] = found ? 1.0f : 0.0f;
        row += gridDim.x;
    }
}

void run_any_syncthreads_or(const float* x, float limit, float* y, int rows, int cols)
{
    int threads = 32;
    for (; threads < 256 && threads < cols; threads <<= 1) {}
    any_above<<<rows < 2048 ? rows : 2048, threads>>>(x, limit, y, rows, cols);
}
