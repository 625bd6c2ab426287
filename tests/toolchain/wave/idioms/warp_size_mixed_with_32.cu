// n = 1024: warpSize counts the warps, 32 reads them back
__global__ void block_sum(const float* in, float* out)
{
    extern __shared__ float partial[];
    const int tid = threadIdx.x;
    const int num_warps = blockDim.x / warpSize;
    float v = in[blockIdx.x * blockDim.x + tid];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffU, v, o);
    if (tid % 32 == 0) partial[tid / 32] = v;
    __syncthreads();
    if (tid < 32) {
        v = tid < num_warps ? partial[tid] : 0.f;
        for (int o = warpSize >> 1; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffU, v, o);
        if (tid == 0) out[blockIdx.x] = v;
    }
}

extern "C" void run(const float* in, float* out, int n)
{
    block_sum<<<n / 256, 256, 256 / 32 * sizeof(float)>>>(in, out);
}
