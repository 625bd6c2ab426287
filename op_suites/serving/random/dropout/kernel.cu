// Dropout whose mask depends on nothing but seed, offset and position: Philox 4x32 with ten rounds gives each thread
// four numbers for its four elements. The same call gives the same mask on every device, whatever its grid.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <tuple>

namespace philox {

__device__ __forceinline__ uint4 round(uint4 counter, uint2 key) {
    const unsigned hi0 = __umulhi(0xD2511F53u, counter.x), lo0 = 0xD2511F53u * counter.x;
    const unsigned hi1 = __umulhi(0xCD9E8D57u, counter.z), lo1 = 0xCD9E8D57u * counter.z;
    return make_uint4(hi1 ^ counter.y ^ key.x, lo1, hi0 ^ counter.w ^ key.y, lo0);
}

__device__ uint4 generate(uint4 counter, uint2 key) {
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        counter = round(counter, key);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return counter;
}

// In [0, 1), with the 24 bits that a float can tell apart.
__device__ __forceinline__ float uniform(unsigned bits) {
    return (bits >> 8) * (1.0f / 16777216.0f);
}

}  // namespace philox

template <typename scalar_t>
__global__ void dropout_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, bool* __restrict__ mask,
                               int64_t size, float p, float scale, uint64_t seed, uint64_t offset) {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (4 * thread >= size) return;
    const uint64_t counter = offset + thread;
    const uint2 key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
    const uint4 bits =
        philox::generate(make_uint4(static_cast<unsigned>(counter), static_cast<unsigned>(counter >> 32), 0u, 0u), key);
    const unsigned drawn[4] = {bits.x, bits.y, bits.z, bits.w};

#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int64_t i = 4 * thread + k;
        if (i < size) {
            const bool keep = philox::uniform(drawn[k]) >= p;
            mask[i] = keep;
            y[i] = static_cast<scalar_t>(keep ? static_cast<float>(x[i]) * scale : 0.0f);
        }
    }
}

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x, double p, int64_t seed, int64_t offset) {
    TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
    TORCH_CHECK(p >= 0.0 && p < 1.0, "p must lie in [0, 1)");
    x = x.contiguous();
    auto y = torch::empty_like(x);
    auto mask = torch::empty(x.sizes(), x.options().dtype(torch::kBool));
    const int64_t size = x.numel();
    if (size == 0) return {y, mask};

    const int threads = 256;
    const int64_t blocks = ((size + 3) / 4 + threads - 1) / threads;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "dropout", [&] {
        dropout_kernel<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
            x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), mask.data_ptr<bool>(), size, static_cast<float>(p),
            static_cast<float>(1.0 / (1.0 - p)), static_cast<uint64_t>(seed), static_cast<uint64_t>(offset));
    });
    return {y, mask};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "Dropout: y, mask");
}
