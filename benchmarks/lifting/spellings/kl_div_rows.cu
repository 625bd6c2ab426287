// y[i] = sum over j with p[i, j] > 0 of p[i, j] * (log(p[i, j]) - logq[i, j])
#include <cuda_runtime.h>

#define ROWS_PER_BLOCK 16
#define LANES 8

// eight lanes a row, sixteen rows a block
__global__ void kl_rows(const float* p, const float* logq, float* y, int rows, int cols)
{
    const int sub = threadIdx.x % LANES;
    const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.x / LANES;
    const bool live = row < rows;

    float kl = 0.0f;
    int j = live ? sub : cols;
    while (j < cols) {
        const size_t at = (size_t)row * cols + j;
        const float pj = p[at];
        if (pj > 0.0f) kl += pj * (logf(pj) - logq[at]);
        j += LANES;
    }
    __syncwarp();

    // rows past the end carry zeros through the shuffles
    kl += __shfl_down_sync(0xffffffffu, kl, 4, LANES);
    kl += __shfl_down_sync(0xffffffffu, kl, 2, LANES);
    kl += __shfl_down_sync(0xffffffffu, kl, 1, LANES);

    if (live && sub == 0) y[row] = kl;
}

void run_kl_div_rows(const float* p, const float* logq, float* y, int rows, int cols)
{
    const int grid = (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK;
    kl_rows<<<grid, ROWS_PER_BLOCK * LANES>>>(p, logq, y, rows, cols);
}
