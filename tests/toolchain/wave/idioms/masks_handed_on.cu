// n = 1024: a mask goes through a variable, a parameter and a default argument
using Mask = unsigned int;

__device__ float pair_sum(float v, int distance, Mask lanes = 0xffffffffu) {
    return v + __shfl_xor_sync(lanes, v, distance);
}

__device__ float half_sum(float v, Mask lanes) {
    for (int d = 8; d; d >>= 1) v = pair_sum(v, d, lanes);
    return v;
}

__global__ void halves(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x & 31;
    const Mask mine = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    float v = in[i];
    if (lane < 16) v = half_sum(v, mine);
    else v = half_sum(-v, mine);
    out[i] = pair_sum(v, 16);
}

extern "C" void run(const float* in, float* out, int n) { halves<<<n / 256, 256>>>(in, out); }
