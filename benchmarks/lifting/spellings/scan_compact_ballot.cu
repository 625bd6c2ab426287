// pos[i, j] = number of k < j with x[i, k] > 0; y[i, pos[i, j]] = x[i, j] where x[i, j] > 0; the rest of y[i, :] = 0
#include <cuda_runtime.h>

// stream compaction, one warp per row (and per block)
__global__ void __launch_bounds__(32) compact_rows(const float* x, int* pos, float* y, int cols)
{
    const unsigned lane = threadIdx.x;
    const unsigned below = (1u << lane) - 1u;
    const size_t row = (size_t)blockIdx.x * cols;

    int kept = 0;
    for (int j0 = 0; j0 < cols; j0 += 32) {
        const int j = j0 + (int)lane;
        float v = 0.f;
        if (j < cols) v = x[row + j];
        __syncwarp();
        const unsigned votes = __ballot_sync(0xffffffffu, v > 0.f);
        const int p = kept + __popc(votes & below);
        if (j < cols) pos[row + j] = p;
        if (v > 0.f) y[row + p] = v;
        kept += __popc(votes);
    }
    for (int j = kept + (int)lane; j < cols; j += 32) y[row + j] = 0.f;
}

void run_scan_compact_ballot(const float* x, int* pos, float* y, int rows, int cols)
{
    compact_rows<<<rows, 32>>>(x, pos, y, cols);
}
