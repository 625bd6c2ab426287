// n = 512: >> 5 and & 0x1f, partials summed by one thread
__global__ void mean_kernel(const float* in, float* out, int n)
{
    __shared__ float partial[8];
    const unsigned tid = threadIdx.x;
    const unsigned warp = tid >> 5, lane = tid & 0x1f;
    float s = in[blockIdx.x * blockDim.x + tid];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (!lane) partial[warp] = s;
    __syncthreads();
    if (tid == 0) {
        float total = 0.f;
        for (unsigned w = 0; w < blockDim.x >> 5; ++w) total += partial[w];
        out[blockIdx.x] = total / blockDim.x;
    }
}

extern "C" void run(const float* in, float* out, int n) { mean_kernel<<<n / 256, 256>>>(in, out, n); }
