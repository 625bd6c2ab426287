"""CUB's reductions by operations of the source's own: one word where Triton has it, else in the order of the source."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def lowered(own: str, act: str, element: str = "float") -> str:
    body = f"""{own}
__global__ void k(const {element}* x, {element}* y) {{
    typedef cub::BlockReduce<{element}, 64> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    {element} all = Reduce(storage).Reduce(x[threadIdx.x], {act});
    if (threadIdx.x == 0) *y = all;
}}"""
    unit = read_unit(parse(Source(Path("op.cu"), body)))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text


def struct(body: str, head: str = "__device__ float operator()(float a, float b) const") -> str:
    return f"struct Act {{ {head} {{ {body} }} }};"


@pytest.mark.parametrize(
    ("own", "act", "word"),
    [
        (struct("return fmaxf(a, b);"), "Act()", "tl.max("),
        (
            struct("return min(b, a);", "__device__ float operator()(const float& a, const float& b)"),
            "Act{}",
            "tl.min(",
        ),
        (struct("return a + b;", "template <class T> __device__ T operator()(T a, T b)"), "Act()", "tl.sum("),
        ("", "[] __device__(float a, float b) { return fmaxf(a, b); }", "tl.max("),
    ],
)
def test_what_triton_has_a_word_for_is_that_word(own, act, word):
    text = lowered(own, act)
    assert word in text
    assert "cub_step" not in text


@pytest.mark.parametrize(
    ("own", "act", "element"),
    [
        (struct("return a > b ? a : b;"), "Act()", "float"),  # of a number and a NaN it depends on the order
        (struct("return a - b;"), "Act()", "float"),
        (struct("return fmaxf(a, a);"), "Act()", "float"),
        (struct("return fmaxf(a, b);"), "Act()", "double"),
        (struct("float c = a; return fmaxf(c, b);"), "Act()", "float"),
        ("__device__ float fmax(float a, float b) { return a * b; }" + struct("return fmax(a, b);"), "Act()", "float"),
    ],
)
def test_anything_else_keeps_its_order(own, act, element):
    assert "cub_step" in lowered(own, act, element)
