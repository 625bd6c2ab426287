"""States of cuRAND's generators in launchers: bytes of a tensor, and the table that a jump ahead reads."""

import functools
from pathlib import Path

import pytest
import torch

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port
from tests.pure.ir.simt.test_library_language import powers

SAMPLE = """
__global__ void setup(curandState* states, unsigned long long seed, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) curand_init(seed, i, 0, &states[i]);
}
__global__ void draw(curandState* states, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = curand_uniform(&states[i]);
}
"""
POINTS = """
struct P3 { float x, y, z; };
struct Mixed { float x; int n; double d; };
__global__ void second(P3* y) { y[threadIdx.x].y = 2.f; }
__global__ void pairs(float4* y) { y[threadIdx.x].x = 1.f; }
__global__ void mixed(Mixed* y) { y[threadIdx.x].n = 3; }
"""


def ported(text):
    made = port(parse(Source(Path("op.cu"), text)), ())
    assert not made.findings, made.findings
    return made.files[0].text


def test_states_are_bytes_and_the_table_is_made_once():
    found = ported(f"""{SAMPLE} void f(float* out, unsigned long long seed, int n) {{
        curandState* states; cudaMalloc(&states, n * sizeof(curandState));
        setup<<<(n + 63) / 64, 64>>>(states, seed, n);
        draw<<<(n + 63) / 64, 64>>>(states + 1, out, n); }}""")
    assert "states = torch.empty(n * 48, dtype=torch.uint8, device=out.device)" in found
    assert "setup[(triton.cdiv(n, 64),)](\n        states, seed, n, xorwow_powers(out.device)," in found
    assert "draw[(triton.cdiv(n, 64),)](states[1 * 48 :], out, n," in found
    assert "@functools.cache\ndef xorwow_powers(device):" in found


def test_the_table_is_that_of_the_recurrence():
    found = ported(SAMPLE)
    helpers = "@functools.cache\ndef xorwow_powers" + found.split("@functools.cache\ndef xorwow_powers")[1]
    after = "def _xorwow_after" + found.split("def _xorwow_after")[1].split("\n\n\n")[0]
    names = {"functools": functools, "torch": torch}
    exec(f"{after}\n{helpers.split('def launch_')[0]}", names)
    assert names["xorwow_powers"]("cpu").tolist() == powers().tolist()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("second<<<1, 64>>>((P3*)y + n);", "y.view(-1)[n * 3 :]"),
        ("pairs<<<1, 64>>>((float4*)y + n);", "y.view(-1)[n * 4 :]"),
        ("pairs<<<1, 64>>>(&((float4*)y)[n]);", "y.view(-1)[n * 4 :]"),
        ("P3* p = new P3[n]; cudaMemcpy(y, p, n * sizeof(P3), cudaMemcpyHostToDevice);", "torch.empty(n * 3, "),
        ("Mixed* m; cudaMalloc(&m, n * sizeof(Mixed)); mixed<<<1, 64>>>(m + n);", "mixed[(1,)](m[n * 16 :], "),
    ],
)
def test_a_pointer_to_vectors_or_structs_moves_by_whole_ones(body, text):
    assert text in ported(f"{POINTS} void f(float* y, int n) {{ {body} second<<<1, 64>>>((P3*)y); }}")
