// Group normalisation. A group's channels lie side by side, so a block reads one contiguous stretch, with Welford's
// update in each thread, Chan's merge between lanes, and the same merge between warps.
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

struct WelfordData {
    float mean;
    float m2;
    float count;
};

__device__ __forceinline__ WelfordData welford_update(WelfordData acc, float value) {
    acc.count += 1.0f;
    const float delta = value - acc.mean;
    acc.mean += delta / acc.count;
    acc.m2 += delta * (value - acc.mean);
    return acc;
}

__device__ __forceinline__ WelfordData welford_merge(WelfordData a, WelfordData b) {
    const float count = a.count + b.count;
    if (count == 0.0f) return a;
    const float delta = b.mean - a.mean;
    const float share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

__device__ __forceinline__ WelfordData welford_warp(WelfordData acc) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        WelfordData other;
        other.mean = __shfl_down_sync(0xFFFFFFFF, acc.mean, offset);
        other.m2 = __shfl_down_sync(0xFFFFFFFF, acc.m2, offset);
        other.count = __shfl_down_sync(0xFFFFFFFF, acc.count, offset);
        acc = welford_merge(acc, other);
    }
    return acc;  // whole in lane 0
}

template <int kBlock>
__global__ __launch_bounds__(kBlock) void group_norm_kernel(const float* __restrict__ x, const float* __restrict__ gamma,
                                                            const float* __restrict__ beta, float* __restrict__ y,
                                                            int groups, int channels_per_group, int plane, float eps) {
    constexpr int kWarps = kBlock / 32;
    __shared__ WelfordData warps[kWarps];
    __shared__ float s_mean, s_rstd;
    const int group = blockIdx.x % groups;
    const int64_t length = (int64_t)channels_per_group * plane;
    x += blockIdx.x * length;
    y += blockIdx.x * length;

    WelfordData acc = {0.0f, 0.0f, 0.0f};
    for (int64_t i = threadIdx.x; i < length; i += kBlock) acc = welford_update(acc, x[i]);
    acc = welford_warp(acc);
    if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = acc;
    __syncthreads();

    if (threadIdx.x == 0) {
        acc = warps[0];
        for (int w = 1; w < kWarps; ++w) acc = welford_merge(acc, warps[w]);
        s_mean = acc.mean;
        s_rstd = rsqrtf(acc.m2 / length + eps);
    }
    __syncthreads();

    const float mean = s_mean, rstd = s_rstd;
    for (int64_t i = threadIdx.x; i < length; i += kBlock) {
        const int channel = group * channels_per_group + i / plane;
        y[i] = (x[i] - mean) * rstd * gamma[channel] + beta[channel];
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int64_t num_groups, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
    TORCH_CHECK(x.dim() == 4, "x must be [N, C, H, W]");
    TORCH_CHECK(x.size(1) % num_groups == 0, "C must be divisible by num_groups");
    const int channels_per_group = x.size(1) / num_groups;
    const int plane = x.size(2) * x.size(3);
    const int blocks = x.size(0) * num_groups;
    auto y = torch::empty_like(x);
    if (blocks == 0) return y;
    group_norm_kernel<256><<<blocks, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(),
        static_cast<int>(num_groups), channels_per_group, plane, static_cast<float>(eps));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "GroupNorm");
}
