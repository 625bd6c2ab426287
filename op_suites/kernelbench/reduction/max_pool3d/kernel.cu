// Max pooling over volumes: one thread an output element, its place taken apart from a flat index.
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#define CUDA_1D_KERNEL_LOOP(i, n) \
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64_t)blockDim.x * gridDim.x)

template <typename scalar_t>
__global__ void max_pool3d_forward_kernel(
    const int64_t n_outputs, const scalar_t* input,
    const int in_d, const int in_h, const int in_w,
    const int out_d, const int out_h, const int out_w,
    const int kernel, const int stride, const int pad, const int dilation,
    const scalar_t lowest, scalar_t* output) {
  CUDA_1D_KERNEL_LOOP(index, n_outputs) {
    const int ow = index % out_w;
    const int oh = (index / out_w) % out_h;
    const int od = (index / out_w / out_h) % out_d;
    const int64_t volume = index / out_w / out_h / out_d;
    const scalar_t* in = input + volume * in_d * in_h * in_w;

    const int d_begin = od * stride - pad;
    const int h_begin = oh * stride - pad;
    const int w_begin = ow * stride - pad;
    scalar_t result = lowest;
    for (int kd = 0; kd < kernel; ++kd) {
      const int d = d_begin + kd * dilation;
      if (d < 0 || d >= in_d) continue;
      for (int kh = 0; kh < kernel; ++kh) {
        const int h = h_begin + kh * dilation;
        if (h < 0 || h >= in_h) continue;
        for (int kw = 0; kw < kernel; ++kw) {
          const int w = w_begin + kw * dilation;
          if (w < 0 || w >= in_w) continue;
          const scalar_t value = in[(d * in_h + h) * in_w + w];
          if (value > result) result = value;
        }
      }
    }
    output[index] = result;
  }
}

torch::Tensor forward(torch::Tensor x, int64_t kernel_size, int64_t stride, int64_t padding, int64_t dilation) {
  TORCH_CHECK(x.is_cuda(), "max_pool3d: CUDA tensors only");
  TORCH_CHECK(x.dim() == 5, "max_pool3d: x must be [N, C, D, H, W]");
  const auto input = x.contiguous();
  const auto extent = [&](int64_t in) { return (in + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1; };
  const int64_t out_d = extent(x.size(2)), out_h = extent(x.size(3)), out_w = extent(x.size(4));
  TORCH_CHECK(out_d > 0 && out_h > 0 && out_w > 0, "max_pool3d: the window is larger than the input");
  auto output = torch::empty({x.size(0), x.size(1), out_d, out_h, out_w}, x.options());
  const int64_t n_outputs = output.numel();
  if (n_outputs == 0) return output;

  const int threads = 256;
  const int64_t blocks = std::min<int64_t>((n_outputs + threads - 1) / threads, 1 << 20);
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "max_pool3d_forward", ([&] {
    max_pool3d_forward_kernel<scalar_t><<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        n_outputs, input.data_ptr<scalar_t>(), x.size(2), x.size(3), x.size(4), out_d, out_h, out_w,
        kernel_size, stride, padding, dilation, -INFINITY, output.data_ptr<scalar_t>());
  }));
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "MaxPool3d");
}
