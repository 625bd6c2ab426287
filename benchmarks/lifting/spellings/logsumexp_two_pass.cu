// y[i] = t * log(sum over j of exp(x[i, j] / t))
#include <cuda_runtime.h>
#include <math_constants.h>

// Soft maximum with temperature: first the maximum, then the sum, one buffer for both trees.
__global__ void soft_max_value(const float* x, float* y, int cols, float t)
{
    extern __shared__ float sh[];
    const unsigned tid = threadIdx.x;
    const unsigned nt = blockDim.x;
    const float* row = x + size_t(blockIdx.x) * cols;

    float m = -CUDART_INF_F;
    for (unsigned j = tid; j < (unsigned)cols; j += nt) m = fmaxf(m, row[j] / t);
    sh[tid] = m;
    __syncthreads();
    for (unsigned k = nt >> 1; k; k >>= 1) {
        if (tid < k) sh[tid] = fmaxf(sh[tid], sh[tid + k]);
        __syncthreads();
    }
    m = sh[0];
    __syncthreads();  // everyone has read sh[0] before it is written again

    if (!isfinite(m)) {
        if (tid == 0) y[blockIdx.x] = t * m;
        return;
    }

    float s = 0.f;
    for (unsigned j = tid; j < (unsigned)cols; j += nt) s += expf(row[j] / t - m);
    sh[tid] = s;
    __syncthreads();
    for (unsigned k = nt >> 1; k; k >>= 1) {
        if (tid < k) sh[tid] += sh[tid + k];
        __syncthreads();
    }
    if (tid == 0) y[blockIdx.x] = t * (m + logf(sh[0]));
}

void run_logsumexp_two_pass(const float* x, float t, float* y, int rows, int cols)
{
    unsigned threads = 1;
    do {
        threads <<= 1;
    } while (threads < 512 && threads < (unsigned)cols);
    soft_max_value<<<rows, threads, threads * sizeof *y>>>(x, y, cols, t);
}
