// y[i, j] = a[i, j] * y[i, j - 1] + b[i, j], y[i, -1] = 0
#include <cuda_runtime.h>

// The map h -> a h + b. `then` composes: first this one, next the other.
struct Affine {
    float a, b;
    __device__ Affine then(const Affine& g) const { return {g.a * a, fmaf(g.a, b, g.b)}; }
};

__device__ Affine up(Affine f, int d)
{
    f.a = __shfl_up_sync(0xffffffff, f.a, d);
    f.b = __shfl_up_sync(0xffffffff, f.b, d);
    return f;
}

constexpr int LR_WARPS = 4;

__global__ void recurrence(const float* a, const float* b, float* y, int cols)
{
    __shared__ Affine of_warp[LR_WARPS];
    const int lane = threadIdx.x % 32, w = threadIdx.x / 32;
    const size_t row = (size_t)blockIdx.x * cols;
    float h = 0.f;

    for (int j = threadIdx.x, left = cols; left > 0; j += 32 * LR_WARPS, left -= 32 * LR_WARPS) {
        Affine f{1.f, 0.f};
        if (j < cols) f = Affine{a[row + j], b[row + j]};
        __syncwarp();
        for (int d = 1; d < 32; d <<= 1) {
            const Affine g = up(f, d);
            if (lane >= d) f = g.then(f);
        }
        if (lane == 31) of_warp[w] = f;
        __syncthreads();

        float h_in = h;
        for (int k = 0; k < LR_WARPS; ++k) {
            if (k == w) h_in = h;
            h = of_warp[k].a * h + of_warp[k].b;
        }
        if (j < cols) y[row + j] = f.a * h_in + f.b;
        __syncthreads();
    }
}

void run_scan_linear_recurrence(const float* a, const float* b, float* y, int rows, int cols)
{
    recurrence<<<rows, 32 * LR_WARPS>>>(a, b, y, cols);
}
