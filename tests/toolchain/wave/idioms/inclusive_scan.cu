// n = 1024: scan of a block by warps, then of the warps' sums by the first warp
__device__ int warp_scan(int value, int lane) {
#pragma unroll
    for (int i = 1; i <= 16; i *= 2) {
        int n = __shfl_up_sync(0xffffffff, value, i);
        if (lane >= i) value += n;
    }
    return value;
}

__global__ void block_scan(const int* data, int* result) {
    __shared__ int sums[32];
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane_id = id % 32, warp_id = threadIdx.x / 32;
    int value = warp_scan(data[id], lane_id);
    if (lane_id == 31) sums[warp_id] = value;
    __syncthreads();
    if (warp_id == 0 && lane_id < (blockDim.x / 32)) {
        int warp_sum = sums[lane_id];
        unsigned mask = (1u << (blockDim.x / 32)) - 1;
        for (int i = 1; i <= (blockDim.x / 32); i *= 2) {
            int n = __shfl_up_sync(mask, warp_sum, i, (blockDim.x / 32));
            if (lane_id >= i) warp_sum += n;
        }
        sums[lane_id] = warp_sum;
    }
    __syncthreads();
    result[id] = warp_id > 0 ? value + sums[warp_id - 1] : value;
}

extern "C" void run(const int* in, int* out, int n) { block_scan<<<n / 512, 512>>>(in, out); }
