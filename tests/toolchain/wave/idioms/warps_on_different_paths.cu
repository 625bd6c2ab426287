// n = 1024: even and odd warps run different shuffles different numbers of times
__global__ void specialised(const float* in, float* out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int warp_idx = threadIdx.x / 32;
    float v = in[i];
    if (warp_idx % 2 == 0) {
        for (int turn = 0; turn < 3; ++turn)
            for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o)) * 0.5f;
    } else {
        v = __shfl_sync(0xffffffff, v, 7) + __shfl_up_sync(0xffffffff, v, 1);
        __syncwarp();
    }
    out[i] = v;
}

extern "C" void run(const float* in, float* out, int n) { specialised<<<n / 256, 256>>>(in, out); }
