// y[0] = sqrt(sum over i of x[i]^2)
#include <cuda_runtime.h>
#include <stdint.h>

__device__ __forceinline__ float dot4(float4 v) { return v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w; }

// One block. Scalars until the pointer is aligned, then float4, then the tail.
__global__ void __launch_bounds__(1024) l2_norm(const float* x, float* y, unsigned n)
{
    __shared__ float s[32];
    const unsigned t = threadIdx.x;
    unsigned head = (16u - (unsigned)((uintptr_t)x & 15u)) % 16u / 4u;
    if (head > n) head = n;
    const unsigned quads = (n - head) / 4u;
    const unsigned tail = head + quads * 4u;

    float acc = 0.f;
    if (t < head) acc += x[t] * x[t];
    const float4* x4 = (const float4*)(x + head);
    for (unsigned q = t; q < quads; q += 1024u) acc += dot4(__ldg(x4 + q));
    if (tail + t < n) acc += x[tail + t] * x[tail + t];

    #pragma unroll 5
    for (int off = 16; off; off >>= 1) acc += __shfl_down_sync(~0u, acc, off);
    if ((t & 31u) == 0u) s[t >> 5] = acc;
    __syncthreads();
    if (t < 32u) {
        acc = s[t];
        #pragma unroll 5
        for (int off = 16; off; off >>= 1) acc += __shfl_down_sync(~0u, acc, off);
        if (t == 0u) *y = sqrtf(acc);
    }
}

void run_l2_norm_float4_tail(const float* x, float* y, int n)
{
    l2_norm<<<1, 1024>>>(x, y, (unsigned)n);
}
