"""The text of kernels that are printed from the SIMT IR."""

from pathlib import Path

from porter.ir.simt.types import Scalar
from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter_triton.kernel_records import Dimension, LaunchInfo, ParameterKind
from porter_triton.thread_level.expressions import literal
from porter_triton.thread_level.kernel import prepared_kernel, print_kernel

INFO = LaunchInfo((Dimension(128, "BLOCK_SIZE"), Dimension(1), Dimension(1)))
CUDA = """
__global__ void clipped_sums(const float* x, const int* lengths, float* sums, float limit, int columns) {
  __shared__ float parts[128];
  const int row = blockIdx.x, length = lengths[row];
  float sum = 0;
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    const float value = x[row * columns + i];
    if (value > limit) continue;
    sum += value;
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int t = 0; t < 128; ++t) total = total * 0.5f + parts[t];
    sums[row] = total;
  }
}

__global__ void narrow(const float* x, unsigned char* y, short* z) {
  y[threadIdx.x] = (unsigned char)x[threadIdx.x];
  z[threadIdx.x] = (short)x[threadIdx.x];
}

__global__ void first_above(const float* x, int* found, float limit, int columns, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int i = 0;
  while (i < columns && x[row * columns + i] <= limit) ++i;
  found[row] = i;
}
"""
TRITON = """\
@triton.jit
def clipped_sums(x, lengths, sums, limit: tl.float32, columns: tl.int32, BLOCK_SIZE: tl.constexpr):
    tid = tl.arange(0, BLOCK_SIZE)
    parts = tl.zeros([BLOCK_SIZE], tl.float32)
    row = tl.program_id(0)
    length = tl.load(lengths + row)
    sum_rows = tl.zeros([4, BLOCK_SIZE], tl.float32)
    ahead = tl.arange(0, 4)[:, None] * BLOCK_SIZE
    # line 6: 4 iterations at a time
    for tile in range(0, length, 4 * BLOCK_SIZE):
        start = tile + ahead
        i = start + tid
        mask = i < length
        value = tl.load(x + (row * columns + i), mask=mask)
        condition = value > limit
        value_2 = tl.where(mask, tl.where(condition, 0.0, value), 0.0)
        sum_rows = sum_rows + value_2
    sum_ = by_thread(tl.sum(sum_rows, axis=0))
    parts = sum_
    # line 15
    total = tl.cast(0.0, tl.float32)
    for t in range(128):
        value_3 = tl.sum(tl.gather(parts, tl.full([1], t, tl.int32), 0), axis=0)
        total = total * 0.5 + value_3
    tl.store(sums + row, total)

@triton.jit
def narrow(x, y, z, BLOCK_SIZE: tl.constexpr):
    tid = tl.arange(0, BLOCK_SIZE)
    value = tl.load(x + tid)
    tl.store(y + tid, value.to(tl.uint32).to(tl.uint8))
    value_2 = tl.load(x + tid)
    tl.store(z + tid, value_2.to(tl.int32).to(tl.int16))

@triton.jit
def first_above(
    x,
    found,
    limit: tl.float32,
    columns: tl.int32,
    rows: tl.int32,
    BLOCK_SIZE: tl.constexpr,
):
    tid = tl.arange(0, BLOCK_SIZE)
    row = tl.program_id(0) * BLOCK_SIZE + tid
    mask = row < rows
    # line 29
    i = tl.zeros([BLOCK_SIZE], tl.int32)
    condition = i < columns
    mask_2 = mask & condition
    value = tl.load(x + (row * columns + i), mask=mask_2)
    # line 29
    going = mask & (mask_2 & (value <= limit))
    while tl.max(going.to(tl.int32), axis=0) != 0:
        i = tl.where(going, i + 1, i)
        condition_2 = i < columns
        mask_3 = going & condition_2
        value_2 = tl.load(x + (row * columns + i), mask=mask_3)
        going = going & (mask_3 & (value_2 <= limit))
    tl.store(found + row, i, mask=mask)
"""


def test_a_scalar_is_what_the_block_shares_and_a_mask_tells_who_runs():
    unit = read_unit(parse(Source(Path("op.cu"), CUDA)))
    texts = [print_kernel(prepared_kernel(unit, kernel, INFO)).text for kernel in unit.kernels]
    assert "\n".join(texts) == TRITON


SHARED = """
__global__ void turned(const float* x, float* y) {
  __shared__ float tile[8][17];
  const int row = threadIdx.x / 16, column = threadIdx.x % 16;
  tile[row][column] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x % 8][threadIdx.x / 8];
}

__global__ void counted(const int* x, int* y) {
  __shared__ int bins[128];
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(bins + x[threadIdx.x], 1);
  __syncthreads();
  y[threadIdx.x] = bins[threadIdx.x];
}

__global__ void ranked(const int* x, int* y) {
  __shared__ int next[128];
  next[threadIdx.x] = 0;
  __syncthreads();
  y[threadIdx.x] = atomicAdd(next + x[threadIdx.x], 1);
}
"""


def test_an_array_of_the_block_lies_in_registers_unless_a_thread_asks_what_others_have_done_before_it():
    unit = read_unit(parse(Source(Path("op.cu"), SHARED)))
    kernels = [print_kernel(prepared_kernel(unit, kernel, INFO)) for kernel in unit.kernels]
    scratch = [[p.name for p in kernel.parameters if p.kind is ParameterKind.SCRATCH] for kernel in kernels]
    assert scratch == [[], [], ["next_scratch"]]
    assert "tl.debug_barrier" not in kernels[0].text


GUARDED = """
__global__ void guarded(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i < n ? x[i] : -1.0f;
}
"""


def test_what_threads_have_that_do_not_load_is_loaded_instead():
    unit = read_unit(parse(Source(Path("op.cu"), GUARDED)))
    text = print_kernel(prepared_kernel(unit, unit.kernels[0], INFO)).text
    assert ", other=-1.0)" in text
    assert "tl.where" not in text


ACCESSORS = """
__global__ void scaled(const torch::PackedTensorAccessor32<float, 3, torch::RestrictPtrTraits> x,
                       torch::PackedTensorAccessor32<float, 1> y) {
  if (threadIdx.x < x.size(1)) y[threadIdx.x] = x[blockIdx.x][threadIdx.x][1];
}
"""


def test_of_a_tensor_accessor_the_kernel_is_passed_what_it_reads():
    unit = read_unit(parse(Source(Path("op.cu"), ACCESSORS)))
    kernel = print_kernel(prepared_kernel(unit, unit.kernels[0], INFO))
    sources = [parameter.source for parameter in kernel.parameters if "." in parameter.source]
    axes = [f"x.stride_[{axis}]" for axis in range(3)]
    assert sources == ["x.data_", "x.size_[1]", *axes, "y.data_", "y.stride_[0]"]


def test_a_literal_is_short_and_never_beyond_the_largest_float():
    told = [literal(value, Scalar.F32).text for value in (0.1, -3.4028234663852886e38, 0.7071067811865476)]
    assert told == ["0.1", "-3.4028234663852886e38", "0.70710678"]
    assert literal(0.7071067811865476, Scalar.F64).text == "0.7071067811865476"


def test_the_larger_of_a_number_and_a_literal_is_of_the_number_s_type():
    text = """#include <cuda_fp16.h>
    __global__ void k(__half* x, double* y) {
      x[threadIdx.x] = __hmax(x[threadIdx.x], __float2half(0.5f));
      y[threadIdx.x] = fmax(y[threadIdx.x], 0.1);
    }"""
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    (made,) = [print_kernel(prepared_kernel(unit, kernel, INFO)).text for kernel in unit.kernels]
    assert ", tl.cast(0.5, tl.float16))" in made  # beside one of 32 bits the half would be one
    assert ", tl.full([], 0.1, tl.float64))" in made


def test_rows_behind_the_limit_are_left_out_where_the_place_may_lie_in_front_of_the_counter():
    text = """__global__ void k(const float* x, const int* first, float* y, int n) {
      const int from = first[threadIdx.x];
      float s = 0;
      for (int c = 0; c < n; ++c) { const int i = c + FROM; if (i < n) s += x[threadIdx.x * n + c]; }
      y[threadIdx.x] = s;
    }"""
    found = []
    for place in ("from", "(int)threadIdx.x"):
        unit = read_unit(parse(Source(Path("op.cu"), text.replace("FROM", place))))
        found.append(print_kernel(prepared_kernel(unit, unit.kernels[0], INFO)).text)
    assert "iterations at a time" not in found[0]  # a window of which iterations leave out some threads
    assert "iterations at a time" in found[1]
