// n = 768: groups of 16, 8 and 4 lanes with their width written out
template <int W>
__device__ float sum_of(float v) {
    for (int o = W / 2; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o, W);
    return __shfl_sync(0xffffffff, v, 0, W);
}

__global__ void groups(const float* in, float* out, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    float v = in[i];
    if (blockIdx.x % 3 == 0) out[i] = sum_of<16>(v);
    else if (blockIdx.x % 3 == 1) out[i] = sum_of<8>(v);
    else out[i] = sum_of<4>(v);
}

extern "C" void run(const float* in, float* out, int n) { groups<<<n / 128, 128>>>(in, out, n); }
