// Mean over the middle axis. A block is 32 columns wide and 8 rows high: each of its rows of threads adds up every
// eighth row of the matrix, and the eight partial sums meet in shared memory.
#include <torch/extension.h>

#define BLOCK_COLS 32
#define BLOCK_ROWS 8

__global__ void mean_dim1_kernel(const float *x, float *out, int rows, int cols) {
  __shared__ float partial[BLOCK_ROWS][BLOCK_COLS];
  const int col = blockIdx.x * BLOCK_COLS + threadIdx.x;
  const float *matrix = x + (size_t)blockIdx.y * rows * cols;

  float sum = 0.0f;
  if (col < cols) {
    for (int row = threadIdx.y; row < rows; row += BLOCK_ROWS) {
      sum += matrix[(size_t)row * cols + col];
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();

#pragma unroll
  for (int half = BLOCK_ROWS / 2; half > 0; half /= 2) {
    if (threadIdx.y < half) {
      partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + half][threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && col < cols) {
    out[(size_t)blockIdx.y * cols + col] = partial[0][threadIdx.x] / rows;
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous(), "x must be a contiguous CUDA tensor");
  TORCH_CHECK(x.dim() == 3, "x must have three dimensions");
  const int cols = x.size(2);
  torch::Tensor out = torch::empty({x.size(0), x.size(2)}, x.options());
  if (out.numel() == 0) return out;
  const dim3 block(BLOCK_COLS, BLOCK_ROWS);
  const dim3 grid((cols + BLOCK_COLS - 1) / BLOCK_COLS, x.size(0));
  mean_dim1_kernel<<<grid, block>>>(x.data_ptr<float>(), out.data_ptr<float>(), x.size(1), cols);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "mean(dim=1)");
}
