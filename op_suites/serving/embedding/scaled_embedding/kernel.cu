// Rows of an embedding table, scaled. Token ids may be int32 or int64; a block serves four tokens, 64 threads each.
#include <torch/extension.h>
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>

template <typename scalar_t, typename index_t>
__global__ void scaled_embedding_kernel(
    const index_t* __restrict__ ids,
    const scalar_t* __restrict__ table,
    scalar_t* __restrict__ output,
    const int64_t tokens,
    const int hidden,
    const float scale) {
  const int64_t token = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (token >= tokens) return;
  const scalar_t* row = table + static_cast<int64_t>(ids[token]) * hidden;
  scalar_t* out = output + token * hidden;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    out[i] = static_cast<scalar_t>(static_cast<float>(row[i]) * scale);
  }
}

torch::Tensor forward(torch::Tensor ids, torch::Tensor table, double scale) {
  TORCH_CHECK(ids.is_cuda() && table.is_cuda(), "ids and table must be CUDA tensors");
  TORCH_CHECK(ids.dim() == 1 && table.dim() == 2, "ids must be a vector, table a matrix");
  ids = ids.contiguous();
  table = table.contiguous();
  const int64_t tokens = ids.size(0);
  const int hidden = table.size(1);
  auto output = torch::empty({tokens, hidden}, table.options());
  if (output.numel() == 0) return output;

  const dim3 block(64, 4);
  const dim3 grid((tokens + 3) / 4);
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, table.scalar_type(), "scaled_embedding", [&] {
    AT_DISPATCH_INDEX_TYPES(ids.scalar_type(), "scaled_embedding_ids", [&] {
      scaled_embedding_kernel<scalar_t, index_t><<<grid, block, 0, stream>>>(
          ids.data_ptr<index_t>(), table.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), tokens, hidden,
          static_cast<float>(scale));
    });
  });
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "scale * table[ids]");
}
