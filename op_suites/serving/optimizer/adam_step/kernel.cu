// One step of AdamW, in place. The moments are float32 whatever the type of the parameters is; a thread loads several
// elements before it computes, so that memory is kept busy (ILP).
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <cmath>

#define BLOCK_SIZE 256
#define ILP 4

struct AdamConstants {
  float lr;
  float beta1;
  float beta2;
  float eps;
  float decay;        // 1 - lr * weight_decay
  float correction1;  // 1 - beta1^step
  float correction2;  // sqrt(1 - beta2^step)
};

template <typename T>
__global__ void adam_step_kernel(
    T* __restrict__ param,
    const T* __restrict__ grad,
    float* __restrict__ exp_avg,
    float* __restrict__ exp_avg_sq,
    const int64_t size,
    const AdamConstants k) {
  const int64_t chunk = static_cast<int64_t>(BLOCK_SIZE) * ILP;
  for (int64_t start = blockIdx.x * chunk; start < size; start += gridDim.x * chunk) {
    float p[ILP];
    float g[ILP];
    float m[ILP];
    float v[ILP];
#pragma unroll
    for (int ii = 0; ii < ILP; ii++) {
      const int64_t i = start + threadIdx.x + ii * BLOCK_SIZE;
      if (i < size) {
        p[ii] = static_cast<float>(param[i]);
        g[ii] = static_cast<float>(grad[i]);
        m[ii] = exp_avg[i];
        v[ii] = exp_avg_sq[i];
      } else {
        p[ii] = g[ii] = m[ii] = v[ii] = 0.0f;
      }
    }
#pragma unroll
    for (int ii = 0; ii < ILP; ii++) {
      m[ii] = k.beta1 * m[ii] + (1.0f - k.beta1) * g[ii];
      v[ii] = k.beta2 * v[ii] + (1.0f - k.beta2) * g[ii] * g[ii];
      const float denominator = sqrtf(v[ii]) / k.correction2 + k.eps;
      p[ii] = p[ii] * k.decay - k.lr * (m[ii] / k.correction1) / denominator;
    }
#pragma unroll
    for (int ii = 0; ii < ILP; ii++) {
      const int64_t i = start + threadIdx.x + ii * BLOCK_SIZE;
      if (i < size) {
        param[i] = static_cast<T>(p[ii]);
        exp_avg[i] = m[ii];
        exp_avg_sq[i] = v[ii];
      }
    }
  }
}

void forward(
    torch::Tensor param, torch::Tensor grad, torch::Tensor exp_avg, torch::Tensor exp_avg_sq, double lr, double beta1,
    double beta2, double eps, double weight_decay, int64_t step) {
  TORCH_CHECK(param.is_cuda() && param.is_contiguous() && grad.is_contiguous(), "contiguous CUDA tensors expected");
  TORCH_CHECK(param.scalar_type() == grad.scalar_type(), "param and grad must have the same type");
  TORCH_CHECK(exp_avg.scalar_type() == at::kFloat && exp_avg_sq.scalar_type() == at::kFloat, "moments are float32");
  TORCH_CHECK(step > 0, "the first step is 1");
  const int64_t size = param.numel();
  if (size == 0) return;

  AdamConstants k;
  k.lr = lr;
  k.beta1 = beta1;
  k.beta2 = beta2;
  k.eps = eps;
  k.decay = 1.0 - lr * weight_decay;
  k.correction1 = 1.0 - std::pow(beta1, static_cast<double>(step));
  k.correction2 = std::sqrt(1.0 - std::pow(beta2, static_cast<double>(step)));

  int64_t blocks = (size + BLOCK_SIZE * ILP - 1) / (BLOCK_SIZE * ILP);
  if (blocks > 4096) blocks = 4096;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, param.scalar_type(), "adam_step", [&] {
    adam_step_kernel<scalar_t><<<blocks, BLOCK_SIZE, 0, at::cuda::getCurrentCUDAStream()>>>(
        param.data_ptr<scalar_t>(), grad.data_ptr<scalar_t>(), exp_avg.data_ptr<float>(),
        exp_avg_sq.data_ptr<float>(), size, k);
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "AdamW step, in place");
}
