// y[i] = min over j of x[i, j]
#include <cuda_runtime.h>
#include <cfloat>
#include <cmath>

constexpr int kRowsPerBlock = 4;

// blockDim = (32, kRowsPerBlock): threadIdx.y picks the row
__global__ void min_warp_rows(const float* __restrict__ mat, float* __restrict__ res, int rows, int cols)
{
    const int row = blockIdx.x * kRowsPerBlock + threadIdx.y;
    if (row >= rows) return;  // the whole warp leaves

    const float* p = &mat[(size_t)row * cols];
    float lo = INFINITY;
    for (int col = threadIdx.x; col < cols; col += 32)
        lo = min(lo, p[col]);

    for (int o = 16; o > 0; o /= 2) {
        float other = __shfl_down_sync(~0u, lo, o);
        if (other < lo) lo = other;
    }

    if (threadIdx.x == 0) res[row] = lo;
}

void run_row_min_warp_per_row(const float* x, float* y, int rows, int cols)
{
    dim3 block(32, kRowsPerBlock);
    dim3 grid((rows - 1) / kRowsPerBlock + 1);
    min_warp_rows<<<grid, block>>>(x, y, rows, cols);
}
