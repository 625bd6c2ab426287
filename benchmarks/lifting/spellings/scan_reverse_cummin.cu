// y[i, j] = min over k >= j of x[i, k]
#include <cuda_runtime.h>

// Position p counts from the right: p = cols - 1 - j. Scanned as a forward scan in p.
__global__ void reverse_cummin(const float* x, float* y, const int cols)
{
    __shared__ float edge[9];  // edge[0] is the carry, edge[w + 1] the minimum of warp w
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const float* last_in = x + (size_t)blockIdx.x * cols + (cols - 1);
    float* last_out = y + (size_t)blockIdx.x * cols + (cols - 1);
    const auto lesser = [](float a, float b) { return a < b ? a : b; };

    if (tid == 0) edge[0] = *last_in;
    for (int p0 = 0; p0 < cols; p0 += 256) {
        const int p = p0 + tid;
        float m = p < cols ? last_in[-p] : *last_in;
        for (int d = 1; d != 32; d *= 2) {
            const float o = __shfl_up_sync(0xffffffff, m, d);
            if (lane >= d) m = lesser(o, m);
        }
        if (lane == 31) edge[warp + 1] = m;
        __syncthreads();

        for (int w = 0; w <= warp; ++w) m = lesser(m, edge[w]);
        if (p < cols) last_out[-p] = m;
        __syncthreads();
        if (tid == 255) edge[0] = m;  // minimum of all so far
        // edge[0] is read again only behind the next barrier
    }
}

void run_scan_reverse_cummin(const float* x, float* y, int rows, int cols)
{
    reverse_cummin<<<rows, 256>>>(x, y, cols);
}
