"""Launchers translated from C++, executed: what they compute is what the C++ says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.rules.original import OwnCode
from porter.source.parse import parse
from porter.source_text import Source

SOURCE = """
template <typename T> __global__ void scale(T* y, const T* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}
__global__ void pairs(float* y, const float* x, int half) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) y[i] = x[i] + x[i + half];
}
void scaled(float* y, const float* x, float a, int n, int threads) {
  scale<<<(n + threads - 1) / threads, threads>>>(y, x, a, n);
}
void each_row(float* y, const float* x, int rows, int columns) {
  for (int row = 0; row < rows; ++row)
    scale<float><<<1, 64>>>(y + row * columns, x + row * columns, (float)row, columns);
}
void total(float* y, const float* x, int n) {
  float* t;
  cudaMalloc(&t, n * sizeof(float));
  cudaMemcpy(t, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
  for (int half = n / 2; half > 0; half /= 2) {
    float* to = half == 1 ? y : t;
    pairs<<<(half + 31) / 32, 32>>>(to, t, half);
  }
  cudaFree(t);
}
void average(float* y, const float* x, int n) {
  total(y, x, n);
  float sum;
  cudaMemcpy(&sum, y, sizeof(float), cudaMemcpyDeviceToHost);
  float mean = sum / n;
  cudaMemcpy(y, &mean, sizeof(float), cudaMemcpyHostToDevice);
}
torch::Tensor mean_of_doubled(torch::Tensor x) {
  auto y = torch::zeros({x.size(0), x.size(1)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
    scale<scalar_t><<<(x.numel() + 63) / 64, 64>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), 2.f, x.numel());
  });
  return y.sum(1) / x.size(1);
}
template <typename T>
__device__ T row_sum(const torch::TensorAccessor<T, 1, torch::RestrictPtrTraits, int> row, int from) {
  T sum = 0;
  for (int j = from; j < row.size(0); ++j) sum += row[j];
  return sum;
}
template <typename T>
__global__ void sums_of_rows(
    const torch::PackedTensorAccessor32<T, 3, torch::RestrictPtrTraits> x,
    torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> y) {
  for (int i = threadIdx.x; i < x.size(1); i += blockDim.x)
    y[i][blockIdx.x] = row_sum<T>(x[blockIdx.x][i], 1) - x[0][i][0];
}
torch::Tensor row_sums(torch::Tensor x) {
  at::TensorArg x_t{x, "x", 1};
  at::checkAllSameGPU("rows", {x_t});
  auto y = torch::zeros({x.size(1), x.size(0)}, x.options());
  auto turned = x.transpose(1, 2);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rows", ([&] {
    sums_of_rows<scalar_t><<<x.size(0), 32>>>(
        turned.transpose(1, 2).packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
        y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return y;
}
struct Smallest {
  float* values;
  int count;
  __device__ Smallest(float* values, int count) : values(values), count(count) {}
  __device__ void add(float x) {
    for (int i = 0; i < count; ++i) if (x < values[i]) { float held = values[i]; values[i] = x; x = held; }
  }
};
__global__ void three_smallest(float* y, const float* x, int n) {
  float held[3] = {1e9f, 1e9f, 1e9f};
  Smallest smallest(held, 3);
  for (int i = 0; i < n; ++i) smallest.add(x[i * blockDim.x + threadIdx.x]);
  for (int i = 0; i < 3; ++i) y[threadIdx.x * 3 + i] = held[i];
}
void smallest(float* y, const float* x, int n) { three_smallest<<<1, 32>>>(y, x, n); }
"""


def numbers(*shape, dtype=np.float32):
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


@pytest.mark.parametrize("threads", [32, 100])
def test_a_block_size_that_only_the_caller_knows(ported, threads):
    x = numbers(250)
    found = ported("scaled", np.zeros_like(x), x, 3.0, 250, threads).outputs[0].storage
    assert np.array_equal(found, x * 3)


def test_pointers_moved_within_a_loop(ported):
    x = numbers(4, 50) + 1
    found = ported("each_row", np.zeros_like(x), x, 4, 50).outputs[0].storage
    assert np.array_equal(found, x * np.arange(4)[:, None])


def test_launches_that_hand_on_a_buffer_of_their_own(ported):
    x = numbers(64)
    found = ported("total", np.zeros(1, np.float32), x, 64).outputs[0].storage
    assert found.tolist() == [x.sum()]


def test_a_number_that_the_host_writes_back_as_in_the_original(ported):
    x, own = numbers(64), OwnCode.of(parse(Source(Path("op.cu"), SOURCE)))
    done = ported("average", np.zeros(1, np.float32), x, 64, permitted=own.operators)
    assert done.faults == ()
    assert done.outputs[0].storage.tolist() == [x.mean()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_pytorch_does_behind_the_launch(ported, dtype):
    x, own = numbers(3, 5, dtype=dtype), OwnCode.of(parse(Source(Path("op.cu"), SOURCE)))
    (found,) = ported("mean_of_doubled", x, permitted=own.operators).results
    assert found.dtype is DType(np.dtype(dtype).name)
    assert np.allclose(found.storage, x.mean(1) * 2)


def test_accessors_read_a_tensor_through_its_strides(ported):
    x = np.sin(numbers(3, 40, 5))
    (found,) = ported("row_sums", x).results
    assert np.allclose(found.storage, x[:, :, 1:].sum(2).T - x[0, :, :1], atol=1e-6)


def test_a_struct_that_points_to_registers(ported):
    x = np.sin(numbers(7, 32)).astype(np.float32)
    found = ported("smallest", np.zeros((32, 3), np.float32), x, 7).outputs[0].storage
    assert np.array_equal(found, np.sort(x, 0)[:3].T)
