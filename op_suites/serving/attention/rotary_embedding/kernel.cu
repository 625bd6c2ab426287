// Rotary position embedding of queries and keys, in place: element i of a head is turned together with element
// i + size / 2. A block takes a token, whose row of cosines and sines all of its heads share.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include <algorithm>

namespace serving {

template <typename scalar_t>
inline __device__ void rotate(scalar_t* __restrict__ head, const scalar_t* __restrict__ cosines,
                              const scalar_t* __restrict__ sines, int i, int half) {
  const float c = static_cast<float>(cosines[i]);
  const float s = static_cast<float>(sines[i]);
  const float x = static_cast<float>(head[i]);
  const float y = static_cast<float>(head[i + half]);
  head[i] = static_cast<scalar_t>(x * c - y * s);
  head[i + half] = static_cast<scalar_t>(y * c + x * s);
}

template <typename scalar_t>
__global__ void rotary_embedding_kernel(
    const int64_t* __restrict__ positions,      // [tokens]
    scalar_t* __restrict__ query,               // [tokens, heads, size]
    scalar_t* __restrict__ key,                 // [tokens, kv_heads, size]
    const scalar_t* __restrict__ cos_sin_cache, // [longest, size]: cosines, then sines
    const int heads,
    const int kv_heads,
    const int size) {
  const int64_t token = blockIdx.x;
  const int half = size / 2;
  const scalar_t* cosines = cos_sin_cache + positions[token] * size;
  const scalar_t* sines = cosines + half;

  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    rotate(query + (token * heads + i / half) * size, cosines, sines, i % half, half);
  }
  for (int i = threadIdx.x; i < kv_heads * half; i += blockDim.x) {
    rotate(key + (token * kv_heads + i / half) * size, cosines, sines, i % half, half);
  }
}

}  // namespace serving

void forward(torch::Tensor positions, torch::Tensor query, torch::Tensor key, torch::Tensor cos_sin_cache) {
  TORCH_CHECK(query.is_cuda() && query.is_contiguous() && key.is_contiguous(), "contiguous CUDA tensors expected");
  TORCH_CHECK(positions.scalar_type() == torch::kInt64, "positions must be int64");
  TORCH_CHECK(query.dim() == 3 && key.dim() == 3, "query and key must be [tokens, heads, size]");
  const int64_t tokens = query.size(0);
  const int heads = query.size(1);
  const int kv_heads = key.size(1);
  const int size = query.size(2);
  TORCH_CHECK(size % 2 == 0 && cos_sin_cache.size(1) == size, "a head has two halves, and a cosine and sine for each");
  if (tokens == 0) return;

  const dim3 grid(tokens);
  const dim3 block(std::min(heads * size / 2, 512));
  const c10::cuda::OptionalCUDAGuard device_guard(device_of(query));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, query.scalar_type(), "rotary_embedding", [&] {
    serving::rotary_embedding_kernel<scalar_t><<<grid, block, 0, stream>>>(
        positions.data_ptr<int64_t>(), query.data_ptr<scalar_t>(), key.data_ptr<scalar_t>(),
        cos_sin_cache.data_ptr<scalar_t>(), heads, kv_heads, size);
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Rotary embedding of query and key, in place");
}
