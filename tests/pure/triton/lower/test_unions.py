"""Unions of one thread's own are views of their parts, however they are made; all others are refused."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.refusal import Refusal

BLOCK = (Dimension(32, "BLOCK_SIZE"), Dimension(1), Dimension(1))
BITS = "union Bits { float f; unsigned u; };\n"


def lowered(kernel):
    unit = read_unit(parse(Source(Path("op.cu"), f"{BITS}{kernel}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


def test_a_field_is_read_as_what_another_was_written():
    text = lowered("""
        __global__ void k(unsigned* y, const float* x) {
          Bits v;
          v.f = x[threadIdx.x];
          Bits w = v;
          y[threadIdx.x] = w.u;
        }""")
    assert ".to(tl.uint32, bitcast=True))" in text


@pytest.mark.parametrize(
    ("made", "given"),
    [
        pytest.param("Bits v = {x[threadIdx.x]};", "", id="braces give the first field"),
        pytest.param("Made v(x[threadIdx.x]);", "Made(float value) : f(value) {}", id="constructor"),
        pytest.param("Made v = Made(x[threadIdx.x]), w = v; v = w;", "Made(float value) { f = value; }", id="copied"),
    ],
)
def test_a_union_is_made_of_what_its_constructor_sets(made, given):
    union = f"union Made {{ unsigned u; float f; __device__ {given} }};" if given else ""
    text = lowered(f"{union} __global__ void k(unsigned* y, const float* x) {{ {made} y[threadIdx.x] = v.u; }}")
    assert ".to(tl.uint32, bitcast=True)" in text


@pytest.mark.parametrize(
    "kernel",
    [
        "__global__ void k(unsigned* y, Bits p) { y[threadIdx.x] = p.u; }",
        "__global__ void k(unsigned* y, const Bits* p) { y[threadIdx.x] = p[threadIdx.x].u; }",
        "__global__ void k(unsigned* y) { __shared__ Bits s[32]; s[threadIdx.x].f = 1; y[threadIdx.x] = s[0].u; }",
        "__global__ void k(unsigned* y) { Bits v = {1.0f, 2u}; y[threadIdx.x] = v.u; }",
    ],
    ids=["parameter", "memory", "shared", "two values"],
)
def test_a_union_anywhere_else_is_refused(kernel):
    with pytest.raises(Refusal) as refused:
        lowered(kernel)
    assert refused.value.line == 2


def test_inside_a_template_its_name_is_the_instance():
    text = lowered("""
        template <class T> struct Pair {
          T v[2];
          __device__ static Pair of(T a) { Pair r; r.v[0] = a; r.v[1] = a * a; return r; }
        };
        __global__ void k(float* y, float x) { auto p = Pair<float>::of(x); y[threadIdx.x] = p.v[0] + p.v[1]; }""")
    assert "x + r_v_1" in text
