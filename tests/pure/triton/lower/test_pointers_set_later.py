"""Pointers without a value at first: what they may be set to, and where."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.refusal import Refusal

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))


def lowered(body):
    head = "__global__ void k(float* y, const float* a, const __half* b, int n) {\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


def refusal(body):
    with pytest.raises(Refusal) as refused:
        lowered(body)
    return refused.value.line, refused.value.reason


def test_a_pointer_set_in_both_branches():
    text = lowered("""
        const float* p = nullptr;
        if (threadIdx.x < n) p = a; else p = a + 64;
        y[threadIdx.x] = p[threadIdx.x];""")
    assert "p = tl.where(tid >= n, a + 64, p)" in text


def test_a_pointer_that_may_be_null_is_not_asked_whether_it_is():
    found = refusal("const float* p = nullptr;\nif (n > 3) p = a;\nif (p) y[0] = p[0];")
    assert found == (4, "a pointer is compared that is null until it is set")


def test_a_pointer_counts_what_it_points_to_and_not_what_the_buffer_holds():
    text = lowered("""
        const float4* p = (const float4*)b;
        for (int i = 0; i < n; i++) { y[i] = p->x; p += 64; }""")
    assert "p = b.to(tl.pointer_type(tl.float32), bitcast=True)" in text
    assert "p = p + 256" in text


def test_a_pointer_to_shared_memory_may_be_set_to_another_array_in_order_only():
    arrays = "__shared__ float s[64], t[64]; s[threadIdx.x] = a[threadIdx.x]; t[threadIdx.x] = 0; float* p;\n"
    text = lowered(f"{arrays} p = s; y[threadIdx.x] = p[63 - threadIdx.x]; p = t; y[threadIdx.x] += p[threadIdx.x];")
    assert "tl.gather(s, 63 - tid, 0)" in text
    found = refusal(f"{arrays} p = s;\nfor (int i = 0; i < n; i++) {{\n y[threadIdx.x] = p[threadIdx.x];\n p = t; }}")
    assert found == (6, "the pointer `p` is set to point elsewhere in a branch or loop")


def test_a_pointer_is_not_used_before_it_is_set():
    found = refusal("float v[4]; float* p;\nfor (int i = 0; i < 4; i++) {\n if (i) y[i] = p[0];\n p = v; }")
    assert found == (4, "the pointer `p` is used before it is set")
