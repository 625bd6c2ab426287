// n = 3000: only warp 0 calls the second shuffle tree, with the full mask
__device__ int warpSum(int v) {
    v += __shfl_down_sync(0xffffffff, v, 16);
    v += __shfl_down_sync(0xffffffff, v, 8);
    v += __shfl_down_sync(0xffffffff, v, 4);
    v += __shfl_down_sync(0xffffffff, v, 2);
    v += __shfl_down_sync(0xffffffff, v, 1);
    return v;
}

__global__ void total(const int* in, int* out, int n) {
    __shared__ int sums[32];
    int v = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
    v = warpSum(v);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        v = warpSum(v);
        if (threadIdx.x == 0) out[0] = v;
    }
}

extern "C" void run(const int* in, int* out, int n) { total<<<1, 512>>>(in, out, n); }
