// Routing of a mixture of experts: the softmax over a token's gating logits, and the k experts with the largest weights,
// largest first; of equal ones the first. A warp takes a token and holds all of its logits in registers.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <tuple>

namespace moe {

constexpr int WARP_SIZE = 32;
constexpr int WARPS_PER_CTA = 4;

template <typename T, int VPT>  // VPT: values per thread
__launch_bounds__(WARPS_PER_CTA* WARP_SIZE) __global__
void topk_softmax_kernel(const T* __restrict__ gating, float* __restrict__ weights, int* __restrict__ indices,
                         const int num_tokens, const int num_experts, const int k, const bool renormalize) {
  const int lane = threadIdx.x;
  const int token = blockIdx.x * WARPS_PER_CTA + threadIdx.y;
  if (token >= num_tokens) {
    return;
  }
  const T* row = gating + static_cast<int64_t>(token) * num_experts;

  float logits[VPT];
  float row_max = -INFINITY;
#pragma unroll
  for (int v = 0; v < VPT; ++v) {
    const int expert = lane + v * WARP_SIZE;
    logits[v] = expert < num_experts ? static_cast<float>(row[expert]) : -INFINITY;
    row_max = fmaxf(row_max, logits[v]);
  }
#pragma unroll
  for (int mask = WARP_SIZE / 2; mask > 0; mask /= 2) {
    row_max = fmaxf(row_max, __shfl_xor_sync(0xFFFFFFFF, row_max, mask, WARP_SIZE));
  }

  float row_sum = 0.f;
#pragma unroll
  for (int v = 0; v < VPT; ++v) {
    row_sum += expf(logits[v] - row_max);
  }
#pragma unroll
  for (int mask = WARP_SIZE / 2; mask > 0; mask /= 2) {
    row_sum += __shfl_xor_sync(0xFFFFFFFF, row_sum, mask, WARP_SIZE);
  }

  // k rounds: each finds the best logit that is left, and its owner takes it out.
  float selected_sum = 0.f;
  for (int round = 0; round < k; ++round) {
    float best = -INFINITY;
    int best_expert = num_experts;
#pragma unroll
    for (int v = 0; v < VPT; ++v) {
      if (logits[v] > best) {
        best = logits[v];
        best_expert = lane + v * WARP_SIZE;
      }
    }
#pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask /= 2) {
      const float other = __shfl_xor_sync(0xFFFFFFFF, best, mask, WARP_SIZE);
      const int other_expert = __shfl_xor_sync(0xFFFFFFFF, best_expert, mask, WARP_SIZE);
      if (other > best || (other == best && other_expert < best_expert)) {
        best = other;
        best_expert = other_expert;
      }
    }
#pragma unroll
    for (int v = 0; v < VPT; ++v) {
      if (lane + v * WARP_SIZE == best_expert) logits[v] = -INFINITY;
    }

    const float weight = expf(best - row_max) / row_sum;
    selected_sum += weight;
    if (lane == 0) {
      weights[token * k + round] = weight;
      indices[token * k + round] = best_expert;
    }
  }

  if (renormalize && lane == 0) {
    for (int round = 0; round < k; ++round) {
      weights[token * k + round] /= selected_sum;
    }
  }
}

template <typename T>
void launch(const torch::Tensor& gating, torch::Tensor& weights, torch::Tensor& indices, int k, bool renormalize) {
  const int num_tokens = gating.size(0);
  const int num_experts = gating.size(1);
  const dim3 block(WARP_SIZE, WARPS_PER_CTA);
  const dim3 grid((num_tokens + WARPS_PER_CTA - 1) / WARPS_PER_CTA);
  const auto stream = at::cuda::getCurrentCUDAStream();
  const T* logits = gating.data_ptr<T>();
  float* w = weights.data_ptr<float>();
  int* i = indices.data_ptr<int>();
  if (num_experts <= 64) {
    topk_softmax_kernel<T, 2><<<grid, block, 0, stream>>>(logits, w, i, num_tokens, num_experts, k, renormalize);
  } else {
    topk_softmax_kernel<T, 8><<<grid, block, 0, stream>>>(logits, w, i, num_tokens, num_experts, k, renormalize);
  }
}

}  // namespace moe

std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor gating, int64_t k, bool renormalize) {
  TORCH_CHECK(gating.is_cuda() && gating.dim() == 2, "gating must be [tokens, experts] on the GPU");
  TORCH_CHECK(gating.size(1) <= 256, "more than 256 experts do not fit into the registers of a warp");
  TORCH_CHECK(k > 0 && k <= gating.size(1), "k must lie between 1 and the number of experts");
  gating = gating.contiguous();
  auto weights = torch::empty({gating.size(0), k}, gating.options().dtype(torch::kFloat32));
  auto indices = torch::empty({gating.size(0), k}, gating.options().dtype(torch::kInt32));
  if (gating.size(0) == 0) {
    return std::make_tuple(weights, indices);
  }
  if (gating.scalar_type() == at::ScalarType::Float) {
    moe::launch<float>(gating, weights, indices, k, renormalize);
  } else if (gating.scalar_type() == at::ScalarType::Half) {
    moe::launch<at::Half>(gating, weights, indices, k, renormalize);
  } else if (gating.scalar_type() == at::ScalarType::BFloat16) {
    moe::launch<at::BFloat16>(gating, weights, indices, k, renormalize);
  } else {
    TORCH_CHECK(false, "unsupported type of gating logits");
  }
  return std::make_tuple(weights, indices);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Top-k of the softmax over experts: weights, indices");
}
