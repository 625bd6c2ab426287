#include <cuda_runtime.h>

#define LOAD_CACHED(value, pointer) \
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value) : "l"(pointer))

__device__ __forceinline__ float fast_tanh(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ unsigned lane() {
    unsigned id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

__device__ int sum_of_warp(int value) {
    int total;
    asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(total) : "r"(value));
    return total;
}

__global__ void cached(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = 0.0f;
    if (i < n) LOAD_CACHED(value, x + i);
    asm volatile("" ::: "memory");
    if (i < n) y[i] = fast_tanh(value) + lane() + sum_of_warp(1);
    if (i < 0) asm("trap;");
}

__global__ void tensor(unsigned* d, const unsigned* a, unsigned shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(shared));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_all;");
}
