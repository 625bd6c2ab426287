// y[i] = sum over j of x[i, j]^2
#include <cstddef>

template <typename T>
struct Plus {
    __device__ static T apply(T a, T b) { return a + b; }
};

template <template <typename> class Op, typename T, int Width = 32>
__device__ T warp_fold(T val)
{
    for (int delta = Width >> 1; delta >= 1; delta = delta >> 1)
        val = Op<T>::apply(val, __shfl_down_sync(0xffffffffu, val, delta, Width));
    return val;
}

template <template <typename> class Op, typename T, int NumWarps>
__device__ T block_fold(T val, T init)
{
    __shared__ T stash[NumWarps];
    val = warp_fold<Op>(val);
    if ((threadIdx.x & 31u) == 0u) stash[threadIdx.x >> 5] = val;
    __syncthreads();
    val = (threadIdx.x < NumWarps) ? stash[threadIdx.x] : init;
    if (threadIdx.x < 32) val = warp_fold<Op>(val);
    return val;  // valid in thread 0
}

template <int Threads>
__global__ void sumsq_ttp_kernel(const float* a, float* out, std::size_t cols)
{
    float local = 0.f;
    const float* p = a + blockIdx.x * cols;
    for (std::size_t k = threadIdx.x; k < cols; k += Threads) {
        const float v = p[k];
        local = fmaf(v, v, local);
    }
    const float total = block_fold<Plus, float, Threads / 32>(local, 0.f);
    if (!threadIdx.x) out[blockIdx.x] = total;
}

void run_sumsq_ttp(const float* x, float* y, int rows, int cols)
{
    sumsq_ttp_kernel<192><<<rows, 192>>>(x, y, (std::size_t)cols);
}
