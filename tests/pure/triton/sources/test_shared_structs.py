"""Structs of the block that hold arrays, and structs inside of templates of classes."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

BLOCK = """template <typename T, int THREADS> struct Block {
  struct Storage { T parts[THREADS / 32]; int used; };
  static __device__ T first(T v, Storage& s) {
    if (threadIdx.x % 32 == 0) s.parts[threadIdx.x / 32] = v;
    if (threadIdx.x == 0) s.used = THREADS / 32;
    __syncthreads();
    return s.parts[s.used - 1];
  }
};
"""


def lowered(text: str) -> str:
    made = port(parse(Source(Path("op.cu"), text)), ())
    assert not made.findings, made.findings
    return made.files[0].text


@pytest.mark.parametrize(
    "declared",
    ["__shared__ typename Block<float, 128>::Storage s;", "using B = Block<float, 128>; __shared__ B::Storage s;"],
)
def test_a_struct_inside_of_a_template_knows_its_arguments(declared):
    body = f"{declared} y[threadIdx.x] = Block<float, 128>::first(y[threadIdx.x], s);"
    text = lowered(f"{BLOCK}__global__ void k(float* y) {{ {body} }}\nvoid f(float* y) {{ k<<<1, 128>>>(y); }}")
    assert "tl.zeros([8], tl.uint32)" in text  # 4 parts and what is used, as a power of 2
    assert "slot < 4" in text


def test_a_struct_of_the_block_holds_arrays_of_several_extents():
    text = lowered("""struct Tile { float rows[4][32]; struct { int low, high; } ends; };
    __global__ void k(float* y) {
      __shared__ Tile t;
      t.rows[threadIdx.x / 32][threadIdx.x % 32] = y[threadIdx.x];
      if (threadIdx.x == 0) { t.ends.low = 1; t.ends.high = 3; }
      __syncthreads();
      y[threadIdx.x] = t.rows[t.ends.high][threadIdx.x % 32] + t.rows[t.ends.low][31 - threadIdx.x % 32];
    }
    void f(float* y) { k<<<1, 128>>>(y); }""")
    assert "scratch" not in text
    assert "t = tl.zeros([256], tl.uint32)" in text


def test_a_class_that_holds_a_reference_is_refused_and_named():
    made = port(parse(Source(Path("op.cu"), """struct Adder {
      float& sum;
      __device__ Adder(float& s) : sum(s) {}
      __device__ void add(float v) { sum += v; }
    };
    __global__ void k(float* y) { float s = 0; Adder a(s); a.add(y[threadIdx.x]); y[threadIdx.x] = s; }
    void f(float* y) { k<<<1, 32>>>(y); }""")), ())  # fmt: skip
    assert any("the struct 'Adder' holds a reference, 'sum'" in finding.message for finding in made.findings)
