// y[i] = (max over j of x[i, j]) - (min over j of x[i, j])
#include <cub/warp/warp_reduce.cuh>
#include <cuda/functional>

namespace {
constexpr int WARPS = 8;

__global__ void row_range(const float* x, float* y, int rows, int cols)
{
    using WR = cub::WarpReduce<float>;
    __shared__ typename WR::TempStorage hi_storage[WARPS];
    __shared__ typename WR::TempStorage lo_storage[WARPS];

    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const size_t row = size_t(blockIdx.x) * WARPS + warp;
    if (row >= size_t(rows)) return;

    // all lanes start from the first element, so no infinities are needed
    float hi = x[row * cols];
    float lo = hi;
    for (int c = lane; c < cols; c += 32) {
        const float v = x[row * cols + c];
        hi = v > hi ? v : hi;
        lo = v < lo ? v : lo;
    }
    hi = WR(hi_storage[warp]).Reduce(hi, cuda::maximum<>{});
    lo = WR(lo_storage[warp]).Reduce(lo, cuda::minimum<>{});
    if (lane == 0) y[row] = hi - lo;
}
}  // namespace

void run_row_range_cub_warp(const float* x, float* y, int rows, int cols)
{
    row_range<<<(rows + WARPS - 1) / WARPS, WARPS * 32>>>(x, y, rows, cols);
}
