// y[i] = sum over j of w[j] * x[i, j]
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void weighted_row_sum(const float* x, const float* w, float* y, int rows, int cols)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);

    // half a warp for each row
    const unsigned long long row =
        (unsigned long long)blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
    if (row >= (unsigned long long)rows)
        return;

    float partial = 0.f;
    for (int j = tile.thread_rank(); j < cols; j += tile.num_threads())
        partial += w[j] * x[row * cols + j];

    const float total = cg::reduce(tile, partial, cg::plus<float>());
    if (tile.thread_rank() == 0)
        y[row] = total;
}

void run_row_sum_cg_tile(const float* x, const float* w, float* y, int rows, int cols)
{
    const int threads = 128;
    const int per_block = threads / 16;
    weighted_row_sum<<<(rows + per_block - 1) / per_block, threads>>>(x, w, y, rows, cols);
}
