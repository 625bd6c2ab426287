// Layer normalisation over few but very long rows: a row is cut into chunks, so that many blocks work on it.
// Each chunk gets its own mean and sum of squared deviations; merging those is exact, however far from zero x lies.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <algorithm>

namespace layer_norm {

constexpr int kThreads = 256;
constexpr int kChunk = 2048;

// All lanes receive the sum over the warp.
__device__ __forceinline__ float warp_sum(float v) {
    for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(~0u, v, mask);
    return v;
}

// All threads receive the sum over the block; `scratch` has one slot a warp and is free again afterwards.
__device__ float block_sum(float v, float* scratch) {
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < kThreads / 32; ++w) total += scratch[w];
    __syncthreads();
    return total;
}

__global__ void chunk_moments(const float* __restrict__ x, float* __restrict__ means, float* __restrict__ m2s,
                              int64_t length) {
    __shared__ float scratch[kThreads / 32];
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * kChunk;
    const int count = length - begin < kChunk ? length - begin : kChunk;
    const float* chunk = x + blockIdx.y * length + begin;

    float values[kChunk / kThreads];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kChunk / kThreads; ++k) {
        const int i = threadIdx.x + k * kThreads;
        values[k] = i < count ? chunk[i] : 0.0f;
        sum += values[k];
    }
    const float mean = block_sum(sum, scratch) / count;

    float m2 = 0.0f;
#pragma unroll
    for (int k = 0; k < kChunk / kThreads; ++k) {
        const float d = values[k] - mean;
        if (threadIdx.x + k * kThreads < count) m2 += d * d;
    }
    m2 = block_sum(m2, scratch);
    if (threadIdx.x == 0) {
        means[blockIdx.y * gridDim.x + blockIdx.x] = mean;
        m2s[blockIdx.y * gridDim.x + blockIdx.x] = m2;
    }
}

// One warp a row: the mean of the chunks' means, weighted, then the deviations within and between chunks.
__global__ void row_moments(const float* __restrict__ means, const float* __restrict__ m2s, float2* __restrict__ moments,
                            int chunks, int64_t length, float eps) {
    const int row = blockIdx.x;
    means += static_cast<int64_t>(row) * chunks;
    m2s += static_cast<int64_t>(row) * chunks;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < chunks; c += 32) {
        const int64_t left = length - static_cast<int64_t>(c) * kChunk;
        sum += means[c] * (left < kChunk ? left : kChunk);
    }
    const float mean = warp_sum(sum) / length;

    float m2 = 0.0f;
    for (int c = threadIdx.x; c < chunks; c += 32) {
        const int64_t left = length - static_cast<int64_t>(c) * kChunk;
        const float d = means[c] - mean;
        m2 += m2s[c] + d * d * (left < kChunk ? left : kChunk);
    }
    m2 = warp_sum(m2);
    if (threadIdx.x == 0) moments[row] = make_float2(mean, rsqrtf(m2 / length + eps));
}

__global__ void normalise(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                          const float2* __restrict__ moments, float* __restrict__ y, int64_t length) {
    const float2 row = moments[blockIdx.y];
    const int64_t offset = blockIdx.y * length;
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < length; i += step) {
        y[offset + i] = (x[offset + i] - row.x) * row.y * weight[i] + bias[i];
    }
}

}  // namespace layer_norm

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
    using namespace layer_norm;
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(weight.is_contiguous() && bias.is_contiguous(), "weight and bias must be contiguous");
    const int64_t length = weight.numel();
    TORCH_CHECK(length > 0 && x.numel() % length == 0, "weight does not have the shape of the last dimensions of x");
    const int rows = x.numel() / length;
    auto y = torch::empty_like(x);
    if (rows == 0) return y;

    const int chunks = (length + kChunk - 1) / kChunk;
    auto means = torch::empty({rows, chunks}, x.options());
    auto m2s = torch::empty({rows, chunks}, x.options());
    auto moments = torch::empty({rows, 2}, x.options());
    float2* row = reinterpret_cast<float2*>(moments.data_ptr<float>());
    const auto stream = at::cuda::getCurrentCUDAStream();
    chunk_moments<<<dim3(chunks, rows), kThreads, 0, stream>>>(x.data_ptr<float>(), means.data_ptr<float>(),
                                                               m2s.data_ptr<float>(), length);
    row_moments<<<rows, 32, 0, stream>>>(means.data_ptr<float>(), m2s.data_ptr<float>(), row, chunks, length, eps);
    const dim3 grid(std::min<int64_t>((length + kThreads - 1) / kThreads, 1024), rows);
    normalise<<<grid, kThreads, 0, stream>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), row,
                                             y.data_ptr<float>(), length);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "LayerNorm over all dimensions but the first, with weight and bias");
}
