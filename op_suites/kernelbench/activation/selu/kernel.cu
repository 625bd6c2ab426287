// SELU. The loop over the grid is the macro that many PyTorch and Caffe kernels are written with.
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

#define CUDA_KERNEL_LOOP(i, n) \
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < (n); \
       i += static_cast<int64_t>(blockDim.x) * gridDim.x)

constexpr int CUDA_NUM_THREADS = 512;

inline int GET_BLOCKS(const int64_t n) {
  constexpr int64_t kMaxBlocks = 1 << 16;
  const int64_t blocks = (n + CUDA_NUM_THREADS - 1) / CUDA_NUM_THREADS;
  return static_cast<int>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

template <typename T>
__global__ void selu_kernel(const int64_t n, const T* bottom_data, T* top_data) {
  const T alpha = T(1.6732632423543772848170429916717);
  const T lambda = T(1.0507009873554804934193349852946);
  CUDA_KERNEL_LOOP(index, n) {
    const T v = bottom_data[index];
    top_data[index] = lambda * (v > T(0) ? v : alpha * expm1(v));
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "selu: CUDA tensors only");
  TORCH_CHECK(x.is_contiguous(), "selu: contiguous tensors only");
  auto output = torch::empty_like(x);
  const int64_t count = x.numel();
  if (count == 0) {
    return output;
  }
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "selu_forward", [&] {
    selu_kernel<scalar_t><<<GET_BLOCKS(count), CUDA_NUM_THREADS, 0, c10::cuda::getCurrentCUDAStream()>>>(
        count, x.data_ptr<scalar_t>(), output.data_ptr<scalar_t>());
  });
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "SELU forward");
}
