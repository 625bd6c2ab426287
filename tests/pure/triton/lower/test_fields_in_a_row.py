"""Pointers to a field of a struct that are advanced over the fields behind it."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.refusal import Refusal

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))
STRUCTS = "struct Pair { float a, b; int count; };\nstruct Both { Pair first; float4 last; };\n"


def lowered(body):
    head = "__global__ void k(float* y, const float4* a, int n) {\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{STRUCTS}{head}{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


@pytest.mark.parametrize(
    ("way", "plain"),
    [
        ("(&v.x)[2]", "v.z"),
        ("*(&v.y + 1)", "v.z"),
        ("(&v.w)[0]", "v.w"),
    ],
)
def test_an_element_behind_a_field_is_the_field_there(way, plain):
    text = "float4 v = a[threadIdx.x]; y[threadIdx.x] = {};"
    assert lowered(text.format(way)) == lowered(text.format(plain))


def test_a_pointer_to_a_field_is_one_to_those_behind_it():
    text = "Pair p = {1.f, 2.f, 3}; p.a = y[0]; p.b = y[1]; float* q = &p.a; y[2] = q[0]; y[3] = q[1];"
    assert lowered(text) == lowered(text.replace("q[0]", "p.a").replace("q[1]", "p.b").replace("float* q = &p.a;", ""))


def test_elements_of_a_struct_within_another_are_assigned_to():
    text = "Both b; b.last = a[0]; for (int k = 0; k < 4; ++k) (&b.last.x)[k] *= 2.f; y[0] = b.last.w;"
    assert "* 2.0" in lowered(text)


@pytest.mark.parametrize(
    "body",
    [
        "float v = y[1]; y[0] = (&v)[1];",
        "float v[2] = {1.f, 2.f}; float4 w = a[0]; float* p = &w.w; y[0] = p[1] + v[0];",
        "int i = 1, j = 2; y[0] = *(&i + 1) + j;",
    ],
)
def test_a_variable_or_last_field_has_nothing_behind_it(body):
    with pytest.raises(Refusal, match="advanced beyond"):
        lowered(body)
