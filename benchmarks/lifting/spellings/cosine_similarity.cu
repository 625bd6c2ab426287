// y[i] = (sum over j of a[i, j] * b[i, j]) / max(sqrt(sum over j of a[i, j]^2) * sqrt(sum over j of b[i, j]^2), eps)
#include <cuda_runtime.h>

struct Triple {
    float ab = 0.f, aa = 0.f, bb = 0.f;

    __device__ Triple& operator+=(const Triple& o)
    {
        ab += o.ab;
        aa += o.aa;
        bb += o.bb;
        return *this;
    }
    __device__ Triple from_lane_above(int d) const
    {
        Triple r;
        r.ab = __shfl_down_sync(0xffffffff, ab, d);
        r.aa = __shfl_down_sync(0xffffffff, aa, d);
        r.bb = __shfl_down_sync(0xffffffff, bb, d);
        return r;
    }
};

__global__ void cosine_rows(const float* a, const float* b, float* y, unsigned rows, unsigned cols)
{
    const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < rows) {
        const size_t base = size_t(row) * cols;
        Triple t;
        for (unsigned j = threadIdx.x; j < cols; j += warpSize) {
            const float u = a[base + j], v = b[base + j];
            t.ab += u * v;
            t.aa += u * u;
            t.bb += v * v;
        }
        t += t.from_lane_above(16);
        t += t.from_lane_above(8);
        t += t.from_lane_above(4);
        t += t.from_lane_above(2);
        t += t.from_lane_above(1);
        if (threadIdx.x == 0) y[row] = t.ab / fmaxf(sqrtf(t.aa) * sqrtf(t.bb), 1e-8f);
    }
}

void run_cosine_similarity(const float* a, const float* b, float* y, int rows, int cols)
{
    dim3 block(32, 6);
    dim3 grid((rows + block.y - 1) / block.y);
    cosine_rows<<<grid, block>>>(a, b, y, rows, cols);
}
