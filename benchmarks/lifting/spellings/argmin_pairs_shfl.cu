// y[i] = smallest j with sum over k of |x[i, k] - c[j, k]| minimal (nearest centre, as a float)
#include <cuda_runtime.h>
#include <math_constants.h>

struct Pair {
    float dist;
    int which;
    __device__ bool operator<(const Pair& o) const
    {
        return dist < o.dist || (dist == o.dist && which < o.which);
    }
};

__device__ Pair shfl_down(const Pair& p, unsigned by)
{
    return {__shfl_down_sync(0xffffffff, p.dist, by), __shfl_down_sync(0xffffffff, p.which, by)};
}

// one block for each row of x, the lanes share the centres
__global__ void nearest(const float* x, const float* c, float* y, int cols, int centres)
{
    __shared__ Pair best_of_warp[4];
    const float* xr = x + (size_t)blockIdx.x * cols;
    Pair best{CUDART_INF_F, 0x7fffffff};
    if (threadIdx.x == 0) best.which = 0;

    for (int j = threadIdx.x; j < centres; j += blockDim.x) {
        float d = 0.f;
        for (int k = 0; k < cols; ++k) d += fabsf(xr[k] - c[(size_t)j * cols + k]);
        const Pair p{d, j};
        if (p < best) best = p;
    }

    for (unsigned by = 16; by; by >>= 1) {
        const Pair p = shfl_down(best, by);
        if (p < best) best = p;
    }
    if (threadIdx.x % 32 == 0) best_of_warp[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 4; w++)
        if (best_of_warp[w] < best) best = best_of_warp[w];
    y[blockIdx.x] = (float)best.which;
}

void run_argmin_pairs_shfl(const float* x, const float* c, float* y, int rows, int cols, int centres)
{
    nearest<<<rows, 128>>>(x, c, y, cols, centres);
}
