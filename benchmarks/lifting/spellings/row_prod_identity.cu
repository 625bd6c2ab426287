// y[i] = product over j of x[i, j]
#include <cuda_runtime.h>

struct Multiplies {
    static __host__ __device__ constexpr float identity() { return 1.0f; }
    __device__ float operator()(float a, float b) const { return a * b; }
};

template <class Op>
__device__ float fold_block(float v, Op op)
{
    __shared__ float part[32];
    const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    const int warps = (blockDim.x + 31) >> 5;

    for (int off = 16; off >= 1; off >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffff, v, off));
    if (lane == 0)
        part[wid] = v;
    __syncthreads();

    if (wid == 0) {
        v = lane < warps ? part[lane] : Op::identity();
        for (int off = 16; off >= 1; off >>= 1)
            v = op(v, __shfl_xor_sync(0xffffffff, v, off));
    }
    return v;
}

template <class Op>
__global__ void fold_rows(const float* in, float* out, int cols, Op op)
{
    float acc = Op::identity();
    size_t at = (size_t)blockIdx.x * cols + threadIdx.x;
    const size_t end = (size_t)(blockIdx.x + 1ull) * cols;
    for (; at < end; at += blockDim.x)
        acc = op(acc, in[at]);

    acc = fold_block(acc, op);
    if (threadIdx.x == 0)
        out[blockIdx.x] = acc;
}

void run_row_prod_identity(const float* x, float* y, int rows, int cols)
{
    fold_rows<<<rows, 256>>>(x, y, cols, Multiplies{});
}
