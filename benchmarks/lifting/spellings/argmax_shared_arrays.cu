// idx[i] = smallest j with x[i, j] = max over k of x[i, k]; y[i] = x[i, idx[i]]
#include <cuda_runtime.h>

__device__ void take_larger(float* va, int* ia, const float* vb, const int* ib)
{
    if (*vb > *va || (*vb == *va && *ib < *ia)) {
        *va = *vb;
        *ia = *ib;
    }
}

__global__ void argmax_rows(const float* x, int* idx, float* y, int cols)
{
    extern __shared__ unsigned char raw[];
    float* vals = reinterpret_cast<float*>(raw);
    int* inds = reinterpret_cast<int*>(vals + blockDim.x);
    const float* row = x + (size_t)blockIdx.x * cols;
    const int t = threadIdx.x;

    int best_i = t < cols ? t : 0;
    float best_v = row[best_i];
    for (int j = t + blockDim.x; j < cols; j += blockDim.x) {
        const float v = row[j];
        take_larger(&best_v, &best_i, &v, &j);
    }
    vals[t] = best_v;
    inds[t] = best_i;
    __syncthreads();

    for (int half = blockDim.x / 2; half >= 1; half /= 2) {
        if (t < half)
            take_larger(vals + t, inds + t, vals + t + half, inds + t + half);
        __syncthreads();
    }
    if (t == 0) {
        y[blockIdx.x] = vals[0];
        idx[blockIdx.x] = inds[0];
    }
}

void run_argmax_shared_arrays(const float* x, int* idx, float* y, int rows, int cols)
{
    int b = 64;
    while (2 * b <= cols && b < 512) b <<= 1;
    argmax_rows<<<rows, b, b * (sizeof(float) + sizeof(int))>>>(x, idx, y, cols);
}
