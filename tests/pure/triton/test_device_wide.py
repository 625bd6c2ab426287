"""Sums and scans of whole arrays that a launcher asks CUB or Thrust for."""

from pathlib import Path
from textwrap import dedent

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KERNEL = """
#include <cub/cub.cuh>
#include <thrust/reduce.h>
__global__ void scale(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
"""
HEAD = "void f(float* y, const float* x, float* out, int n) {\n"


def launcher(body):
    """The lines of `f` without head and comment."""
    made = port(parse(Source(Path("op.cu"), f"{KERNEL}{HEAD}{dedent(body)}\nscale<<<n, 64>>>(y, x, 1.f, n);\n}}")), ())
    if made.findings:
        return [(f.message) for f in made.findings]
    return dedent("\n".join(made.files[0].text.split("def f(")[1].split("\n")[2:]))


@pytest.mark.parametrize(
    ("call", "statement"),
    [
        ("DeviceReduce::Sum", "out.view(-1)[0] = x.view(-1)[:n].sum()"),
        ("DeviceReduce::Max", "out.view(-1)[0] = x.view(-1)[:n].amax()"),
        ("DeviceReduce::Min", "out.view(-1)[0] = x.view(-1)[:n].amin()"),
        ("DeviceScan::InclusiveSum", "out.view(-1)[:n].copy_(x.view(-1)[:n].cumsum(0))"),
        (
            "DeviceScan::ExclusiveSum",
            "out.view(-1)[:n].copy_(torch.cat((x.view(-1)[:n].new_zeros(1), x.view(-1)[:n][:-1].cumsum(0))))",
        ),
    ],
)
def test_cub_computes_with_storage_only(call, statement):
    found = launcher(f"""
        void* storage = nullptr;
        size_t room = 0;
        cub::{call}(storage, room, x, out, n);
        cudaMalloc(&storage, room);
        cub::{call}(storage, room, x, out, n);""")
    assert found.count("if storage is None:\n    room = 1\n") == 2
    lines = "".join(line.strip() for line in found.split("\n"))  # long calls are broken
    assert lines.count(f"if storage is not None:{statement}") == 2
    assert "dtype=torch.uint8, device=y.device)" in found


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("p, p + n", "x.view(-1)[:n].sum().item()"),
        ("p, p + n, 0.0f", "x.view(-1)[:n].sum().item()"),
        ("thrust::device, p, p + n, 1.5f, thrust::plus<float>()", "1.5 + x.view(-1)[:n].sum().item()"),
        ("p, p + n, -INFINITY, thrust::maximum<float>()", "max(-math.inf, x.view(-1)[:n].amax().item())"),
        ("p, p + n, 9.f, thrust::minimum<float>()", "min(9.0, x.view(-1)[:n].amin().item())"),
    ],
)
def test_thrust_reduces_a_range(given, value):
    found = launcher(f"""
        thrust::device_ptr<const float> p(x);
        float all = thrust::reduce({given});
        scale<<<n, 64>>>(y, x, all, n);""")
    assert f"all_ = {value}\n" in found or f"all = {value}\n" in found


@pytest.mark.parametrize("given", ["p, q, 0.f", "p, p + n, 1.f, thrust::multiplies<float>()"])
def test_other_reductions_are_refused(given):
    found = launcher(f"thrust::device_ptr<const float> p(x), q(y);\nfloat all = thrust::reduce({given});")
    assert "by an unknown function" in found[0]


def test_an_assignment_in_a_call_is_made_there():
    found = launcher("int m = 4;\nscale<<<1, 64>>>(y, x, 2.f, m = n);\nscale<<<1, 64>>>(y, x, 3.f, m);")
    assert "scale[(1,)](y, x, 2.0, (m := n), BLOCK_SIZE=64" in found
    assert "scale[(1,)](y, x, 3.0, m, BLOCK_SIZE=64" in found
