// y[i] = max over j of |x[i, j]|
#include <cuda_runtime.h>

template <class T, class F>
__device__ __forceinline__ T butterfly(T v, F combine)
{
#pragma unroll
    for (int mask = warpSize / 2; mask > 0; mask >>= 1)
        v = combine(v, __shfl_xor_sync(0xffffffff, v, mask));
    return v;
}

__global__ void absmax_rows(const float* in, float* out, int rows, int cols)
{
    auto op = [](float a, float b) { return a > b ? a : b; };
    __shared__ float scratch[32];

    for (size_t r = blockIdx.x; r < (size_t)rows; r += gridDim.x) {
        float m = 0.f;
        for (int j = threadIdx.x; j < cols; j += blockDim.x)
            m = op(m, fabsf(in[r * cols + j]));

        m = butterfly(m, op);
        if (threadIdx.x % warpSize == 0)
            scratch[threadIdx.x / warpSize] = m;
        __syncthreads();

        // every warp folds the warp results, so every thread has the answer
        const int nw = blockDim.x / warpSize;
        const int l = threadIdx.x % warpSize;
        m = butterfly(l < nw ? scratch[l] : 0.f, op);
        if (threadIdx.x == 0)
            out[r] = m;
        __syncthreads();
    }
}

void run_row_absmax_lambda(const float* x, float* y, int rows, int cols)
{
    int threads = cols >= 4096 ? 1024 : 128;
    int grid = rows < 8192 ? rows : 8192;
    absmax_rows<<<grid, threads>>>(x, y, rows, cols);
}
