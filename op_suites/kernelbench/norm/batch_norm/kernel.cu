// Batch normalisation in training mode: the statistics are those of the batch, the running ones are updated in place.
//
//   1. partial sums     one block for each part of a channel
//   2. finish           one thread a channel adds the parts up, updates the running statistics, folds everything into
//                       y = scale * x + shift
//   3. transform        elementwise
//
// Sums are taken relative to a channel's first element: far from zero, sum(x^2) - sum(x)^2 / n would cancel.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <algorithm>

namespace {

constexpr int kThreads = 256;
constexpr int kElementsPerBlock = 1024;
constexpr int kMaxParts = 256;

// x is [batch, channels, plane]; element i of channel c.
__device__ __forceinline__ int64_t element(int64_t i, int c, int channels, int64_t plane) {
    return (i / plane * channels + c) * plane + i % plane;
}

__global__ void partial_sums_kernel(const float* __restrict__ x, float2* __restrict__ partial, int channels,
                                    int64_t plane, int64_t per_channel) {
    __shared__ float sums[kThreads];
    __shared__ float squares[kThreads];
    const int c = blockIdx.x;
    const float origin = x[c * plane];

    float sum = 0.0f, square = 0.0f;
    const int64_t step = static_cast<int64_t>(gridDim.y) * kThreads;
    for (int64_t i = static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x; i < per_channel; i += step) {
        const float d = x[element(i, c, channels, plane)] - origin;
        sum += d;
        square += d * d;
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (int s = kThreads / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) {
            sums[threadIdx.x] += sums[threadIdx.x + s];
            squares[threadIdx.x] += squares[threadIdx.x + s];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[c * gridDim.y + blockIdx.y] = make_float2(sums[0], squares[0]);
}

__global__ void finish_kernel(const float* __restrict__ x, const float2* __restrict__ partial,
                              const float* __restrict__ weight, const float* __restrict__ bias,
                              float* __restrict__ running_mean, float* __restrict__ running_var,
                              float* __restrict__ scale, float* __restrict__ shift, int channels, int parts,
                              int64_t plane, int64_t per_channel, float momentum, float eps) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;

    float sum = 0.0f, square = 0.0f;
    for (int part = 0; part < parts; ++part) {
        const float2 p = partial[c * parts + part];
        sum += p.x;
        square += p.y;
    }
    const float count = static_cast<float>(per_channel);
    const float offset = sum / count;  // of the mean from the channel's first element
    const float mean = x[c * plane] + offset;
    const float var = fmaxf(square / count - offset * offset, 0.0f);
    const float unbiased = var * (count / (count - 1.0f));
    running_mean[c] += momentum * (mean - running_mean[c]);
    running_var[c] += momentum * (unbiased - running_var[c]);

    const float factor = weight[c] * rsqrtf(var + eps);
    scale[c] = factor;
    shift[c] = bias[c] - mean * factor;
}

__global__ void transform_kernel(const float* __restrict__ x, float* __restrict__ y, const float* __restrict__ scale,
                                 const float* __restrict__ shift, int channels, int64_t plane, int64_t size) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < size; i += step) {
        const int c = i / plane % channels;
        y[i] = fmaf(x[i], scale[c], shift[c]);
    }
}

}  // namespace

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor running_mean,
                      torch::Tensor running_var, double momentum, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(x.dim() == 4, "x must be [batch, channels, height, width]");
    const int channels = x.size(1);
    const int64_t plane = x.size(2) * x.size(3);
    const int64_t per_channel = x.size(0) * plane;
    TORCH_CHECK(per_channel > 1, "more than one value per channel is needed in training");
    TORCH_CHECK(weight.numel() == channels && bias.numel() == channels, "one weight and bias a channel");

    const int64_t wanted = (per_channel + kElementsPerBlock - 1) / kElementsPerBlock;
    const int parts = static_cast<int>(std::min<int64_t>(wanted, kMaxParts));
    auto partial = torch::empty({channels, parts, 2}, x.options());
    auto scale = torch::empty({channels}, x.options());
    auto shift = torch::empty({channels}, x.options());
    auto y = torch::empty_like(x);
    const auto stream = at::cuda::getCurrentCUDAStream();

    partial_sums_kernel<<<dim3(channels, parts), kThreads, 0, stream>>>(
        x.data_ptr<float>(), reinterpret_cast<float2*>(partial.data_ptr<float>()), channels, plane, per_channel);
    finish_kernel<<<(channels + 63) / 64, 64, 0, stream>>>(
        x.data_ptr<float>(), reinterpret_cast<const float2*>(partial.data_ptr<float>()), weight.data_ptr<float>(),
        bias.data_ptr<float>(), running_mean.data_ptr<float>(), running_var.data_ptr<float>(), scale.data_ptr<float>(),
        shift.data_ptr<float>(), channels, parts, plane, per_channel, momentum, eps);
    const int64_t blocks = std::min<int64_t>((x.numel() + kThreads - 1) / kThreads, 65535);
    transform_kernel<<<blocks, kThreads, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                      scale.data_ptr<float>(), shift.data_ptr<float>(), channels, plane,
                                                      x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "BatchNorm2d, training mode");
}
