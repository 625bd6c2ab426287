// ptx.cu ported to MACA xcore1000 by porter 0.1.0, source 998b55e01dee6701
#include <mc_runtime.h>

#ifndef PORTER_WARP32
#define PORTER_WARP32
// CUDA's warps on waves of any width: a warp is an aligned group of 32 lanes, which is half of a 64-lane wave.
namespace warp32 {

constexpr int size = 32;

// The caller's lane in its warp.
__device__ __forceinline__ unsigned int lane() { return __lane_id() & 31; }

// From a mask of the caller's warp to the mask of its wave, and back.
__device__ __forceinline__ unsigned long long lanes(unsigned int mask) {
    return static_cast<unsigned long long>(mask) << (__lane_id() & 32);
}
__device__ __forceinline__ unsigned int bits(unsigned long long lanes) {
    return static_cast<unsigned int>(lanes >> (__lane_id() & 32));
}

// The lanes of `mask` meet and see each other's writes.
__device__ __forceinline__ void sync(unsigned int mask = 0xffffffff) { __syncwarp(lanes(mask)); }

}  // namespace warp32
#endif

#define LOAD_CACHED(value, pointer) \
    (value) = *(float*)((char*)(pointer))

__device__ __forceinline__ float fast_tanh(float x) {
    float y;
    (y) = tanhf((x));
    return y;
}

__device__ unsigned lane() {
    unsigned id;
    id = warp32::lane();
    return id;
}

__device__ int sum_of_warp(int value) {
    int total;
    (total) = __reduce_add_sync(warp32::lanes(0xffffffff), (int)(value));
    return total;
}

__global__ void cached(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 0.0f;
    if (i < n) LOAD_CACHED(value, x + i);
    asm volatile("" ::: "memory");
    if (i < n) y[i] = fast_tanh(value) + lane() + sum_of_warp(1);
    if (i < 0) __builtin_trap();
}

__global__ void tensor(unsigned* d, const unsigned* a, unsigned shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(shared));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_all;");
}
