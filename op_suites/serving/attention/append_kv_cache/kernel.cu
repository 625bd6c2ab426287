// Appends the keys and values of new tokens to a cache in which the tokens of a head lie together:
// [batch, tokens, heads, size] goes to [batch, heads, capacity, size], at the length that each sequence has.
// The types are opaque here: what is moved are words of their size.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <cstdint>

template <typename word_t>
__global__ void append_kv_cache_kernel(
    const word_t* __restrict__ key,
    const word_t* __restrict__ value,
    word_t* __restrict__ key_cache,
    word_t* __restrict__ value_cache,
    const int* __restrict__ lengths,
    const int tokens,
    const int heads,
    const int capacity,
    const int size) {
  const int token = blockIdx.x;
  const int sequence = blockIdx.y;
  const int position = lengths[sequence] + token;
  if (position >= capacity) return;  // a full cache takes no more

  const int64_t from = (static_cast<int64_t>(sequence) * tokens + token) * heads * size;
  for (int i = threadIdx.x; i < heads * size; i += blockDim.x) {
    const int head = i / size;
    const int64_t to = ((static_cast<int64_t>(sequence) * heads + head) * capacity + position) * size + i % size;
    key_cache[to] = key[from + i];
    value_cache[to] = value[from + i];
  }
}

template <typename word_t>
static void append(const torch::Tensor& key, const torch::Tensor& value, torch::Tensor& key_cache,
                   torch::Tensor& value_cache, const torch::Tensor& lengths) {
  const int tokens = key.size(1), heads = key.size(2), size = key.size(3);
  const dim3 grid(tokens, key.size(0));
  append_kv_cache_kernel<word_t><<<grid, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
      static_cast<const word_t*>(key.data_ptr()), static_cast<const word_t*>(value.data_ptr()),
      static_cast<word_t*>(key_cache.data_ptr()), static_cast<word_t*>(value_cache.data_ptr()),
      lengths.data_ptr<int>(), tokens, heads, key_cache.size(2), size);
}

void forward(torch::Tensor key, torch::Tensor value, torch::Tensor key_cache, torch::Tensor value_cache,
             torch::Tensor lengths) {
  TORCH_CHECK(key.is_cuda() && key.dim() == 4 && key_cache.dim() == 4, "four-dimensional CUDA tensors expected");
  TORCH_CHECK(key.is_contiguous() && value.is_contiguous(), "key and value must be contiguous");
  TORCH_CHECK(key_cache.is_contiguous() && value_cache.is_contiguous(), "the caches must be contiguous");
  TORCH_CHECK(key.scalar_type() == key_cache.scalar_type(), "keys and their cache must have the same type");
  TORCH_CHECK(lengths.scalar_type() == torch::kInt32, "lengths must be int32");
  if (key.numel() == 0) return;
  switch (key.element_size()) {
    case 1: append<uint8_t>(key, value, key_cache, value_cache, lengths); break;
    case 2: append<uint16_t>(key, value, key_cache, value_cache, lengths); break;
    case 4: append<uint32_t>(key, value, key_cache, value_cache, lengths); break;
    default: TORCH_CHECK(false, "elements of ", key.element_size(), " bytes are not supported");
  }
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Append keys and values to their caches");
}
