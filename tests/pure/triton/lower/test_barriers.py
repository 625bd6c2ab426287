"""Barriers among the lanes of a warp: where they have touched memory that is both read and written."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))
GROUP = "auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());"


def lowered(body):
    head = "__global__ void k(float* y, const float* a, int n) {\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


@pytest.mark.parametrize("barrier", ["__syncwarp();", f"{GROUP} warp.sync();"])
def test_what_a_lane_reads_is_not_overwritten_before_the_barrier(barrier):
    text = lowered(f"float v = y[threadIdx.x ^ 1];\n{barrier}\ny[threadIdx.x] = v;")
    load, stored = text.index("tl.load(y"), text.index("tl.store(y")
    assert load < text.index("tl.debug_barrier()") < stored


def test_registers_and_memory_that_is_only_read_need_no_barrier():
    text = lowered("float v = a[threadIdx.x ^ 1];\n__syncwarp();\ny[threadIdx.x] = __shfl_xor_sync(~0u, v, 1);")
    assert "barrier" not in text


def test_a_barrier_of_the_block_waits_for_memory_only_once_it_is_touched():
    text = lowered("""
        __shared__ float s[64];
        float sum = 0;
        for (int k = 0; k < n; ++k) {
          s[threadIdx.x] = a[k * 64 + threadIdx.x];
          __syncthreads();
          sum += s[63 - threadIdx.x];
          __syncthreads();
        }
        y[threadIdx.x] = sum;
        __syncthreads();
        y[threadIdx.x ^ 1] += sum;""")
    assert text.index("tl.store(y") < text.index("tl.debug_barrier()")
    assert text.count("tl.debug_barrier()") == 1


def test_a_barrier_at_the_begin_of_a_loop_waits_for_the_turn_before():
    text = lowered("for (int k = 0; k < n; ++k) {\n__syncthreads();\ny[threadIdx.x ^ 1] += y[threadIdx.x] * k;\n}")
    loop = text.split("for k in range")[1]
    assert loop.index("tl.debug_barrier()") < loop.index("tl.load(y")


def test_one_number_is_stored_by_a_thread_of_tritons_choice():
    text = lowered("if (threadIdx.x == 0) {\nfloat v = y[n];\ny[n + 1] = v;\ny[n] = 0;\n}")
    load, stored = text.index("tl.load("), text.index("tl.store(y + n, 0.0)")
    assert load < text.index("tl.debug_barrier()") < stored
