"""What only the first thread does, in blocks that are padded: the first is in every block."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def lowered(body, size=None):
    source = f"__global__ void k(const float* x, float* out, int n) {{ {body} }}"
    unit = read_unit(parse(Source(Path("k.cu"), source)))
    info = LaunchInfo((Dimension(size, "BLOCK_SIZE"), Dimension(1), Dimension(1)))
    return lower_kernel(unit, unit.kernels[0], info).text


@pytest.mark.parametrize("size", [None, 96])
def test_a_store_of_the_first_thread_asks_for_no_mask(size):
    text = lowered("if (threadIdx.x == 0) out[blockIdx.x] = 2.0f * n;", size)
    assert "tl.store(out + tl.program_id(0), 2.0 * n.to(tl.float32))" in text


@pytest.mark.parametrize("size", [None, 96])
def test_what_the_first_thread_shares_is_set_in_any_case(size):
    body = "__shared__ float s; if (threadIdx.x == 0) { s = 3.0f * n; } __syncthreads(); out[threadIdx.x] = s;"
    assert "tl.max(" not in lowered(body, size)


def test_another_thread_may_not_be_there():
    body = "if (threadIdx.x == 5) out[blockIdx.x] = 2.0f;"
    assert "(tid < BLOCK_SIZE) & (tid == 5)" in lowered(body)
    assert "tl.store(out + tl.program_id(0), 2.0)" in lowered(body, 128)
