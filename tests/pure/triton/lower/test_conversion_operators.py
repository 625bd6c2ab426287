"""Structs that say what number or pointer they are, and methods that only read their object."""

import re
from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.refusal import Refusal

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))
SHARED = """
template <typename T> struct Shared {
  __device__ operator T*() { extern __shared__ int __room[]; return (T*)__room; }
  __device__ operator const T*() const { extern __shared__ int __room[]; return (T*)__room; }
};
struct Half { float whole; __device__ operator float() const { return whole / 2; } };
struct Plain { float whole; };
"""
LAYOUTS = """
struct Rows { int count; };
struct Layout { Rows rows; int stride; AT };
struct Given { const float* x; float* y; Layout layout; };
"""


def lowered(declared, body, parameters="float* y, const float* x, int n"):
    text = f"{declared}__global__ void k({parameters}) {{ {body} }}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    kernel = next(k for k in unit.kernels if k.head.name == "k")
    return lower_kernel(unit, kernel, LaunchInfo(BLOCK)).text


@pytest.mark.parametrize("start", ["Shared<float>()", "(float*)Shared<float>()"])
def test_a_struct_is_the_pointer_that_its_conversion_makes(start):
    use = "s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[threadIdx.x] = s[n];"
    plain = lowered(SHARED, f"extern __shared__ float room[]; float* s = room; {use}")
    assert re.sub("(room|ROOM_SIZE)_2", r"\1", lowered(SHARED, f"float* s = {start}; {use}")) == plain


def test_a_struct_is_the_number_that_its_conversion_makes():
    made = "Half h; h.whole = x[threadIdx.x]; float v = h; y[threadIdx.x] = v;"
    assert "/ 2" in lowered(SHARED, made)


def test_a_struct_without_a_conversion_is_no_number():
    with pytest.raises(Refusal):
        lowered(SHARED, "Plain p; p.whole = x[threadIdx.x]; float v = p; y[threadIdx.x] = v;")


READ = "g.y[threadIdx.x] = g.x[g.layout.at(threadIdx.x)] + g.layout.rows.count;"


@pytest.mark.parametrize(
    "reads",
    [
        "__device__ int at(int r) const { return r * stride; }",
        "__device__ int at(int r) { int a = r; a *= stride; return min(a, stride); }",
    ],
)
def test_a_parameter_whose_methods_only_read_it_may_hold_structs(reads):
    assert "g_layout_stride" in lowered(LAYOUTS.replace("AT", reads), READ, "Given g")


@pytest.mark.parametrize(
    "changes",
    [
        "__device__ int at(int r) { this->stride = r; return r; }",
        "__device__ int at(int r) { stride += r; return r; }",
        "__device__ int at(int r) { rows.count = r; return r; }",
        "__device__ int at(int r) { int* p = &stride; *p = r; return r; }",
        "__device__ int set(int r) { stride = r; return r; } __device__ int at(int r) { return set(r); }",
        "__device__ int& at(int r) { return stride; }",
    ],
)
def test_a_parameter_that_a_method_changes_may_not(changes):
    with pytest.raises(Refusal, match="is changed"):
        lowered(LAYOUTS.replace("AT", changes), READ, "Given g")
