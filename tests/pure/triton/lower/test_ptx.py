"""Inline PTX becomes what its C++ would, or is refused at its line."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.refusal import Refusal

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))


def lowered(body):
    head = "__global__ void k(float* y, const float* x, const int* q) {\nint i = threadIdx.x;\nfloat4 v; float r;\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


def test_a_load_of_a_vector():
    text = lowered("""
        asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(x + 4 * i));
        ((float4*)y)[i] = v;""")
    assert "load_tile(x + 4 * tid, 4)" in text
    assert "store_tile(y + tid * 4, " in text


def test_an_approximation_is_the_function():
    text = lowered('asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x[i]));\ny[i] = r;')
    assert "tl.exp2(tl.load(x + tid))" in text


def test_a_trap_is_an_assertion():
    assert "tl.device_assert(False" in lowered('if (q[i] < 0) asm volatile("trap;");\ny[i] = 1;')


def test_what_has_no_form_is_refused_at_its_line():
    with pytest.raises(Refusal) as refused:
        lowered(
            'y[i] = 1;\nasm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %0, %1;" : "=f"(r) : "f"(r));'
        )
    assert refused.value.line == 5
    assert refused.value.reason.startswith("inline PTX: ")
