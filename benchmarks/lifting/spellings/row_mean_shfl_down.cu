// y[i] = (sum over j of x[i, j]) / cols
#define FULL 0xffffffffu

__global__ __launch_bounds__(256) void row_mean_shfl(const float* __restrict__ x,
                                                     float* __restrict__ y, int cols)
{
    __shared__ float warp_sum[8];
    const int lane = threadIdx.x & 31;
    const int wid = threadIdx.x >> 5;
    const long long base = (long long)blockIdx.x * cols;

    float s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 256) s += x[base + c];

    s += __shfl_down_sync(FULL, s, 16);
    s += __shfl_down_sync(FULL, s, 8);
    s += __shfl_down_sync(FULL, s, 4);
    s += __shfl_down_sync(FULL, s, 2);
    s += __shfl_down_sync(FULL, s, 1);
    if (lane == 0) warp_sum[wid] = s;
    __syncthreads();

    if (wid != 0) return;
    s = lane < 8 ? warp_sum[lane] : 0.0f;
    for (int off = 4; off; off /= 2) s += __shfl_down_sync(FULL, s, off);
    if (lane == 0) y[blockIdx.x] = s / cols;
}

void run_row_mean_shfl_down(const float* x, float* y, int rows, int cols)
{
    row_mean_shfl<<<rows, 256>>>(x, y, cols);
}
