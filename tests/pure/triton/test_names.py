"""No function of a module hides another: helpers, kernels and launchers may be called the same in CUDA."""

import ast
from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

TEXT = """
__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tanhf(x[i]);
}
void tanh(const float* x, float* y, int n) { smooth<<<(n + 63) / 64, 64>>>(x, y, n); }
__global__ void cosh(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = coshf(x[i]) + tanhf(x[i]);
}
void both(const float* x, float* y, int n) { cosh<<<(n + 63) / 64, 64>>>(x, y, n); }
"""


def test_helpers_kernels_and_launchers_of_one_name_are_told_apart():
    ported = port(parse(Source(Path("op.cu"), TEXT)), ())
    functions = {node.name: ast.unparse(node) for node in ast.parse(ported.files[0].text).body if hasattr(node, "body")}
    names = [node.name for node in ast.parse(ported.files[0].text).body if isinstance(node, ast.FunctionDef)]
    assert len(names) == len(set(names))
    assert {"tanh", "device_tanh", "smooth", "cosh", "cosh_kernel", "both"} <= set(names)
    assert "smooth[" in functions["tanh"]
    assert "device_tanh(" in functions["smooth"]
    assert "cosh(" in functions["cosh_kernel"]
    assert "cosh_kernel[" in functions["both"]


def test_a_helper_that_another_one_calls_is_told_from_a_launcher():
    text = """
    __global__ void smooth(const double* x, double* y) { y[threadIdx.x] = tanh(x[threadIdx.x]); }
    void expm1(const double* x, double* y) { smooth<<<1, 64>>>(x, y); }
    """
    module = ast.parse(port(parse(Source(Path("op.cu"), text)), ()).files[0].text)
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    assert list(functions) == ["copysign", "device_expm1", "tanh", "smooth", "expm1"]
    called = {node.func.id for node in ast.walk(functions["tanh"]) if isinstance(getattr(node, "func", None), ast.Name)}
    assert called == {"copysign", "device_expm1"}
