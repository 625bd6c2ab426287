// Triplet margin loss with Euclidean distances: a warp computes both distances of a triplet, a block of eight warps adds
// its losses up, and the mean is gathered by atomics.
#include <torch/extension.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#define WARPS_PER_BLOCK 8
#define FULL_MASK 0xffffffff

__device__ __forceinline__ float warp_all_sum(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(FULL_MASK, v, mask, 32);
  return v;
}

__global__ void triplet_margin_kernel(
    const float* __restrict__ anchor,
    const float* __restrict__ positive,
    const float* __restrict__ negative,
    float* __restrict__ loss,
    const int rows,
    const int cols,
    const float margin,
    const float eps) {
  __shared__ float losses[WARPS_PER_BLOCK];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * WARPS_PER_BLOCK + warp;

  float row_loss = 0.0f;
  if (row < rows) {
    const int64_t offset = static_cast<int64_t>(row) * cols;
    float to_positive = 0.0f;
    float to_negative = 0.0f;
    for (int col = lane; col < cols; col += 32) {
      const float a = anchor[offset + col];
      const float dp = a - positive[offset + col] + eps;
      const float dn = a - negative[offset + col] + eps;
      to_positive = fmaf(dp, dp, to_positive);
      to_negative = fmaf(dn, dn, to_negative);
    }
    to_positive = sqrtf(warp_all_sum(to_positive));
    to_negative = sqrtf(warp_all_sum(to_negative));
    row_loss = fmaxf(to_positive - to_negative + margin, 0.0f);
  }
  if (lane == 0) losses[warp] = row_loss;
  __syncthreads();

  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < WARPS_PER_BLOCK; ++w) sum += losses[w];
    atomicAdd(loss, sum / rows);
  }
}

torch::Tensor forward(
    torch::Tensor anchor, torch::Tensor positive, torch::Tensor negative, double margin, double eps) {
  TORCH_CHECK(anchor.is_cuda(), "anchor must be a CUDA tensor");
  TORCH_CHECK(anchor.dim() == 2, "anchor must be [rows, columns]");
  TORCH_CHECK(anchor.sizes() == positive.sizes() && anchor.sizes() == negative.sizes(), "shapes must be equal");
  const c10::cuda::OptionalCUDAGuard guard(device_of(anchor));
  auto a = anchor.contiguous();
  auto p = positive.contiguous();
  auto n = negative.contiguous();
  auto loss = torch::zeros({}, a.options());
  const int rows = a.size(0);
  const int blocks = (rows + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
  triplet_margin_kernel<<<blocks, 32 * WARPS_PER_BLOCK, 0, c10::cuda::getCurrentCUDAStream()>>>(
      a.data_ptr<float>(), p.data_ptr<float>(), n.data_ptr<float>(), loss.data_ptr<float>(), rows, a.size(1),
      static_cast<float>(margin), static_cast<float>(eps));
  return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Triplet margin loss", py::arg("anchor"), py::arg("positive"), py::arg("negative"),
        py::arg("margin") = 1.0, py::arg("eps") = 1e-6);
}
