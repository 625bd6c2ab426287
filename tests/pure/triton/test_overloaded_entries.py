"""Kernels and launchers of one name are ported under a name each, which their contracts find."""

from pathlib import Path

from porter.contract.analysis.overloads import meant
from porter.contract.infer.draft import draft
from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import lowered

BODY = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n)"
KERNELS = f"""
__global__ void shade(const float* depth, float* image, int n) {{ {BODY} image[i] = depth[i] * 3.f; }}
__global__ void shade(const double* depth, double* image, int n) {{ {BODY} image[i] = depth[i] * 5.0; }}
__global__ void shade(const float* points, const float* normals, float* image, int n) {{
  {BODY} image[i] = points[i] + normals[i]; }}
"""
LAUNCHERS = f"""
__global__ void twice(float* y, const float* x, int n) {{ {BODY} y[i] = 2.f * x[i]; }}
__global__ void thrice(double* y, const double* x, int n) {{ {BODY} y[i] = 3.0 * x[i]; }}
void run(float* y, const float* x, int n) {{ twice<<<(n + 63) / 64, 64>>>(y, x, n); }}
void run(double* y, const double* x, int n) {{ thrice<<<(n + 63) / 64, 64>>>(y, x, n); }}
"""


def answers(text):
    """The program, its contracts, and the functions of the port that answer for them."""
    program = parse(Source(Path("op.cu"), text))
    contracts = draft(program, whole_program=False)
    port = lowered(program, ())
    assert not port.port.findings
    return contracts, [port.function(contract) for contract in contracts], port.port.files[0].text


def test_each_overload_of_a_kernel_has_a_launcher_of_its_own():
    _, functions, text = answers(KERNELS)
    assert functions == ["launch_shade", "launch_shade__2", "launch_shade__3"]
    assert "def launch_shade__2(depth, image, n, *" in text
    assert "def launch_shade__3(points, normals, image, n, *" in text


def test_each_overload_of_a_launcher_is_ported():
    _, functions, text = answers(LAUNCHERS)
    assert functions == ["run", "run__2"]
    assert "thrice[" in text.partition("def run__2(")[2]


def test_a_contract_is_for_the_overload_with_its_names_and_types():
    contracts, _, _ = answers(KERNELS)
    program = parse(Source(Path("op.cu"), KERNELS))
    assert [meant(contract, program.kernels) for contract in contracts] == list(program.kernels)
    assert meant(contracts[0], ()) is None
