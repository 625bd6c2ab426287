// y[j] = sqrt((sum over i of (x[i, j] - m[j])^2) / rows + eps), m[j] = (sum over i of x[i, j]) / rows
#include <cuda_runtime.h>

// (n, mean, M2) kept as three planes in shared memory, threadIdx.y folded in a tree
template <int TX, int TY>
__global__ void col_std(const float* x, float* y, int rows, int cols, float eps)
{
    __shared__ int cnt[TY][TX];
    __shared__ float avg[TY][TX];
    __shared__ float dev[TY][TX];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int j = blockIdx.x * TX + tx;

    int n = 0;
    float mu = 0.f, m2 = 0.f;
    if (j < cols) {
        for (int i = ty; i < rows; i += TY) {
            const float v = x[static_cast<size_t>(i) * cols + j];
            ++n;
            const float delta = v - mu;
            mu += delta / n;
            m2 += delta * (v - mu);
        }
    }
    cnt[ty][tx] = n;
    avg[ty][tx] = mu;
    dev[ty][tx] = m2;
    __syncthreads();

#pragma unroll
    for (int k = TY >> 1; k != 0; k >>= 1) {
        if (ty < k && cnt[ty + k][tx] > 0) {
            const int na = cnt[ty][tx], nb = cnt[ty + k][tx];
            const float tot = float(na) + float(nb);
            const float d = avg[ty + k][tx] - avg[ty][tx];
            avg[ty][tx] += d * nb / tot;
            dev[ty][tx] += dev[ty + k][tx] + d * d * na / tot * nb;
            cnt[ty][tx] = na + nb;
        }
        __syncthreads();
    }

    if (ty == 0 && j < cols)
        y[j] = sqrtf(dev[0][tx] / rows + eps);
}

void run_welford_cols_shared(const float* x, float* y, int rows, int cols)
{
    constexpr int TX = 32, TY = 8;
    col_std<TX, TY><<<(cols + TX - 1) / TX, dim3(TX, TY)>>>(x, y, rows, cols, 1e-5f);
}
