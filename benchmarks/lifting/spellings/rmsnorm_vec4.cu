// y[i, j] = g[j] * x[i, j] / sqrt((sum over k of x[i, k]^2) / cols + eps)
#include <cuda_runtime.h>
#include <stdint.h>

template <bool kVec>
__global__ void rmsnorm(const float* __restrict__ x, const float* __restrict__ g,
                        float* __restrict__ y, int cols, float eps)
{
    __shared__ float red[8];
    __shared__ float inv_rms;
    const int64_t row = blockIdx.x;
    const float* px = x + row * cols;
    float* py = y + row * cols;

    float ss = 0.f;
    if constexpr (kVec) {
        const float4* v = reinterpret_cast<const float4*>(px);
        for (int k = threadIdx.x; k < cols / 4; k += 256) {
            const float4 f = v[k];
            ss += f.x * f.x + f.y * f.y + f.z * f.z + f.w * f.w;
        }
    } else {
        for (int k = threadIdx.x; k < cols; k += 256) ss += px[k] * px[k];
    }

    for (int m = 16; m > 0; m >>= 1) ss += __shfl_xor_sync(0xffffffff, ss, m);
    if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = ss;
    __syncthreads();
    if (threadIdx.x < 8) {
        ss = red[threadIdx.x];
        // only the eight lanes that are here take part
        for (int m = 4; m > 0; m >>= 1) ss += __shfl_xor_sync(0x000000ff, ss, m);
        if (threadIdx.x == 0) inv_rms = rsqrtf(ss / cols + eps);
    }
    __syncthreads();

    const float s = inv_rms;
    for (int k = threadIdx.x; k < cols; k += 256) py[k] = px[k] * s * g[k];
}

void run_rmsnorm_vec4(const float* x, const float* g, float* y, int rows, int cols)
{
    const bool aligned = cols % 4 == 0 && reinterpret_cast<uintptr_t>(x) % sizeof(float4) == 0;
    if (aligned)
        rmsnorm<true><<<rows, 256>>>(x, g, y, cols, 1e-6f);
    else
        rmsnorm<false><<<rows, 256>>>(x, g, y, cols, 1e-6f);
}
