// y[i, j] = sum over k <= i of x[k, j]
#include <cuda_runtime.h>

constexpr int BX = 32;
constexpr int BY = 16;

// Each threadIdx.y owns a run of rows; the run sums are scanned in shared memory.
__global__ void cumsum_down(const float* __restrict__ x, float* __restrict__ y, size_t rows, size_t cols)
{
    __shared__ float run[BY][BX];
    const size_t col = (size_t)blockIdx.x * BX + threadIdx.x;
    const size_t per = (rows + BY - 1) / BY;
    const size_t lo = min(rows, per * threadIdx.y);
    const size_t hi = min(rows, lo + per);
    const bool in = col < cols;

    float s = 0.f;
    if (in)
        for (size_t r = lo; r < hi; ++r) s += x[r * cols + col];
    run[threadIdx.y][threadIdx.x] = s;
    __syncthreads();

    if (threadIdx.y == 0) {
        float before = 0.f;
#pragma unroll
        for (int k = 0; k < BY; ++k) {
            const float own = run[k][threadIdx.x];
            run[k][threadIdx.x] = before;
            before += own;
        }
    }
    __syncthreads();

    if (!in) return;
    s = run[threadIdx.y][threadIdx.x];
    for (size_t r = lo; r < hi; ++r) {
        s += x[r * cols + col];
        y[r * cols + col] = s;
    }
}

void run_scan_down_columns(const float* x, float* y, int rows, int cols)
{
    cumsum_down<<<(cols + BX - 1) / BX, dim3(BX, BY)>>>(x, y, rows, cols);
}
