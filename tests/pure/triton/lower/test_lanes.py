"""How many threads of the source a lane holds: four where each loads four bytes and waits for nobody."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

PARAMETERS = "const float* x, const float* z, float* y, const __half* h, const double* d, int n"


def threads_per_lane(body: str) -> int:
    head = f"__global__ void k({PARAMETERS}) {{ int i = blockIdx.x * blockDim.x + threadIdx.x;"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}\n{body}\n}}")))
    launch = LaunchInfo((Dimension(256, ""), Dimension(1), Dimension(1)))
    return lower_kernel(unit, unit.kernels[0], launch).threads_per_lane


@pytest.mark.parametrize(
    "body",
    [
        "if (i < n) y[i] = 2.0f * x[i];",
        "y[i] = 0.0f;",
        "y[i] = (float)h[i] * (float)h[i + n];",
        "for (int j = i; j < n; j += gridDim.x * blockDim.x) y[j] = x[j];",
        "for (int r = blockIdx.y; r < n; r += gridDim.y) { int at = r * 256 + threadIdx.x; y[at] = x[at]; }",
    ],
)
def test_four_where_lanes_move_little_and_wait_for_nobody(body):
    assert threads_per_lane(body) == 4


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = x[i] + z[i];",
        "y[i] = d[i];",
        "((float4*)y)[i] = ((const float4*)x)[i];",
        "float m = 0.0f; for (int j = threadIdx.x; j < n; j += blockDim.x) m = fmaxf(m, x[j]); y[i] = m;",
        "atomicAdd(y, x[i]);",
        "__shared__ float s[256]; s[threadIdx.x] = x[i]; __syncthreads(); y[i] = s[255 - threadIdx.x];",
    ],
)
def test_two_where_they_move_more_or_wait(body):
    assert threads_per_lane(body) == 2


@pytest.mark.parametrize(
    "body",
    [
        "float s = 0.0f; for (int j = 0; j < n; ++j) s += x[i * n + j]; y[i] = s;",
        "float s = 0.0f; for (int j = 0; j < n; ++j) s += x[j * n + i]; y[i] = s;",
        "for (int j = 0; j < n; ++j) y[i * n + j] = x[i * n + j];",
        "y[i] = __shfl_down_sync(0xffffffffu, x[i], 1);",
        "for (int k = 0; k < 4; k++) { float4 v = ((float4*)x)[4 * i + k]; v.x *= 2; ((float4*)y)[4 * i + k] = v; }",
    ],
)
def test_one_where_each_thread_waits_for_one_load_after_another_or_asks_its_warp(body):
    assert threads_per_lane(body) == 1
