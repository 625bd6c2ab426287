// Adds x to the residual stream and normalises the sum, both in place: x becomes the layer's input, `residual` the stream.
// The sum of a row is kept in shared memory between the two passes, so that global memory is read once.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

namespace serving {

__device__ __forceinline__ float warp_reduce_sum(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) {
    v += __shfl_xor_sync(0xffffffff, v, mask, 32);
  }
  return v;
}

template <typename scalar_t>
__global__ void fused_add_rms_norm_kernel(
    scalar_t* __restrict__ x,          // [tokens, hidden]
    scalar_t* __restrict__ residual,   // [tokens, hidden]
    const scalar_t* __restrict__ weight,  // [hidden]
    const float epsilon,
    const int hidden) {
  extern __shared__ float row[];  // [hidden]
  __shared__ float warp_sums[32];
  __shared__ float inverse_rms;
  const int64_t offset = static_cast<int64_t>(blockIdx.x) * hidden;

  float squares = 0.0f;
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    const float z = static_cast<float>(x[offset + i]) + static_cast<float>(residual[offset + i]);
    residual[offset + i] = static_cast<scalar_t>(z);
    row[i] = z;
    squares += z * z;
  }

  squares = warp_reduce_sum(squares);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = squares;
  __syncthreads();
  if (threadIdx.x < 32) {
    squares = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0.0f;
    squares = warp_reduce_sum(squares);
    if (threadIdx.x == 0) inverse_rms = rsqrtf(squares / hidden + epsilon);
  }
  __syncthreads();

  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    x[offset + i] = static_cast<scalar_t>(row[i] * inverse_rms * static_cast<float>(weight[i]));
  }
}

}  // namespace serving

void forward(torch::Tensor x, torch::Tensor residual, torch::Tensor weight, double epsilon) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && residual.is_contiguous(), "contiguous CUDA tensors expected");
  TORCH_CHECK(x.sizes() == residual.sizes(), "x and residual must have the same shape");
  const int hidden = x.size(-1);
  const int64_t tokens = x.numel() / hidden;
  const size_t shared_bytes = hidden * sizeof(float);
  TORCH_CHECK(shared_bytes <= 40 * 1024, "rows of more than 10240 elements are not kept in shared memory");
  if (tokens == 0) return;

  const dim3 grid(tokens);
  const dim3 block(hidden < 512 ? (hidden + 31) / 32 * 32 : 512);
  const at::cuda::OptionalCUDAGuard device_guard(device_of(x));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "fused_add_rms_norm", [&] {
        serving::fused_add_rms_norm_kernel<scalar_t><<<grid, block, shared_bytes, stream>>>(
            x.data_ptr<scalar_t>(), residual.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
            static_cast<float>(epsilon), hidden);
      });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "residual += x; x = rms_norm(residual) * weight");
}
