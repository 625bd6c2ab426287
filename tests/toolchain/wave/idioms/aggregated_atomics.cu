// n = 1000: one atomic for all active lanes of a warp; only the number of survivors is defined
__device__ int atomicAggInc(int* counter) {
    unsigned int active = __activemask();
    int leader = __ffs(active) - 1;
    int lane = threadIdx.x & 31;
    int change = __popc(active);
    int base;
    if (lane == leader) base = atomicAdd(counter, change);
    base = __shfl_sync(active, base, leader);
    return base + __popc(active & ((1u << lane) - 1));
}

__global__ void filter(const int* src, int* dst, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (src[i] > 0) {
        int slot = atomicAggInc(dst);
        atomicAdd(dst + 1, slot);
    }
}

extern "C" void run(const int* in, int* out, int n) { filter<<<(n + 127) / 128, 128>>>(in, out, n); }
