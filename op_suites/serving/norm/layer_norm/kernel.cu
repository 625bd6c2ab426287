// Layer normalisation of rows with weight and bias; the statistics are returned for the backward pass. A warp takes a
// row and keeps its part of it in registers where it fits there, so that short rows need no barrier and one read.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <tuple>

namespace {

constexpr int kWarpSize = 32;
constexpr int kRowsPerBlock = 4;
constexpr int kCached = 8;  // elements of a row that a lane keeps: rows of up to 256 are read once

template <typename T>
__device__ __forceinline__ T warp_all_reduce_sum(T v) {
#pragma unroll
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffffu, v, offset);
    return v;
}

template <typename T, typename Acc>
__global__ void layer_norm_forward_kernel(const T* __restrict__ x, const T* __restrict__ weight,
                                          const T* __restrict__ bias, T* __restrict__ y, Acc* __restrict__ means,
                                          Acc* __restrict__ rstds, int64_t rows, int columns, Acc eps) {
    const int lane = threadIdx.x;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.y;
    if (row >= rows) return;
    x += row * columns;
    y += row * columns;

    Acc cached[kCached];
    Acc sum = 0;
#pragma unroll
    for (int k = 0; k < kCached; ++k) {
        const int column = lane + k * kWarpSize;
        cached[k] = column < columns ? static_cast<Acc>(x[column]) : Acc(0);
        sum += cached[k];
    }
    for (int column = lane + kCached * kWarpSize; column < columns; column += kWarpSize) {
        sum += static_cast<Acc>(x[column]);
    }
    const Acc mean = warp_all_reduce_sum(sum) / columns;

    Acc squares = 0;
#pragma unroll
    for (int k = 0; k < kCached; ++k) {
        const Acc d = cached[k] - mean;
        if (lane + k * kWarpSize < columns) squares += d * d;
    }
    for (int column = lane + kCached * kWarpSize; column < columns; column += kWarpSize) {
        const Acc d = static_cast<Acc>(x[column]) - mean;
        squares += d * d;
    }
    const Acc rstd = rsqrt(warp_all_reduce_sum(squares) / columns + eps);

#pragma unroll
    for (int k = 0; k < kCached; ++k) {
        const int column = lane + k * kWarpSize;
        if (column < columns) {
            y[column] = static_cast<T>((cached[k] - mean) * rstd * static_cast<Acc>(weight[column]) +
                                       static_cast<Acc>(bias[column]));
        }
    }
    for (int column = lane + kCached * kWarpSize; column < columns; column += kWarpSize) {
        y[column] = static_cast<T>((static_cast<Acc>(x[column]) - mean) * rstd * static_cast<Acc>(weight[column]) +
                                   static_cast<Acc>(bias[column]));
    }
    if (lane == 0) {
        means[row] = mean;
        rstds[row] = rstd;
    }
}

}  // namespace

std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> forward(torch::Tensor x, torch::Tensor weight,
                                                                torch::Tensor bias, double eps) {
    TORCH_CHECK(x.is_cuda() && x.dim() == 2, "x must be a CUDA matrix");
    TORCH_CHECK(weight.numel() == x.size(1) && bias.numel() == x.size(1), "one weight and bias a column");
    x = x.contiguous();
    const int64_t rows = x.size(0);
    auto y = torch::empty_like(x);
    auto means = torch::empty({rows}, x.options().dtype(torch::kFloat32));
    auto rstds = torch::empty({rows}, x.options().dtype(torch::kFloat32));
    if (rows == 0) return std::make_tuple(y, means, rstds);

    const dim3 block(kWarpSize, kRowsPerBlock);
    const unsigned grid = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
    const auto stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_SWITCH(x.scalar_type(), "layer_norm_forward",
        AT_DISPATCH_CASE(at::kFloat, [&] {
            layer_norm_forward_kernel<float, float><<<grid, block, 0, stream>>>(
                x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(),
                means.data_ptr<float>(), rstds.data_ptr<float>(), rows, x.size(1), eps);
        })
        AT_DISPATCH_CASE(at::kHalf, [&] {
            layer_norm_forward_kernel<at::Half, float><<<grid, block, 0, stream>>>(
                x.data_ptr<at::Half>(), weight.data_ptr<at::Half>(), bias.data_ptr<at::Half>(), y.data_ptr<at::Half>(),
                means.data_ptr<float>(), rstds.data_ptr<float>(), rows, x.size(1), eps);
        })
        AT_DISPATCH_CASE(at::kBFloat16, [&] {
            layer_norm_forward_kernel<at::BFloat16, float><<<grid, block, 0, stream>>>(
                x.data_ptr<at::BFloat16>(), weight.data_ptr<at::BFloat16>(), bias.data_ptr<at::BFloat16>(),
                y.data_ptr<at::BFloat16>(), means.data_ptr<float>(), rstds.data_ptr<float>(), rows, x.size(1), eps);
        })
    );
    return std::make_tuple(y, means, rstds);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "LayerNorm: y, mean, 1 / standard deviation");
}
