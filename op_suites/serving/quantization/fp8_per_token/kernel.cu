// Dynamic quantisation to 8-bit floats (e4m3) with one scale a token: the largest magnitude of a row becomes 448, the
// largest number of the format. The conversion rounds to nearest and saturates.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cub/block/block_reduce.cuh>
#include <cuda_fp8.h>

#include <utility>

namespace {

constexpr int kThreads = 128;
constexpr float kLargest = 448.0f;
constexpr float kSmallestScale = 1.0f / (kLargest * 512.0f);  // rows of zeros need one, too

struct Largest {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename scalar_t>
__global__ void dynamic_fp8_quant_kernel(
    const scalar_t* __restrict__ x, __nv_fp8_e4m3* __restrict__ q, float* __restrict__ scales, const int hidden) {
  using BlockReduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename BlockReduce::TempStorage storage;
  __shared__ float shared_scale;
  const int64_t offset = static_cast<int64_t>(blockIdx.x) * hidden;

  float largest = 0.0f;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    largest = fmaxf(largest, fabsf(static_cast<float>(x[offset + i])));
  }
  largest = BlockReduce(storage).Reduce(largest, Largest());
  if (threadIdx.x == 0) {
    shared_scale = fmaxf(largest / kLargest, kSmallestScale);
    scales[blockIdx.x] = shared_scale;
  }
  __syncthreads();

  const float inverse_scale = 1.0f / shared_scale;
  for (int i = threadIdx.x; i < hidden; i += kThreads) {
    q[offset + i] = __nv_fp8_e4m3(static_cast<float>(x[offset + i]) * inverse_scale);
  }
}

}  // namespace

std::pair<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 2, "x must be a contiguous CUDA matrix");
  auto q = torch::empty({x.size(0), x.size(1)}, x.options().dtype(torch::kFloat8_e4m3fn));
  auto scales = torch::empty({x.size(0), 1}, x.options().dtype(torch::kFloat32));
  if (x.size(0) == 0) return {q, scales};
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "dynamic_fp8_quant", [&] {
    dynamic_fp8_quant_kernel<scalar_t><<<x.size(0), kThreads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), reinterpret_cast<__nv_fp8_e4m3*>(q.data_ptr()), scales.data_ptr<float>(), x.size(1));
  });
  return {q, scales};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "e4m3 values and their scales");
}
