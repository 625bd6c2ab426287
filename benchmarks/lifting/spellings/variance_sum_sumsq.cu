// y[i] = (sum over j of x[i, j]^2) / cols - ((sum over j of x[i, j]) / cols)^2
#include <cuda_runtime.h>

__inline__ __device__ float2 warpReduceSum2(float2 v)
{
    #pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        v.x += __shfl_down_sync(0xFFFFFFFF, v.x, offset);
        v.y += __shfl_down_sync(0xFFFFFFFF, v.y, offset);
    }
    return v;
}

__inline__ __device__ float2 blockReduceSum2(float2 v)
{
    static __shared__ float2 shared[32];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;

    v = warpReduceSum2(v);
    if (lane == 0) shared[wid] = v;
    __syncthreads();

    v = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : make_float2(0.f, 0.f);
    if (wid == 0) v = warpReduceSum2(v);
    return v;
}

__global__ void rowVariance(const float* x, float* y, int cols)
{
    size_t row = blockIdx.x;
    float2 s = make_float2(0.f, 0.f);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        float v = x[row * cols + i];
        s.x += v;
        s.y += v * v;
    }
    s = blockReduceSum2(s);
    if (threadIdx.x == 0) {
        float mean = s.x / cols;
        y[row] = fmaxf(s.y / cols - mean * mean, 0.f);
    }
}

void run_variance_sum_sumsq(const float* x, float* y, int rows, int cols)
{
    int threads = ((cols < 1024 ? cols : 1024) + 31) / 32 * 32;
    rowVariance<<<rows, threads>>>(x, y, cols);
}
