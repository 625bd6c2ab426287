"""Spellings that serving libraries and course material have, executed: what they compute is what the C++ says."""

import numpy as np
import pytest

SOURCE = """
#include <cooperative_groups.h>
using namespace cooperative_groups;

namespace own {
template <typename T> __device__ T half_of(const T& x) { return x / (T)2; }
template <typename T> __device__ T cube_of(const T& x) { return x * x * x; }
template <typename T, T (*F)(const T&)> __global__ void applied(T* y, const T* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = F(x[i]);
}
template <typename T> struct Wide { static constexpr bool exists = false; };
template <> struct Wide<float> { static constexpr bool exists = true; };
template <typename T, int width>
__global__ std::enable_if_t<(width > 1) && Wide<T>::exists> copied(T* y, const T* x, int n) {
  for (int i = threadIdx.x; i < n / width; i += blockDim.x)
    for (int k = 0; k < width; ++k) y[i * width + k] = x[i * width + k] + (T)width;
}
template <typename T, int width>
__global__ std::enable_if_t<(width == 1) || !Wide<T>::exists> copied(T* y, const T* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - (T)1;
}
}  // namespace own

#define APPLY(F) own::applied<float, F<float>><<<1, 64>>>(y, x, n)
void halved(float* y, const float* x, int n) { APPLY(own::half_of); }
void cubed(float* y, const float* x, int n) { APPLY(own::cube_of); }
void wide(float* y, const float* x, int n) { own::copied<float, 4><<<1, 32>>>(y, x, n); }
void narrow(float* y, const float* x, int n) { own::copied<float, 1><<<1, 32>>>(y, x, n); }
void not_wide(double* y, const double* x, int n) { own::copied<double, 4><<<1, 32>>>(y, x, n); }

__global__ void summed_of_some(float* y, const float* x, int some) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float sum = Reduce(storage).Reduce(x[threadIdx.x], cub::Sum{}, some);
  __syncthreads();
  float top = Reduce(storage).Reduce(x[threadIdx.x], cub::Max(), some);
  __syncthreads();
  float again = Reduce(storage).Sum(x[threadIdx.x], some);
  if (threadIdx.x == 0) { y[0] = sum; y[1] = top; y[2] = again; }
}
void sums_of_some(float* y, const float* x, int some) { summed_of_some<<<1, 128>>>(y, x, some); }

struct Mixed { __device__ float operator()(float a, float b) const { return a + 2 * b; } };
__global__ void mixed_by_warps(float* y, const float* x, int some) {
  using Warp = cub::WarpReduce<float>;
  __shared__ typename Warp::TempStorage storage[4];
  int warp = threadIdx.x / 32;
  float all = Warp(storage[warp]).Reduce(x[threadIdx.x], Mixed());
  float few = Warp(storage[warp]).Reduce(x[threadIdx.x], Mixed(), some);
  if (threadIdx.x % 32 == 0) { y[warp] = all; y[4 + warp] = few; }
}
void mixes_by_warps(float* y, const float* x, int some) { mixed_by_warps<<<1, 128>>>(y, x, some); }

__device__ float of_group(thread_group g, float* room, float v) {
  for (int i = g.size() / 2; i > 0; i /= 2) {
    room[g.thread_rank()] = v;
    g.sync();
    if (g.thread_rank() < i) v += room[g.thread_rank() + i];
    g.sync();
  }
  return v;
}
__global__ void grouped(float* y, const float* x) {
  __shared__ float room[64];
  thread_block block = this_thread_block();
  thread_block_tile<8> tile = tiled_partition<8>(block);
  float sum = of_group(block, room, x[block.thread_rank()]);
  float few = x[threadIdx.x];
  for (int i = tile.size() / 2; i > 0; i /= 2) few += tile.shfl_down(few, i);
  if (threadIdx.x == 0) y[0] = sum;
  if (tile.thread_rank() == 0) y[1 + threadIdx.x / 8] = few;
}
void sums_of_groups(float* y, const float* x) { grouped<<<1, 64>>>(y, x); }

__device__ uint3 place_of(const dim3 block, const dim3& extent, const uint3 thread) {
  dim3 found(block.x * extent.x + thread.x, block.y * extent.y + thread.y);
  return found;
}
__global__ void turned(float* y, const float* x, int rows, int columns) {
  const dim3 at = place_of(blockIdx, blockDim, threadIdx);
  if (at.x < columns && at.y < rows) y[at.x * rows + at.y] = x[at.y * columns + at.x];
}
void turns(float* y, const float* x, int rows, int columns) {
  turned<<<dim3((columns + 7) / 8, (rows + 3) / 4), dim3(8, 4)>>>(y, x, rows, columns);
}
__global__ void doubled_by_a_grid(float* y, const float* x, int n) {
  auto grid = cooperative_groups::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) y[i] = 2.f * x[i] + grid.block_rank();
}
void of_a_grid(float* y, const float* x, int n) { doubled_by_a_grid<<<dim3(1, 2), 16>>>(y, x, n); }
__global__ void copied_by_a_group(float* y, const float* x) {
  __shared__ float room[64];
  auto block = this_thread_block();
  cooperative_groups::memcpy_async(block, room, x, sizeof(float) * 48);
  cooperative_groups::wait(block);
  if (threadIdx.x < 48) y[threadIdx.x] = room[47 - threadIdx.x];
}
void copies(float* y, const float* x) { copied_by_a_group<<<1, 64>>>(y, x); }
__device__ int place_for_one_more(int* counter) {
  coalesced_group active = coalesced_threads();
  int first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
  return active.shfl(first, 0) + active.thread_rank();
}
__global__ void kept(float* y, const float* x, int* counter, int* lanes) {
  if (x[threadIdx.x] > 0) {
    y[place_for_one_more(counter)] = x[threadIdx.x];
    lanes[threadIdx.x] = coalesced_threads().shfl(threadIdx.x, 1);
  }
}
void filtered(float* y, const float* x, int* counter, int* lanes) { kept<<<1, 32>>>(y, x, counter, lanes); }

template <typename U, typename V> constexpr __host__ __device__ auto ceiling(U a, V b) -> decltype(a + b) {
  return (a + b - 1) / b;
}
__global__ void clipped(float* y, const float* x, int n) {
  auto within = [&](int i) {
    if (i >= n) return false;
    decltype(x[i] * 2) twice = 2 * x[i];
    return twice < 1.f;
  };
  auto set = [&](int i, float v) {
    if (i >= n) return;
    y[i] = v;
  };
  for (int k = 0; k < ceiling(n, 32); ++k) {
    int i = k * 32 + threadIdx.x;
    set(i, within(i) ? x[i] : 0.5f);
  }
}
void clip(float* y, const float* x, int n) { clipped<<<1, 32>>>(y, x, n); }

struct Converts {
  using one = __half;
  using two = __half2;
  __device__ static inline float wide(one x) { return __half2float(x); }
  __device__ static inline float2 wide(two x) { return __half22float2(x); }
};
template <int width> struct alignas(16) Row {
  using Types = Converts;
  typename Types::one data[width];
  __device__ Row& operator+=(const Row<width>& other) {
    for (int i = 0; i < width; i += 2) {
      typename Types::two both{data[i], data[i + 1]};
      both += typename Types::two{other.data[i], other.data[i + 1]};
      data[i] = both.x;
      data[i + 1] = both.y;
    }
    return *this;
  }
  __device__ float sum() const {
    float2 pair = Types::wide(typename Types::two{data[0], data[1]});
    float sum = pair.x + pair.y;
    for (int i = 2; i < width; ++i) sum += Types::wide(data[i]);
    return sum;
  }
};
__global__ void rows_added(__half* y, const __half* x, __half* sums) {
  auto* ys = reinterpret_cast<Row<8>*>(y);
  auto* xs = reinterpret_cast<const Row<8>*>(x);
  Row<8> row = ys[threadIdx.x];
  row += xs[threadIdx.x];
  sums[threadIdx.x] = __float2half(row.sum());
  ys[threadIdx.x] = row;
}
void add_rows(__half* y, const __half* x, __half* sums) { rows_added<<<1, 16>>>(y, x, sums); }

__global__ void saturated(int* y, const int* x) {
  int narrow;
  asm volatile("cvt.sat.s8.s32 %0, %1;" : "=r"(narrow) : "r"(x[threadIdx.x]));
  y[threadIdx.x] = narrow;
  asm volatile("cvt.s8.s32 %0, %1;" : "=r"(narrow) : "r"(x[threadIdx.x]));
  y[32 + threadIdx.x] = narrow;
}
void saturate(int* y, const int* x) { saturated<<<1, 32>>>(y, x); }

__global__ void strided(float* y, const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = -x[i];
}
void proposed(float* y, const float* x, int n) {
  int grid, block;
  cudaEvent_t start;
  cudaEventQuery(start);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, strided, 0, 0);
  strided<<<grid, block>>>(y, x, n);
}
static int processors = 0;
void on_all_processors(float* y, const float* x, int n) {
  if (processors == 0) {
    cudaDeviceProp asked;
    cudaGetDeviceProperties(&asked, 0);
    processors = asked.multiProcessorCount;
  }
  strided<<<2 * processors, 32>>>(y, x, n);
}
__global__ void mirrored(int4* y, const int4* x, int rows) {
  const __half* from = reinterpret_cast<const __half*>(x + blockIdx.x);
  __half* to = reinterpret_cast<__half*>(y + rows - 1 - blockIdx.x);
  to[threadIdx.x] = from[7 - threadIdx.x];
}
torch::Tensor mirror(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int rows = x.numel() / 8;
  mirrored<<<rows, 8>>>(reinterpret_cast<int4*>(y.data_ptr()), reinterpret_cast<const int4*>(x.data_ptr()), rows);
  return y;
}
__global__ void first_peak(int* y, const float* x, int n) {
  __shared__ float kept[64];
  kept[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int best = -1;
  for (int i = 0; i < n; ++i)
    if (kept[i] > 0.0f && (best < 0 || kept[i] > kept[best])) best = i;
  y[0] = best < 0 || kept[best] < 1.0f ? -1 : best;
}
void peak(int* y, const float* x, int n) { first_peak<<<1, 64>>>(y, x, n); }
torch::Tensor limited(torch::Tensor x) {
  std::ostringstream said;
  said << "no";
  if (x.size(0) > 1000) TORCH_CHECK(false, said.str());
  auto y = torch::zeros({x.size(0)}, torch::CUDA(at::kFloat)).cuda();
  strided<<<1, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.size(0));
  return y;
}
"""
X = np.random.default_rng(3).standard_normal(128).astype(np.float32)


@pytest.fixture
def run(ported):
    """Calls functions of the port of `SOURCE`: what they leave in their `outputs`, and what they return."""

    def called(function, *arguments, outputs=(0,)):
        done = ported(function, *arguments)
        return (*(done.outputs[i].storage for i in outputs), *(t.storage for t in done.results))

    return called


@pytest.mark.parametrize(("name", "expected"), [("halved", X / 2), ("cubed", X * X * X)])
def test_functions_of_a_namespace_as_template_arguments(run, name, expected):
    assert np.allclose(run(name, np.zeros_like(X), X, 128)[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "dtype", "expected"), [("wide", np.float32, 4), ("narrow", np.float32, -1), ("not_wide", np.float64, -1)]
)
def test_of_two_kernels_the_one_that_enable_if_leaves(run, name, dtype, expected):
    x = X.astype(dtype)
    assert np.array_equal(run(name, np.zeros_like(x), x, 128)[0], x + dtype(expected))


@pytest.mark.parametrize("some", [1, 37, 128])
def test_reductions_of_the_first_threads_of_a_block(run, some):
    found = run("sums_of_some", np.zeros(3, np.float32), X, some)[0]
    assert np.allclose(found, [X[:some].sum(), X[:some].max(), X[:some].sum()], atol=1e-5)


def mixed(lanes):
    """Neighbours first, each right one twice."""
    while len(lanes) > 1:
        pairs = [lanes[i : i + 2] for i in range(0, len(lanes), 2)]
        lanes = [pair[0] + 2 * pair[1] if len(pair) == 2 else pair[0] for pair in pairs]
    return lanes[0]


@pytest.mark.parametrize("some", [1, 13, 32])
def test_reductions_of_warps_by_an_operation_that_tells_left_from_right(run, some):
    found = run("mixes_by_warps", np.zeros(8, np.float32), X[:128], some)[0]
    warps = X[:128].astype(np.float64).reshape(4, 32)
    wanted = [*(mixed(list(warp)) for warp in warps), *(mixed(list(warp[:some])) for warp in warps)]
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-4)


def test_groups_by_their_bare_names(run):
    found = run("sums_of_groups", np.zeros(9, np.float32), X[:64])[0]
    assert np.allclose(found, [X[:64].sum(), *X[:64].reshape(8, 8).sum(1)], atol=1e-5)


def test_coordinates_as_values(run):
    found = run("turns", np.zeros(126, np.float32), X[:126], 9, 14)[0]
    assert np.array_equal(found.reshape(14, 9), X[:126].reshape(9, 14).T)


def test_ranks_within_a_grid(run):
    expected = 2 * X + np.arange(128) // 16 % 2
    assert np.allclose(run("of_a_grid", np.zeros_like(X), X, 128)[0], expected, rtol=1e-6)


def test_a_copy_by_all_threads_of_a_group(run):
    assert np.array_equal(run("copies", np.zeros(48, np.float32), X[:64])[0], X[47::-1])


def test_lanes_that_run_together_are_counted_by_their_group(run):
    x = X[:32]
    filtered, count, lanes = run(
        "filtered", np.zeros_like(x), x, np.zeros(1, np.int32), np.zeros(32, np.int32), outputs=(0, 2, 3)
    )
    assert count.tolist() == [(x > 0).sum()]
    assert np.array_equal(filtered[: count[0]], x[x > 0])
    assert np.array_equal(lanes, np.where(x > 0, np.flatnonzero(x > 0)[1], 0))


def test_structs_of_halves_by_reference_and_overloads_told_by_their_own_types(run):
    whole = np.random.default_rng(5).integers(-8, 8, (2, 128)).astype(np.float16)
    y, sums = run("add_rows", whole[0], whole[1], np.zeros(16, np.float16), outputs=(0, 2))
    assert np.array_equal(y, whole[0] + whole[1])
    assert np.array_equal(sums, (whole[0] + whole[1]).reshape(16, 8).sum(1))


def test_a_tensor_that_is_moved_as_vectors_is_seen_as_these(run):
    x = X.astype(np.float16).reshape(2, 64)
    assert np.array_equal(run("mirror", x)[-1], x.reshape(-1)[::-1].reshape(2, 64))


def test_conversions_to_bytes_saturate_only_where_they_say_so(run):
    x = np.array([-1000, -129, -128, -1, 0, 127, 128, 255, 256, 1000] + [5] * 22, np.int32)
    found = run("saturate", np.zeros(64, np.int32), x)[0]
    assert np.array_equal(found[:32], np.clip(x, -128, 127))
    assert np.array_equal(found[32:], x.astype(np.int8))


@pytest.mark.parametrize("count", [31, 100])
def test_types_that_an_expression_or_a_return_tells(run, count):
    expected = np.where(np.arange(128) < count, np.minimum(X, 0.5), 0)
    assert np.array_equal(run("clip", np.zeros_like(X), X, count)[0], expected.astype(np.float32))


@pytest.mark.parametrize("name", ["proposed", "on_all_processors"])
def test_launches_as_wide_as_the_device(run, name):
    assert np.array_equal(run(name, np.zeros_like(X), X, 128)[0], -X)


def test_options_of_a_device_and_a_message_put_together_elsewhere(run):
    assert np.array_equal(run("limited", X)[-1], -X)


@pytest.mark.parametrize(("x", "found"), [(X[:40], X[:40].argmax()), (-abs(X[:40]), -1)])
def test_a_shared_element_that_is_asked_for_only_where_there_is_one(run, x, found):
    assert run("peak", np.zeros(1, np.int32), x, 40)[0].tolist() == [found]
