"""Vectors are accessed at once where their type says that they lie at multiples of their size."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

_BLOCK = (Dimension(64, ""), Dimension(1), Dimension(1))
_PLAIN = "struct Four { float x, y, z, w; };\n"
_STORAGE = "typedef std::aligned_storage<16, {alignment}>::type Four;\n"


def lowered(before, type_):
    body = f"int t = threadIdx.x; (({type_}*)(y + 1))[t] = (({type_}*)(x + 3))[t];"
    text = f"{before}__global__ void k(const float* x, float* y) {{ {body} }}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(_BLOCK)).text


@pytest.mark.parametrize(("before", "type_"), [("", "float4"), (_STORAGE.format(alignment=16), "Four")])
def test_a_type_that_is_aligned_is_accessed_as_such(before, type_):
    text = lowered(before, type_)
    assert "load_tile(" in text
    assert "store_tile(" in text
    assert "loose" not in text


@pytest.mark.parametrize(
    "before",
    [
        "struct alignas(16) Four { float v[4]; };",
        "struct __align__(16) Four { float a, b, c, d; };",
        "typedef struct __align__(16) { float a, b, c, d; } Four;",
        "template <typename T, int N> struct alignas(sizeof(T) * N) Some { T v[N]; };\nusing Four = Some<float, 4>;",
        "struct Four { float4 whole; };",
    ],
)
def test_a_struct_is_aligned_as_it_says_or_as_its_fields(before):
    text = lowered(f"{before}\n", "Four")
    assert "load_tile(" in text
    assert "loose" not in text


@pytest.mark.parametrize("before", [_PLAIN, _STORAGE.format(alignment=4)])
def test_of_any_other_nothing_is_promised(before):
    text = lowered(before, "Four")
    assert text.count(", loose=True)") == 2
