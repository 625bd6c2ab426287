// y[i, j] = sum over k > j of x[i, k]
#include <cuda_runtime.h>

#define W 32

// Suffix sums: a warp for each row, tiles taken from the right end towards the left.
__global__ void suffix_rows(const float* x, float* y, int rows, int cols)
{
    const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= (unsigned)rows) return;
    const int lane = threadIdx.x;
    const float* in = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;

    float right = 0.f;  // sum of everything to the right of this tile
    for (int tile = (cols - 1) / W; tile >= 0; --tile) {
        const int j = tile * W + lane;
        float s = j < cols ? in[j] : 0.f;
        for (int d = 1; d < W; d += d) {
            const float t = __shfl_down_sync(0xffffffff, s, d);
            if (lane + d < W) s += t;
        }
        // shift by one lane to leave the own element out
        float ex = __shfl_down_sync(0xffffffff, s, 1);
        if (lane == W - 1) ex = 0.f;
        if (j < cols) out[j] = right + ex;
        right += __shfl_sync(0xffffffff, s, 0);
    }
}

void run_scan_reverse_exclusive(const float* x, float* y, int rows, int cols)
{
    suffix_rows<<<(rows + 7) / 8, dim3(W, 8)>>>(x, y, rows, cols);
}
