// Softmax over the last axis of a matrix, one block a row. The maximum and the sum of exponentials are found together
// in one pass ("online" softmax), so that a row that does not fit into shared memory is read twice, not three times.
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <ATen/cuda/CUDAContext.h>

#include <cmath>

constexpr int kWarpSize = 32;
constexpr int kBlockSize = 256;
constexpr int kWarps = kBlockSize / kWarpSize;

// The maximum of some elements, and the sum of their exponentials relative to it.
struct Partial {
    float maximum;
    float sum;
};

__device__ __forceinline__ Partial merge(Partial a, Partial b) {
    const float maximum = fmaxf(a.maximum, b.maximum);
    if (maximum == -INFINITY) return {maximum, 0.0f};  // neither has seen an element: -inf - -inf is no number
    return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

__device__ __forceinline__ Partial warp_merge(Partial mine) {
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        Partial other;
        other.maximum = __shfl_xor_sync(0xffffffff, mine.maximum, offset);
        other.sum = __shfl_xor_sync(0xffffffff, mine.sum, offset);
        mine = merge(mine, other);
    }
    return mine;
}

__global__ void __launch_bounds__(kBlockSize)
online_softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int columns) {
    __shared__ float warp_maximum[kWarps];
    __shared__ float warp_sum[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    x += static_cast<int64_t>(blockIdx.x) * columns;
    y += static_cast<int64_t>(blockIdx.x) * columns;

    Partial row = {-INFINITY, 0.0f};
    for (int i = threadIdx.x; i < columns; i += kBlockSize) {
        row = merge(row, {x[i], 1.0f});
    }
    row = warp_merge(row);
    if (lane == 0) {
        warp_maximum[warp] = row.maximum;
        warp_sum[warp] = row.sum;
    }
    __syncthreads();

    // Every warp merges the partial results of all, which spares a second barrier.
    row = {-INFINITY, 0.0f};
    if (lane < kWarps) row = {warp_maximum[lane], warp_sum[lane]};
    row = warp_merge(row);

    const float scale = 1.0f / row.sum;
    for (int i = threadIdx.x; i < columns; i += kBlockSize) {
        y[i] = expf(x[i] - row.maximum) * scale;
    }
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
    TORCH_CHECK(x.dim() == 2, "x must have two dimensions, has ", x.dim());
    TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be float32");
    const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
    x = x.contiguous();
    auto y = torch::empty_like(x);
    if (x.numel() == 0) return y;
    const auto stream = at::cuda::getCurrentCUDAStream();
    online_softmax_kernel<<<x.size(0), kBlockSize, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Softmax over dim 1");
}
