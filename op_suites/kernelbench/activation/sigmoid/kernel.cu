// Logistic sigmoid for float and double, one element a thread; AT_DISPATCH picks the instance.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

template <typename scalar_t>
__device__ __forceinline__ scalar_t sigmoid(scalar_t z) {
    return scalar_t(1) / (scalar_t(1) + exp(-z));
}

template <typename scalar_t>
__global__ void sigmoid_forward_kernel(
    const scalar_t* __restrict__ input,
    scalar_t* __restrict__ output,
    int64_t size) {
  const int64_t index = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (index < size) {
    output[index] = sigmoid(input[index]);
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  auto input = x.contiguous();
  auto output = torch::empty_like(input);
  const int64_t size = input.numel();
  const int threads = 1024;
  const int64_t blocks = (size + threads - 1) / threads;

  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "sigmoid_forward", ([&] {
    sigmoid_forward_kernel<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        input.data_ptr<scalar_t>(),
        output.data_ptr<scalar_t>(),
        size);
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Sigmoid forward (CUDA)");
}
