// y[i, j] = sum over k < j of x[i, k]
#include <cuda_runtime.h>

template <int N>  // N elements in a tile, N / 2 threads
__global__ void blelloch(const float* g_in, float* g_out, int cols)
{
    __shared__ float temp[N];
    __shared__ float tile_total;
    const int thid = threadIdx.x;
    g_in += (size_t)blockIdx.x * cols;
    g_out += (size_t)blockIdx.x * cols;

    float before = 0.f;
    for (int base = 0; base < cols; base += N) {
        const int a = base + 2 * thid, b = a + 1;
        temp[2 * thid] = a < cols ? g_in[a] : 0.f;
        temp[2 * thid + 1] = b < cols ? g_in[b] : 0.f;

        int offset = 1;
        for (int d = N >> 1; d > 0; d >>= 1) {  // up
            __syncthreads();
            if (thid < d) {
                const int ai = offset * (2 * thid + 1) - 1;
                const int bi = offset * (2 * thid + 2) - 1;
                temp[bi] += temp[ai];
            }
            offset *= 2;
        }
        if (thid == 0) {
            tile_total = temp[N - 1];
            temp[N - 1] = 0.f;
        }
        for (int d = 1; d < N; d *= 2) {  // down
            offset >>= 1;
            __syncthreads();
            if (thid < d) {
                const int ai = offset * (2 * thid + 1) - 1;
                const int bi = offset * (2 * thid + 2) - 1;
                const float t = temp[ai];
                temp[ai] = temp[bi];
                temp[bi] += t;
            }
        }
        __syncthreads();
        if (a < cols) g_out[a] = before + temp[2 * thid];
        if (b < cols) g_out[b] = before + temp[2 * thid + 1];
        before += tile_total;
        __syncthreads();
    }
}

void run_scan_blelloch_exclusive(const float* x, float* y, int rows, int cols)
{
    if (cols <= 128)
        blelloch<128><<<rows, 64>>>(x, y, cols);
    else
        blelloch<1024><<<rows, 512>>>(x, y, cols);
}
