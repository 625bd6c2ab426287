// y[i, j] = sum over s <= k <= j of x[i, k], s the last position <= j with head[i, s] != 0 (or 0)
#include <cuda_runtime.h>

struct Seg {
    float v;
    int flag;
};

__device__ __forceinline__ Seg seg_op(const Seg l, const Seg r)
{
    Seg o;
    o.v = r.flag ? r.v : l.v + r.v;
    o.flag = l.flag | r.flag;
    return o;
}

// in place in shared memory, two barriers a step
__global__ void segmented_cumsum(const float* x, const unsigned char* head, float* y, int cols)
{
    extern __shared__ Seg sg[];
    const unsigned t = threadIdx.x, T = blockDim.x;
    const size_t row = (size_t)blockIdx.x * cols;
    Seg carry = {0.f, 0};

    for (unsigned start = 0; start < (unsigned)cols; start += T) {
        const unsigned j = start + t;
        Seg me = {0.f, 0};
        if (j < cols) {
            me.v = x[row + j];
            me.flag = head[row + j] != 0;
        }
        sg[t] = me;
        __syncthreads();
        for (unsigned d = 1; d < T; d <<= 1) {
            if (t >= d) me = seg_op(sg[t - d], me);
            __syncthreads();
            sg[t] = me;
            __syncthreads();
        }
        if (j < cols) y[row + j] = seg_op(carry, me).v;
        carry = seg_op(carry, sg[T - 1]);
        __syncthreads();
    }
}

void run_scan_segmented_flags(const float* x, const unsigned char* head, float* y, int rows, int cols)
{
    int threads = 64;
    for (int c = cols; c > 64 && threads < 512; c /= 2) threads *= 2;
    segmented_cumsum<<<rows, threads, threads * sizeof(Seg)>>>(x, head, y, cols);
}
