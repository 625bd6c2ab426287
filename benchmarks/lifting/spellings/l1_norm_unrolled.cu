// y[i] = sum over j of |x[i, j]|
#include <cuda_runtime.h>

#define THREADS 256

// each trip of the main loop takes two elements a thread; the tree is written out
__global__ void l1_rows(float const* x, float* y, int cols)
{
    __shared__ float s[THREADS];
    int const t = threadIdx.x;
    float const* r = x + (long long)cols * blockIdx.x;

    float a = 0, b = 0;
    long long i = t;
    for (; i + THREADS < cols; i += 2 * THREADS) {
        a += fabsf(r[i]);
        b += fabsf(r[i + THREADS]);
    }
    if (i < cols) a += fabsf(r[i]);
    s[t] = a + b;
    __syncthreads();

    if (t < 128) s[t] += s[t + 128];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile float* v = s;
        v[t] += v[t + 32]; __syncwarp();
        if (t < 16) v[t] += v[t + 16];
        __syncwarp();
        if (t < 8) v[t] += v[t + 8];
        __syncwarp();
        if (t < 4) v[t] += v[t + 4];
        __syncwarp();
        if (t < 2) v[t] += v[t + 2];
        __syncwarp();
        if (t == 0) y[blockIdx.x] = v[0] + v[1];
    }
}

void run_l1_norm_unrolled(const float* x, float* y, int rows, int cols)
{
    l1_rows<<<rows, THREADS>>>(x, y, cols);
}
