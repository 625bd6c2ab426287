// Instance normalisation without affine parameters: one block a plane, mean first, then the variance around it.
#include <torch/extension.h>

constexpr int WARP_SIZE = 32;

template <typename T>
__device__ __forceinline__ T warpReduceSum(T val) {
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2)
    val += __shfl_down_sync(0xffffffffu, val, offset);
  return val;
}

// The sum over the block, returned to all of its threads. blockDim.x is a multiple of the warp size.
template <typename T>
__device__ T blockReduceSum(T val) {
  __shared__ T shared[WARP_SIZE];
  __shared__ T total;
  const int lane = threadIdx.x % WARP_SIZE;
  const int wid = threadIdx.x / WARP_SIZE;

  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();

  if (wid == 0) {
    val = lane < blockDim.x / WARP_SIZE ? shared[lane] : T(0);
    val = warpReduceSum(val);
    if (lane == 0) total = val;
  }
  __syncthreads();
  return total;
}

template <typename T>
__global__ void instance_norm_kernel(const T* __restrict__ x, T* __restrict__ y, int plane, float eps) {
  const int64_t base = (int64_t)blockIdx.x * plane;

  T sum = 0;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) sum += x[base + i];
  const T mean = blockReduceSum(sum) / plane;
  __syncthreads();  // the second reduction writes where the first one's result was read

  T square = 0;
  for (int i = threadIdx.x; i < plane; i += blockDim.x) {
    const T d = x[base + i] - mean;
    square += d * d;
  }
  const T inv_std = rsqrt(blockReduceSum(square) / plane + T(eps));

  for (int i = threadIdx.x; i < plane; i += blockDim.x) y[base + i] = (x[base + i] - mean) * inv_std;
}

torch::Tensor forward(torch::Tensor x, double eps) {
  TORCH_CHECK(x.is_cuda(), "input must be a CUDA tensor");
  TORCH_CHECK(x.dim() == 4, "input must be NCHW");
  auto input = x.contiguous();
  auto output = torch::empty_like(input);
  const int planes = input.size(0) * input.size(1);
  const int plane = input.size(2) * input.size(3);
  if (planes == 0) return output;

  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "instance_norm", ([&] {
    instance_norm_kernel<scalar_t><<<planes, 256>>>(
        input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), plane, static_cast<float>(eps));
  }));
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "InstanceNorm2d");
}
