// y[i, j] = (x[i, j] - m) / sqrt(v + eps), m and v the mean and variance of x[i, k] over the k in the group of j (k / group = j / group)
#include <cuda_runtime.h>

// blockIdx.x is the group, blockIdx.y walks the rows; the last group may be short
__global__ void group_norm(const float* x, float* y, int rows, int cols, int group, float eps)
{
    extern __shared__ float2 acc[];
    const int begin = blockIdx.x * group;
    const int len = min(group, cols - begin);
    const int tid = threadIdx.x;

    for (int i = blockIdx.y; i < rows; i += gridDim.y) {
        const size_t base = (size_t)i * cols + begin;
        float s1 = 0.f, s2 = 0.f;
        const float pivot = x[base];  // shifted data, so the difference below stays accurate
        for (int k = tid; k < len; k += blockDim.x) {
            const float v = x[base + k] - pivot;
            s1 += v;
            s2 += v * v;
        }
        acc[tid] = make_float2(s1, s2);
        __syncthreads();
        for (int h = blockDim.x >> 1; h > 0; h = h >> 1) {
            if (tid < h) {
                acc[tid].x += acc[tid + h].x;
                acc[tid].y += acc[tid + h].y;
            }
            __syncthreads();
        }
        const float m = acc[0].x / len;
        const float var = fmaxf(acc[0].y / len - m * m, 0.f);
        const float inv = rsqrtf(var + eps);
        for (int k = tid; k < len; k += blockDim.x)
            y[base + k] = (x[base + k] - pivot - m) * inv;
        __syncthreads();
    }
}

void run_group_norm(const float* x, float* y, int rows, int cols, int group)
{
    int threads = 32;
    while (threads < group && threads < 256) threads += threads;
    dim3 grid((cols + group - 1) / group, rows < 65535 ? rows : 65535);
    group_norm<<<grid, threads, threads * sizeof(float2)>>>(x, y, rows, cols, group, 1e-5f);
}
