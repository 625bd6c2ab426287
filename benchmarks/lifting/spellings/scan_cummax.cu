// y[i, j] = max over k <= j of x[i, k]
#include <cuda_runtime.h>
#include <cmath>
#include <utility>

constexpr int CT = 256;

__global__ void cummax_rows(const float* x, float* y, int cols)
{
    __shared__ float ping[CT], pong[CT];
    const int t = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * cols;
    float top = -INFINITY;

    int base = 0;
    do {
        float *src = ping, *dst = pong;
        const bool in = base + t < cols;
        src[t] = in ? x[row + base + t] : -INFINITY;
        if (t == 0) src[0] = fmaxf(src[0], top);  // the carry goes in as part of the first element
        __syncthreads();

        for (int d = 1; d < CT; d <<= 1) {
            dst[t] = t < d ? src[t] : fmaxf(src[t], src[t - d]);
            __syncthreads();
            float* tmp = src;
            src = dst;
            dst = tmp;
        }
        if (in) y[row + base + t] = src[t];
        top = src[CT - 1];
        __syncthreads();
        base += CT;
    } while (base < cols);
}

void run_scan_cummax(const float* x, float* y, int rows, int cols)
{
    cummax_rows<<<rows, CT>>>(x, y, cols);
}
