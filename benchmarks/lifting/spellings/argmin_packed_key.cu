// idx[0] = smallest i with x[i] = min over k of x[k]; y[0] = x[idx[0]]
#include <cuda_runtime.h>
#include <cstdint>

typedef unsigned long long u64;

// float bits mapped so that unsigned order is float order; the index breaks ties
__device__ __forceinline__ u64 pack(float v, uint32_t i)
{
    uint32_t b = __float_as_uint(v + 0.0f);  // -0 becomes +0
    b = (b & 0x80000000u) ? ~b : (b | 0x80000000u);
    return (static_cast<u64>(b) << 32) | i;
}

__global__ void argmin_keys(const float* x, u64* best, int n)
{
    u64 key = ~0ull;
    const u64 stride = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < (u64)n; i += stride) {
        const u64 k = pack(x[i], (uint32_t)i);
        if (k < key) key = k;
    }
    for (int d = 16; d > 0; d >>= 1) {
        const u64 k = __shfl_xor_sync(0xffffffffu, key, d);
        key = k < key ? k : key;
    }
    if ((threadIdx.x & 31) == 0) atomicMin(best, key);
}

__global__ void unpack_key(const float* x, const u64* best, int* idx, float* y)
{
    const uint32_t i = (uint32_t)(*best & 0xffffffffull);
    *idx = (int)i;
    *y = x[i];
}

void run_argmin_packed_key(const float* x, int* idx, float* y, int n)
{
    u64* best;
    cudaMallocAsync((void**)&best, sizeof(u64), 0);
    cudaMemsetAsync(best, 0xff, sizeof(u64));
    const int blocks = n < 256 * 512 ? (n + 255) / 256 : 512;
    argmin_keys<<<blocks, 256>>>(x, best, n);
    unpack_key<<<1, 1>>>(x, best, idx, y);
    cudaFreeAsync(best, 0);
}
