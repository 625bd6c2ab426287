"""Arrays of one thread's own: variables where the loops that index them are written out, else tensors."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))


def lowered(body):
    head = "__global__ void k(float* y, const float* a, int n) {\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


RUN_THROUGH = """
    float large[128];
    for (int i = 0; i < 128; i++) large[i] = a[i];
    float other[{size}];
    for (int i = 0; i < 32; i++) {{ other[i] = large[i] * 2.f; }}
    for (int i = 0; i < 32; i++) {{ y[i] = other[i] + large[i]; }}"""


def test_a_loop_through_a_tensor_is_not_written_out_for_an_array_as_large():
    text = lowered(RUN_THROUGH.format(size=128))
    assert text.count("tl.zeros([BLOCK_SIZE, 128], tl.float32)") == 2
    assert text.count("for i in range(32)") == 2


def test_a_loop_through_a_tensor_is_written_out_for_a_smaller_array():
    text = lowered(RUN_THROUGH.format(size=32))
    assert text.count("tl.zeros([BLOCK_SIZE, 128], tl.float32)") == 1
    assert "other_31" in text
    assert "range(32)" not in text


def test_of_loops_that_threads_leave_only_those_that_index_registers_are_written_out():
    text = lowered("""
    float part[4];
    for (int i = 0; i < 16; i++) {
        if (threadIdx.x + i * 64 >= n) break;
        for (int k = 0; k < 4; k++) part[k] = a[threadIdx.x + i * 64 + k];
        y[threadIdx.x + i * 64] = part[0] + part[1] + part[2] + part[3];
    }""")
    assert "part_3 = " in text
    assert "BLOCK_SIZE, 4]" not in text
    assert text.count("while ") == 1
