// Running sum along rows of the elements that a mask selects, with CUB's block scan.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cub/block/block_scan.cuh>

constexpr int BLOCK_SIZE = 256;

__global__ void masked_cumsum_kernel(
    const float* __restrict__ x,
    const bool* __restrict__ mask,
    float* __restrict__ out,
    const int64_t cols) {
  using BlockScan = cub::BlockScan<float, BLOCK_SIZE>;
  __shared__ typename BlockScan::TempStorage temp;

  const int64_t row = static_cast<int64_t>(blockIdx.x) * cols;
  float running = 0.f;
  for (int64_t tile = 0; tile < cols; tile += BLOCK_SIZE) {
    const int64_t col = tile + threadIdx.x;
    float value = 0.f;
    if (col < cols && mask[row + col]) value = x[row + col];

    float scanned, total;
    BlockScan(temp).InclusiveSum(value, scanned, total);
    if (col < cols) out[row + col] = running + scanned;
    running += total;
    __syncthreads();  // temp is used again
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor mask) {
  TORCH_CHECK(x.is_cuda() && mask.is_cuda(), "x and mask must be CUDA tensors");
  TORCH_CHECK(x.sizes() == mask.sizes(), "x and mask must have the same shape");
  TORCH_CHECK(mask.scalar_type() == torch::kBool, "mask must be bool");
  x = x.contiguous();
  mask = mask.contiguous();
  auto out = torch::empty_like(x);
  if (x.numel() == 0) return out;
  masked_cumsum_kernel<<<x.size(0), BLOCK_SIZE, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), mask.data_ptr<bool>(), out.data_ptr<float>(), x.size(1));
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "cumsum(x * mask, dim=1)");
}
