// The gradient of label-smoothed cross-entropy with respect to the logits. Elementwise once the log-sum-exp is known:
// a grid of rows and tiles of classes, no thread waits for another.
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

constexpr int kTile = 512;

template <typename scalar_t>
__global__ void smoothed_cross_entropy_backward_kernel(
    const float* __restrict__ grad_losses,
    const scalar_t* __restrict__ logits,
    const int64_t* __restrict__ targets,
    const float* __restrict__ lse,
    scalar_t* __restrict__ grad_logits,
    const int classes,
    const float smoothing,
    const int64_t ignore_index) {
  const int64_t row = blockIdx.x;
  const int64_t target = targets[row];
  const float grad = target == ignore_index ? 0.0f : grad_losses[row];
  const float log_sum_exp = lse[row];
  const float everywhere = smoothing / classes;

  const int begin = blockIdx.y * kTile;
  const int end = min(begin + kTile, classes);
  for (int c = begin + threadIdx.x; c < end; c += blockDim.x) {
    const int64_t at = row * classes + c;
    float wanted = everywhere;
    if (c == target) {
      wanted += 1.0f - smoothing;
    }
    const float probability = expf(static_cast<float>(logits[at]) - log_sum_exp);
    grad_logits[at] = static_cast<scalar_t>(grad * (probability - wanted));
  }
}

torch::Tensor forward(
    torch::Tensor grad_losses, torch::Tensor logits, torch::Tensor targets, torch::Tensor lse, double smoothing,
    int64_t ignore_index) {
  TORCH_CHECK(logits.is_cuda() && logits.is_contiguous() && logits.dim() == 2, "logits: contiguous CUDA matrix");
  TORCH_CHECK(grad_losses.numel() == logits.size(0) && lse.numel() == logits.size(0), "one loss and lse a row");
  auto grad_logits = torch::empty_like(logits);
  const int rows = logits.size(0);
  const int classes = logits.size(1);
  if (logits.numel() == 0) return grad_logits;
  const dim3 grid(rows, (classes + kTile - 1) / kTile);
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, logits.scalar_type(), "smoothed_cross_entropy_backward", [&] {
        smoothed_cross_entropy_backward_kernel<scalar_t><<<grid, 128, 0, c10::cuda::getCurrentCUDAStream()>>>(
            grad_losses.data_ptr<float>(), logits.data_ptr<scalar_t>(), targets.data_ptr<int64_t>(),
            lse.data_ptr<float>(), grad_logits.data_ptr<scalar_t>(), classes, static_cast<float>(smoothing),
            ignore_index);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
      });
  return grad_logits;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Gradient of label-smoothed cross-entropy");
}
