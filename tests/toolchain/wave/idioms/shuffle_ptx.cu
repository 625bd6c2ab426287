// n = 512: a butterfly and a broadcast written in PTX
__device__ int xor_ptx(int x, int lane_mask) {
    int y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x), "r"(lane_mask));
    return y;
}

__device__ int first_ptx(int x) {
    int y;
    asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x));
    return y;
}

__global__ void sums(const int* in, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int m = 16; m > 0; m >>= 1) v += xor_ptx(v, m);
    out[i] = v + first_ptx(in[i]);
}

extern "C" void run(const int* in, int* out, int n) { sums<<<n / 128, 128>>>(in, out); }
