"""Stores to shared tiles turned around: elements that nobody writes are told from others only where there are any."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

BLOCK = (Dimension(32, "BLOCK_X"), Dimension(32, "BLOCK_Y"), Dimension(1))


def lowered(tile):
    text = f"""__global__ void k(float* y, const float* x) {{
      __shared__ float t{tile};
      t[threadIdx.x][threadIdx.y] = x[threadIdx.y * 32 + threadIdx.x];
      __syncthreads();
      y[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.y][threadIdx.x];
    }}"""
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text


def test_a_tile_that_is_written_as_a_whole_is_one_gather():
    text = lowered("[32][32]")
    assert "slot // 32 + (slot % 32) * 32" in text or "(slot // 32) + (slot % 32) * 32" in text
    assert "<" not in text


@pytest.mark.parametrize(("tile", "check"), [("[64][32]", "slot // 32 < 32"), ("[32][64]", "(slot % 64) < 32")])
def test_a_tile_that_is_written_in_part_keeps_the_rest(tile, check):
    text = lowered(tile)
    assert check in text
    assert ", t)" in text


def test_what_one_thread_writes_is_its_value():
    unit = read_unit(parse(Source(Path("op.cu"), """__global__ void k(float* y) {
        __shared__ float s[32];
        s[threadIdx.x % 32] = y[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) s[0] = y[threadIdx.x + 1];
        __syncthreads();
        y[threadIdx.x] = s[31 - threadIdx.x];
    }""")))  # fmt: skip
    block = (Dimension(32, "BLOCK_SIZE"), Dimension(1), Dimension(1))
    text = lower_kernel(unit, unit.kernels[0], LaunchInfo(block)).text
    assert "tl.where(written, 0, 0)" not in text
    assert "tl.where(written, tl.sum(" in text
