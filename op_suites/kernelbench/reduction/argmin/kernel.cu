// Where the minimum over the middle axis is. Eight rows of threads share a column; their candidates, value and index,
// meet in shared memory. Equal values are told apart by the index, so that the first one wins in any order.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int kCols = 32;
constexpr int kRows = 8;

struct Candidate {
  float value;
  int index;
};

__device__ __forceinline__ Candidate smaller(const Candidate a, const Candidate b) {
  if (b.value < a.value) return b;
  if (b.value == a.value && b.index < a.index) return b;
  return a;
}

__global__ void argmin_kernel(const float* __restrict__ x, long* __restrict__ out, const int rows, const int cols) {
  __shared__ float values[kRows][kCols];
  __shared__ int indices[kRows][kCols];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int col = blockIdx.x * kCols + tx;
  const float* matrix = x + static_cast<size_t>(blockIdx.y) * rows * cols;

  Candidate best = {INFINITY, rows};
  if (col < cols) {
    for (int row = ty; row < rows; row += kRows) {
      best = smaller(best, {matrix[static_cast<size_t>(row) * cols + col], row});
    }
  }
  values[ty][tx] = best.value;
  indices[ty][tx] = best.index;
  __syncthreads();

  if (ty == 0 && col < cols) {
    for (int other = 1; other < kRows; ++other) {
      best = smaller(best, {values[other][tx], indices[other][tx]});
    }
    out[static_cast<size_t>(blockIdx.y) * cols + col] = best.index;
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  TORCH_CHECK(x.dim() == 3 && x.size(1) > 0, "x must be [batch, rows, columns], rows not 0");
  const auto input = x.contiguous();
  const int rows = input.size(1);
  const int cols = input.size(2);
  auto out = torch::empty({input.size(0), input.size(2)}, input.options().dtype(torch::kLong));
  if (out.numel() == 0) return out;
  const dim3 grid((cols + kCols - 1) / kCols, input.size(0));
  argmin_kernel<<<grid, dim3(kCols, kRows), 0, at::cuda::getCurrentCUDAStream()>>>(
      input.data_ptr<float>(), out.data_ptr<long>(), rows, cols);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "argmin(dim=1)");
}
