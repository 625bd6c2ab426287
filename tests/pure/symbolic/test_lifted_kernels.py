"""Kernels executed on symbols and read off: what a library, a vote or a loop that data end comes to."""

import pytest

from porter.ir.tensor.printer import printed
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.lift.answer import _fitted
from porter.lift.fitted import FittedProbe
from porter.symbolic.request import InputTensor
from tests.pure.symbolic.launched_kernels import F32, launched

ROWS = """
  const float* row = x + blockIdx.x * n;
"""

VOTES = {
    "__syncthreads_count": "cast(sum.int32[k < 20](0 < x[i, k]))",
    "__syncthreads_or": "cast(max[k < 20](0 < x[i, k]))",
    "__syncthreads_and": "cast(min[k < 20](0 < x[i, k]))",
}
"""A vote of a block, by the name of its function."""

SUMS_OF_ITEMS = """
struct Carried {
  float total;
  __device__ Carried() : total(0.f) {}
  __device__ float operator()(float block) { const float before = total; total += block; return before; }
};
__global__ void k(const float* x, float* y, int n) {
  constexpr int Threads = 32, Items = 2;
  typedef cub::BlockLoad<float, Threads, Items> Load;
  typedef cub::BlockScan<float, Threads> Scan;
  typedef cub::BlockStore<float, Threads, Items> Store;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } room;
  Carried carried;
  for (int at = 0; at < n; at += Threads * Items) {
    float items[Items];
    Load(room.load).Load(x + blockIdx.x * n + at, items, n - at, 0.f);
    Scan(room.scan).InclusiveSum(items, items, carried);
    __syncthreads();
    Store(room.store).Store(y + blockIdx.x * n + at, items, n - at);
    __syncthreads();
  }
}
"""


def formula(kernel: str, extent: int = 20, rows: int = 3, shape: tuple[int, ...] = (3,)) -> str:
    """Returns the text of the only output of a kernel, one block for each row of `x`."""
    found = launched(kernel, (InputTensor("x", F32, (rows, extent)),), shape, extent, grid=rows)
    fitted = _fitted(found)
    assert isinstance(fitted, FittedProbe), fitted
    (output,) = fitted.outputs
    names = tuple(f"o{axis}" for axis in range(len(shape)))
    body = Output("y", F32, names, ("",) * len(shape), output.body)
    text = printed(TensorProgram("k", (), (), (Input("x", F32, (str(rows), str(extent))),), (body,)))
    return text[text.index("\n  y[") :].partition("] = ")[2].splitlines()[0]


@pytest.mark.parametrize("vote", VOTES)
def test_votes_of_a_block_are_reductions(vote):
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      const int told = {vote}(threadIdx.x < n ? row[threadIdx.x] > 0.f : {int(vote.endswith("and"))});
      if (threadIdx.x == 0) y[blockIdx.x] = told;
    }}"""
    assert formula(kernel) == VOTES[vote]


def test_items_of_a_thread_are_scanned_behind_what_a_callback_carries():
    assert formula(SUMS_OF_ITEMS, extent=70, shape=(3, 70)) == "sum[k <= j](x[i, k])"


def test_a_loop_that_a_vote_may_end_goes_over_all_elements():
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      int found = 0;
      for (int at = 0; at < n && !found; at += blockDim.x)
        found = __syncthreads_or(at + threadIdx.x < n && row[at + threadIdx.x] > 0.f);
      if (threadIdx.x == 0) y[blockIdx.x] = found ? 1.0f : 0.0f;
    }}"""
    assert formula(kernel) == "max[k < 20](0 < x[i, k])"


def test_a_sum_of_elements_for_which_something_holds_is_one_of_selections():
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x) return;
      float sum = 0.f;
      for (int j = 0; j < n; ++j) if (row[j] > 0.f) sum += row[j] * row[j];
      y[blockIdx.x] = sum;
    }}"""
    assert formula(kernel) == "sum[k < 20](select(0 < x[i, k], x[i, k] ** 2, 0))"


CHOSEN = {
    "r <= 0.f ? 0.f : r": "select(x[i, j] < 0, 0, x[i, j])",
    "r >= 0.f ? r : 0.f": "maximum(0, x[i, j])",
    "r >= 1.f ? 1.f : 0.f": "1 < x[i, j] or 1 == x[i, j]",
    "fmaxf(r * r, 0.f)": "maximum(0, x[i, j] ** 2)",
    "rintf(r)": "round(x[i, j])",
}
"""What is made of a number `r`, of NaN as well."""


@pytest.mark.parametrize("chosen", CHOSEN)
def test_comparisons_and_roundings_are_those_of_the_source(chosen):
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      const float r = row[threadIdx.x % n];
      if (threadIdx.x < n) y[blockIdx.x * n + threadIdx.x] = {chosen};
    }}"""
    assert formula(kernel, shape=(3, 20)) == CHOSEN[chosen]


def test_a_mean_of_what_came_so_far_divides_by_how_many_these_are():
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x) return;
      float sum = 0.f;
      for (int j = 0; j < n; ++j) {{ sum += row[j]; y[blockIdx.x * n + j] = sum / (j + 1); }}
    }}"""
    assert formula(kernel, shape=(3, 20)) == "sum[k <= j](x[i, k]) / (j + 1)"


def test_a_mean_of_clipped_windows_divides_by_how_many_are_inside():
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x >= n) return;
      float sum = 0.f;
      int count = 0;
      for (int j = threadIdx.x - 1; j <= (int)threadIdx.x + 1; ++j) if (j >= 0 && j < n) {{ sum += row[j]; ++count; }}
      y[blockIdx.x * n + threadIdx.x] = sum / count;
    }}"""
    window = "k = j - 1 + t, t < 3, 0 <= k < 20"
    assert formula(kernel, shape=(3, 20)) == f"sum[{window}](x[i, k]) / sum[{window}](1)"


def test_absolute_values_of_absolute_values_are_those():
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x) return;
      float most = 0.f;
      for (int j = 0; j < n; ++j) most = fmaxf(fabsf(most), fabsf(row[j]));
      y[blockIdx.x] = most;
    }}"""
    assert formula(kernel) == "max[k < 20](absolute(x[i, k]))"


def test_a_method_may_change_what_another_one_passes_it():
    kernel = f"""struct Fold {{
      template <int D> __device__ void step(float& v) const {{ v += __shfl_down_sync(0xffffffff, v, D); }}
      __device__ float all(float v) const {{ step<16>(v); step<8>(v); step<4>(v); step<2>(v); step<1>(v); return v; }}
    }};
    __global__ void k(const float* x, float* y, int n) {{{ROWS}
      const Fold fold;
      const float sum = fold.all(threadIdx.x < n ? row[threadIdx.x] : 0.f);
      if (threadIdx.x == 0) y[blockIdx.x] = sum;
    }}"""
    assert formula(kernel) == "sum[k < 20](x[i, k])"


def test_a_template_may_be_given_a_template():
    kernel = f"""template <typename T> struct Plus {{ __device__ static T of(T a, T b) {{ return a + b; }} }};
    template <template <typename> class Op, typename T> __device__ T fold(const T* row, int n) {{
      T all = 0;
      for (int j = 0; j < n; ++j) all = Op<T>::of(all, row[j]);
      return all;
    }}
    __global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x == 0) y[blockIdx.x] = fold<Plus>(row, n);
    }}"""
    assert formula(kernel) == "sum[k < 20](x[i, k])"


def test_an_object_may_return_itself():
    kernel = f"""struct Two {{
      float a, b;
      __device__ Two& operator+=(float v) {{ a += v; b += v * v; return *this; }}
    }};
    __global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x) return;
      Two two = {{0.f, 0.f}};
      for (int j = 0; j < n; ++j) two += row[j];
      y[blockIdx.x] = two.b;
    }}"""
    assert formula(kernel) == "sum[k < 20](x[i, k] ** 2)"


MERGED = """
struct Part { float most, sum; };
__device__ Part merged(Part a, Part b) {
  const bool is_first = a.most > b.most;
  const Part large = is_first ? a : b, small = is_first ? b : a;
  return {large.most, large.sum + small.sum * expf(small.most - large.most)};
}
"""


def test_parts_of_a_softmax_may_be_merged_by_which_has_the_larger_maximum():
    kernel = f"""{MERGED}
    __global__ void k(const float* x, float* y, int n) {{{ROWS}
      __shared__ Part parts[32];
      Part part = {{-3.402823466e+38f, 0.f}};
      for (int j = threadIdx.x; j < n; j += 32) part = merged(part, Part{{row[j], 1.f}});
      parts[threadIdx.x] = part;
      __syncthreads();
      for (int half = 16; half > 0; half /= 2) {{
        if (threadIdx.x < half) parts[threadIdx.x] = merged(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
      }}
      if (threadIdx.x == 0) y[blockIdx.x] = parts[0].sum;
    }}"""
    assert formula(kernel, extent=37) == "sum[k < 37](exp(x[i, k] - m[i]))"


def test_pairs_that_are_compared_one_after_the_other_are_an_arg_reduction():
    kernel = f"""struct Pair {{
      float value;
      int at;
      __device__ bool operator<(const Pair& o) const {{ return value < o.value || (value == o.value && at < o.at); }}
    }};
    __global__ void k(const float* x, float* y, int n) {{{ROWS}
      Pair best = {{1e38f, 0x7fffffff}};
      for (int j = threadIdx.x; j < n; j += 32) {{
        const Pair one = {{row[j] * row[j], j}};
        if (one < best) best = one;
      }}
      for (int by = 16; by > 0; by /= 2) {{
        Pair other;
        other.value = __shfl_down_sync(0xffffffff, best.value, by);
        other.at = __shfl_down_sync(0xffffffff, best.at, by);
        if (other < best) best = other;
      }}
      if (threadIdx.x == 0) y[blockIdx.x] = best.at;
    }}"""
    assert formula(kernel) == "cast(argmin[k < 20](x[i, k] ** 2; k))"


def test_what_is_left_out_of_a_maximum_is_an_infinity():
    kernel = f"""__global__ void k(const float* x, float* y, int n) {{{ROWS}
      if (threadIdx.x) return;
      float most = -INFINITY;
      for (int j = 0; j < n; ++j) most = fmaxf(most, row[j] < 2.f ? row[j] : -INFINITY);
      y[blockIdx.x] = most;
    }}"""
    assert formula(kernel) == "max[k < 20](select(x[i, k] < 2, x[i, k], log(0)))"
