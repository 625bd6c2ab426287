"""Tuples that device functions return."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KERNEL = """
__device__ SPACE::tuple<float2, int> halves(float x, int n) {
  return SPACE::make_tuple(make_float2(x, x * 2.0f), n + 1);
}
__device__ SPACE::pair<float, int> best(float x, int i, bool flip) {
  if (flip) return SPACE::make_pair(-x, i);
  return SPACE::make_pair(x, i);
}
__global__ void k(float* y, int* z) {
  const auto both = halves(y[threadIdx.x], z[threadIdx.x]);
  const float2 pair = SPACE::get<0>(both);
  const SPACE::pair<float, int> found = best(pair.y, SPACE::get<1>(both), threadIdx.x < 4);
  y[threadIdx.x] = found.first + pair.x;
  z[threadIdx.x] = found.second;
}
void f(float* y, int* z) { k<<<1, 32>>>(y, z); }
"""


@pytest.mark.parametrize("space", ["std", "thrust", "cuda::std"])
def test_tuples_and_pairs_are_their_parts(space):
    made = port(parse(Source(Path("op.cu"), KERNEL.replace("SPACE", space))), ())
    assert not made.findings, made.findings
    text = made.files[0].text
    assert "* 2.0" in text
    assert "+ 1" in text
    assert "tl.where" in text
    assert "tuple" not in text
