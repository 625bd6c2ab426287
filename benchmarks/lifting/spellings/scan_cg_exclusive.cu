// y[i, j] = sum over k < j of x[i, k]^2
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void energy_before(const float* x, float* y, int rows, int cols)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned lane = warp.thread_rank();
    const unsigned r = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (r >= static_cast<unsigned>(rows)) return;

    float carry = 0.0f;
    for (unsigned c0 = 0; c0 < static_cast<unsigned>(cols); c0 += warp.size()) {
        const unsigned c = c0 + lane;
        const size_t at = static_cast<size_t>(r) * cols + c;
        const float v = c < cols ? x[at] : 0.0f;
        const float e = v * v;
        const float before = cg::exclusive_scan(warp, e, cg::plus<float>());
        if (c < cols) y[at] = carry + before;
        carry += warp.shfl(before + e, warp.size() - 1);
    }
}

void run_scan_cg_exclusive(const float* x, float* y, int rows, int cols)
{
    const int warps_per_block = 4;
    energy_before<<<(rows + warps_per_block - 1) / warps_per_block, 32 * warps_per_block>>>(x, y, rows, cols);
}
