// y[i, j] = sum over k <= j of x[i, k]
#include <cuda_runtime.h>

// Double-buffered Hillis-Steele over tiles of blockDim.x, the total of a tile is carried on.
__global__ void hs_cumsum(const float* x, float* y, int cols)
{
    extern __shared__ float temp[];  // 2 * blockDim.x
    const int n = blockDim.x;
    const int t = threadIdx.x;
    const float* in = x + (size_t)blockIdx.x * cols;
    float* out = y + (size_t)blockIdx.x * cols;

    float carry = 0.0f;
    for (int base = 0; base < cols; base += n) {
        int pout = 0, pin = 1;
        temp[pout * n + t] = base + t < cols ? in[base + t] : 0.0f;
        __syncthreads();
        for (int offset = 1; offset < n; offset *= 2) {
            pout = 1 - pout;
            pin = 1 - pout;
            if (t >= offset)
                temp[pout * n + t] = temp[pin * n + t] + temp[pin * n + t - offset];
            else
                temp[pout * n + t] = temp[pin * n + t];
            __syncthreads();
        }
        if (base + t < cols) out[base + t] = carry + temp[pout * n + t];
        carry += temp[pout * n + n - 1];
        __syncthreads();
    }
}

void run_scan_hillis_steele(const float* x, float* y, int rows, int cols)
{
    int b = 32;
    while (b < cols && b < 1024) b <<= 1;
    hs_cumsum<<<rows, b, 2 * b * sizeof(float)>>>(x, y, cols);
}
