// y[i] = 1 if all over j of (x[i, j] is finite) else 0
#include <cuda_runtime.h>

__global__ void all_finite(const float* __restrict__ x, float* __restrict__ y, int rows, int cols)
{
    const int warps = blockDim.x >> 5;
    const int lane = threadIdx.x & 31;
    const long long row = (long long)blockIdx.x * warps + (threadIdx.x >> 5);
    if (row >= rows) return;

    const float* r = x + row * cols;
    bool ok = true;
    // the trip count is the same for all lanes, so the vote is always full
    for (int j0 = 0; j0 < cols; j0 += 32) {
        const int j = j0 + lane;
        const bool fine = j >= cols || isfinite(r[j]);
        ok = __all_sync(0xffffffffu, fine);
        if (!ok) break;
    }
    if (lane == 0) y[row] = ok;
}

void run_all_finite_vote(const float* x, float* y, int rows, int cols)
{
    all_finite<<<(rows + 3) / 4, 128>>>(x, y, rows, cols);
}
