// mean[i] = (sum over j of x[i, j]) / cols; var[i] = (sum over j of (x[i, j] - mean[i])^2) / cols
#include <cuda_runtime.h>

struct Welford {
    float count, mean, m2;
};

__device__ inline void welford_push(Welford& w, float v)
{
    w.count += 1.f;
    const float d = v - w.mean;
    w.mean += d / w.count;
    w.m2 += d * (v - w.mean);
}

__device__ inline Welford welford_merge(const Welford& a, const Welford& b)
{
    const float n = a.count + b.count;
    if (n == 0.f) return a;
    const float d = b.mean - a.mean;
    const float f = b.count / n;
    return Welford{n, a.mean + d * f, a.m2 + b.m2 + d * d * a.count * f};
}

__device__ inline Welford welford_warp(Welford w)
{
    for (int o = 16; o > 0; o >>= 1) {
        Welford r;
        r.count = __shfl_down_sync(0xffffffff, w.count, o);
        r.mean = __shfl_down_sync(0xffffffff, w.mean, o);
        r.m2 = __shfl_down_sync(0xffffffff, w.m2, o);
        w = welford_merge(w, r);
    }
    return w;
}

__global__ void welford_rows(const float* x, float* mean, float* var, int cols)
{
    __shared__ Welford parts[4];
    Welford w{0.f, 0.f, 0.f};
    for (int j = threadIdx.x; j < cols; j += 128)
        welford_push(w, x[(size_t)blockIdx.x * cols + j]);

    w = welford_warp(w);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = w;
    __syncthreads();
    if (threadIdx.x == 0) {
        w = welford_merge(welford_merge(parts[0], parts[1]), welford_merge(parts[2], parts[3]));
        mean[blockIdx.x] = w.mean;
        var[blockIdx.x] = w.m2 / w.count;
    }
}

void run_welford_shfl(const float* x, float* mean, float* var, int rows, int cols)
{
    welford_rows<<<rows, 128>>>(x, mean, var, cols);
}
