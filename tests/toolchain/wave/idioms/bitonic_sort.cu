// n = 512: each warp sorts its 32 values
__device__ int exchange(int v, int distance, bool ascending) {
    const int other = __shfl_xor_sync(0xffffffff, v, distance);
    const bool upper = threadIdx.x & distance;
    return (upper == ascending) ? max(v, other) : min(v, other);
}

__global__ void sort_warps(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    int v = in[i];
    for (int size = 2; size <= 32; size <<= 1)
        for (int distance = size >> 1; distance > 0; distance >>= 1)
            v = exchange(v, distance, size == 32 || (lane & size) == 0);
    out[i] = v;
}

extern "C" void run(const int* in, int* out, int n) { sort_warps<<<n / 128, 128>>>(in, out); }
