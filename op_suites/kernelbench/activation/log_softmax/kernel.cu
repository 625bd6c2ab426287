// Log-softmax over the rows of a matrix: one block a row, trees in dynamic shared memory.
#include <torch/extension.h>

#include <cfloat>

__global__ void log_softmax_kernel(const float* __restrict__ input, float* __restrict__ output, const int cols) {
  extern __shared__ float tree[];  // one float per thread
  const int tid = threadIdx.x;
  const float* row_in = input + (size_t)blockIdx.x * cols;
  float* row_out = output + (size_t)blockIdx.x * cols;

  // 1. the maximum of the row
  float row_max = -FLT_MAX;
  for (int c = tid; c < cols; c += blockDim.x) {
    row_max = fmaxf(row_max, row_in[c]);
  }
  tree[tid] = row_max;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) tree[tid] = fmaxf(tree[tid], tree[tid + s]);
    __syncthreads();
  }
  row_max = tree[0];
  __syncthreads();  // everyone has read tree[0] before it is written again

  // 2. log(sum(exp(x - max)))
  float sum = 0.f;
  for (int c = tid; c < cols; c += blockDim.x) {
    sum += expf(row_in[c] - row_max);
  }
  tree[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) tree[tid] += tree[tid + s];
    __syncthreads();
  }
  const float log_sum = logf(tree[0]);

  // 3. x - max - log(sum)
  for (int c = tid; c < cols; c += blockDim.x) {
    row_out[c] = row_in[c] - row_max - log_sum;
  }
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  TORCH_CHECK(x.dim() == 2, "x must be 2-D");
  auto in = x.contiguous();
  auto out = torch::empty_like(in);
  const int rows = in.size(0);
  const int cols = in.size(1);

  int threads = 32;  // a power of two, for the trees
  while (threads < cols && threads < 512) threads *= 2;
  log_softmax_kernel<<<rows, threads, threads * sizeof(float)>>>(in.data_ptr<float>(), out.data_ptr<float>(), cols);
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "log_softmax along dim 1 (CUDA)");
}
