// Softmax of attention scores, scaled, where a mask hides keys from a query: one warp a query, in one pass for the
// maximum, one for the sum and one for the result. A query that sees no key at all attends to nothing.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#define WARP 32
#define QUERIES_PER_BLOCK 4

template <typename scalar_t>
__global__ void masked_softmax_kernel(
    const scalar_t* __restrict__ scores,  // [batch, heads, queries, keys]
    const bool* __restrict__ mask,        // [batch, queries, keys], true where a key is seen
    scalar_t* __restrict__ probabilities,
    const int batch, const int heads, const int queries, const int keys, const float scale) {
  const int lane = threadIdx.x;
  const int row = blockIdx.x * QUERIES_PER_BLOCK + threadIdx.y;
  if (row >= batch * heads * queries) return;

  const int query = row % queries;
  const int b = row / queries / heads;
  const scalar_t* score = scores + static_cast<int64_t>(row) * keys;
  const bool* seen = mask + (static_cast<int64_t>(b) * queries + query) * keys;
  scalar_t* p = probabilities + static_cast<int64_t>(row) * keys;

  float largest = -INFINITY;
  for (int k = lane; k < keys; k += WARP) {
    if (seen[k]) largest = fmaxf(largest, static_cast<float>(score[k]) * scale);
  }
#pragma unroll
  for (int offset = WARP / 2; offset > 0; offset /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  }

  float sum = 0.0f;
  for (int k = lane; k < keys; k += WARP) {
    if (seen[k]) sum += expf(static_cast<float>(score[k]) * scale - largest);
  }
#pragma unroll
  for (int offset = WARP / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, offset);
  }

  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
  for (int k = lane; k < keys; k += WARP) {
    const float value = seen[k] ? expf(static_cast<float>(score[k]) * scale - largest) * inverse : 0.0f;
    p[k] = static_cast<scalar_t>(value);
  }
}

torch::Tensor forward(torch::Tensor scores, torch::Tensor mask, double scale) {
  TORCH_CHECK(scores.is_cuda() && mask.is_cuda(), "scores and mask must be CUDA tensors");
  TORCH_CHECK(scores.dim() == 4 && mask.dim() == 3, "scores must have four dimensions, mask three");
  TORCH_CHECK(mask.scalar_type() == at::kBool, "mask must be bool");
  scores = scores.contiguous();
  mask = mask.contiguous();
  auto probabilities = torch::empty_like(scores);
  const int batch = scores.size(0), heads = scores.size(1), queries = scores.size(2), keys = scores.size(3);
  const int rows = batch * heads * queries;
  if (scores.numel() == 0) return probabilities;

  const dim3 block(WARP, QUERIES_PER_BLOCK);
  const dim3 grid((rows + QUERIES_PER_BLOCK - 1) / QUERIES_PER_BLOCK);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, scores.scalar_type(), "masked_softmax", [&] {
    masked_softmax_kernel<scalar_t><<<grid, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        scores.data_ptr<scalar_t>(), mask.data_ptr<bool>(), probabilities.data_ptr<scalar_t>(), batch, heads, queries,
        keys, static_cast<float>(scale));
  });
  return probabilities;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "softmax(scale * scores) where mask is true");
}
