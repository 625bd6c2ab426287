"""A port that is written from a formula is judged as anybody's candidate: at sizes that its source names, too."""

import pytest

from porter.backend import Follow
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified
from porter.simt.compiler import missing_compiler

SOURCE = """
__global__ void scaled(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (c < cols) y[r * cols + c] = x[r * cols + c] * (2 + cols / 6000);
}
void run(const float* x, float* y, int rows, int cols) {
  scaled<<<dim3((cols + 1023) / 1024, rows), 1024>>>(x, y, rows, cols);
}
"""


def test_a_formula_that_holds_at_small_sizes_alone_gives_no_port(tmp_path, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(SOURCE)
    options = MigrateOptions("triton", build_cache, follow=Follow.FORMULA)
    (migration,) = migrate(tmp_path / "op.cu", options, lambda _: None)
    assert migration.followed is not None
    assert migration.followed.what is Follow.KERNELS
    assert "the port from its formula is wrong: " in migration.followed.because
    assert isinstance(migration.outcome, Verified), migration.outcome


BOUNDED = """
__global__ void bound(const float* x, float* a, float* b, float* c, float* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  a[i] = fmaxf(v, 0.f);
  b[i] = v < 0.f ? 0.f : v;
  c[i] = v > 0.f ? v : 0.f;
  d[i] = v > 1.f ? 1.f : v;
}
void run(const float* x, float* a, float* b, float* c, float* d, int n) {
  bound<<<(n + 1023) / 1024, 1024>>>(x, a, b, c, d, n);
}
"""


def test_what_a_number_bounds_keeps_nan_where_its_source_does(tmp_path, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(BOUNDED)
    options = MigrateOptions("triton", build_cache, follow=Follow.FORMULA)
    (migration,) = migrate(tmp_path / "op.cu", options, lambda _: None)
    assert migration.followed is not None
    assert migration.followed.what is Follow.FORMULA, migration.followed.because
    assert isinstance(migration.outcome, Verified), migration.outcome
    assert "does not count as wrong" not in migration.outcome.caveat


QUANTISED = """
__global__ void quantise(const float* x, signed char* q, float* scales, int cols) {
  __shared__ float largest[128];
  const float* row = x + (size_t)blockIdx.x * cols;
  float m = 0.f;
  for (int i = threadIdx.x; i < cols; i += 128) m = fmaxf(m, fabsf(row[i]));
  largest[threadIdx.x] = m;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s) largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + s]);
    __syncthreads();
  }
  const float scale = fmaxf(largest[0], 1e-6f) / 127.f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int i = threadIdx.x; i < cols; i += 128)
    q[(size_t)blockIdx.x * cols + i] = (signed char)max(-127, min(127, __float2int_rn(row[i] / scale)));
}
void run(const float* x, signed char* q, float* scales, int rows, int cols) {
  quantise<<<rows, 128>>>(x, q, scales, cols);
}
"""


@pytest.mark.parametrize("target", ["triton", "maca"])
def test_whole_numbers_that_quotients_are_rounded_to_are_those_of_the_source(tmp_path, build_cache, target):
    """In another order one in some thousand is another one; where all are infinite the quotient is NaN, and 0."""
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(QUANTISED)
    sizes = {"rows": 13, "cols": 1031}  # some thousand numbers
    options = MigrateOptions(target, build_cache, sizes=sizes, follow=Follow.FORMULA)
    (migration,) = migrate(tmp_path / "op.cu", options, lambda _: None)
    assert migration.followed is not None
    assert migration.followed.what is Follow.FORMULA, migration.followed.because
    assert isinstance(migration.outcome, Verified), migration.outcome
