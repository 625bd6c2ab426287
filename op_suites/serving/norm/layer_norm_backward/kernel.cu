// Backward pass of layer normalisation: dx row by row, dweight and dbias column by column. The latter walk down the rows
// in several blocks, which add their parts up in float32 before they are rounded to the type of the weights.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

#include <algorithm>
#include <vector>

constexpr int kBlock = 256;
constexpr int kTile = 32;
constexpr int kTileRows = 8;

__device__ float2 block_sum(float2 value) {
  __shared__ float2 shared[kBlock];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      shared[threadIdx.x].x += shared[threadIdx.x + s].x;
      shared[threadIdx.x].y += shared[threadIdx.x + s].y;
    }
    __syncthreads();
  }
  return shared[0];
}

// dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat)), where g = dy * weight
template <typename scalar_t>
__global__ void input_gradient_kernel(
    const scalar_t* __restrict__ dy, const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight,
    const float* __restrict__ means, const float* __restrict__ rstds, scalar_t* __restrict__ dx, const int columns) {
  const int64_t offset = static_cast<int64_t>(blockIdx.x) * columns;
  const float mean = means[blockIdx.x];
  const float rstd = rstds[blockIdx.x];

  float2 sums = make_float2(0.0f, 0.0f);
  for (int c = threadIdx.x; c < columns; c += kBlock) {
    const float g = static_cast<float>(dy[offset + c]) * static_cast<float>(weight[c]);
    const float x_hat = (static_cast<float>(x[offset + c]) - mean) * rstd;
    sums.x += g;
    sums.y += g * x_hat;
  }
  sums = block_sum(sums);
  const float mean_g = sums.x / columns;
  const float mean_gx = sums.y / columns;

  for (int c = threadIdx.x; c < columns; c += kBlock) {
    const float g = static_cast<float>(dy[offset + c]) * static_cast<float>(weight[c]);
    const float x_hat = (static_cast<float>(x[offset + c]) - mean) * rstd;
    dx[offset + c] = static_cast<scalar_t>(rstd * (g - mean_g - x_hat * mean_gx));
  }
}

template <typename scalar_t>
__global__ void weight_gradient_kernel(
    const scalar_t* __restrict__ dy, const scalar_t* __restrict__ x, const float* __restrict__ means,
    const float* __restrict__ rstds, float* __restrict__ dweight, float* __restrict__ dbias, const int rows,
    const int columns) {
  __shared__ float weights[kTileRows][kTile];
  __shared__ float biases[kTileRows][kTile];
  const int c = blockIdx.x * kTile + threadIdx.x;
  float dw = 0.0f;
  float db = 0.0f;
  if (c < columns) {
    for (int r = blockIdx.y * kTileRows + threadIdx.y; r < rows; r += gridDim.y * kTileRows) {
      const int64_t at = static_cast<int64_t>(r) * columns + c;
      const float g = static_cast<float>(dy[at]);
      dw += g * (static_cast<float>(x[at]) - means[r]) * rstds[r];
      db += g;
    }
  }
  weights[threadIdx.y][threadIdx.x] = dw;
  biases[threadIdx.y][threadIdx.x] = db;
  __syncthreads();
  if (threadIdx.y == 0 && c < columns) {
    for (int k = 1; k < kTileRows; ++k) {
      dw += weights[k][threadIdx.x];
      db += biases[k][threadIdx.x];
    }
    atomicAdd(&dweight[c], dw);
    atomicAdd(&dbias[c], db);
  }
}

std::vector<torch::Tensor> forward(
    torch::Tensor dy, torch::Tensor x, torch::Tensor weight, torch::Tensor means, torch::Tensor rstds) {
  TORCH_CHECK(dy.is_cuda() && dy.is_contiguous() && x.is_contiguous(), "contiguous CUDA tensors expected");
  TORCH_CHECK(x.dim() == 2 && dy.sizes() == x.sizes(), "x and dy must be matrices of the same shape");
  TORCH_CHECK(means.scalar_type() == at::kFloat && rstds.scalar_type() == at::kFloat, "statistics must be float32");
  const int rows = x.size(0);
  const int columns = x.size(1);
  auto dx = torch::empty_like(x);
  auto dweight = torch::zeros({columns}, means.options());
  auto dbias = torch::zeros({columns}, means.options());

  const dim3 tile(kTile, kTileRows);
  const dim3 tiles((columns + kTile - 1) / kTile, std::min(64, (rows + 31) / 32));
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "layer_norm_backward", ([&] {
    input_gradient_kernel<scalar_t><<<rows, kBlock, 0, stream>>>(
        dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(), means.data_ptr<float>(),
        rstds.data_ptr<float>(), dx.data_ptr<scalar_t>(), columns);
    weight_gradient_kernel<scalar_t><<<tiles, tile, 0, stream>>>(
        dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), means.data_ptr<float>(), rstds.data_ptr<float>(),
        dweight.data_ptr<float>(), dbias.data_ptr<float>(), rows, columns);
  }));
  return {dx, dweight.to(weight.scalar_type()), dbias.to(weight.scalar_type())};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "LayerNorm backward: dx, dweight, dbias");
}
