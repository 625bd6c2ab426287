"""What stays of a source whose host functions are left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.simt.kernels_only import kernels_only
from porter.source_text import Source


def left(text: str) -> str:
    (source,) = kernels_only(Source(Path("k.cu"), text))
    return source.text


@pytest.mark.parametrize(
    "function",
    [
        "void launch(float* x) {\n    k<<<1, 32>>>(x);\n}",
        "namespace a { template <class T>\nstatic void launch(T* x) { k<<<1, 32>>>(x); } }",
        'extern "C" int launch(library_t handle)\n{ return 0; }',
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("launch", &launch); }',
        "int launch() { return 1; }\nint main() { return launch(); }",
    ],
)
def test_host_functions_go_and_lines_stay(function):
    kernel = "__global__ void k(float* x) { *x = 1; }\n"
    text = left(f"{function}\n{kernel}")
    assert "launch" not in text
    assert text.endswith(kernel)
    assert text.count("\n") == function.count("\n") + 2


@pytest.mark.parametrize(
    "text",
    [
        "constexpr int two() { return 2; }\n__global__ void k(int* x) { *x = two(); }\n",
        "#define TWO two()\nconstexpr int two() { return 2; }\n__global__ void k(int* x) { *x = TWO; }\n",
        "int one() { return 1; }\nint two() { return 2 * one(); }\nint size = two();\n",
        "struct S { S(int n) : n(n) {} int n; };\n__global__ void k(S s, int* x) { *x = s.n; }\n",
        "#define BOTH(n) __global__ void k##n(int* x) { *x = n; } void f##n(int* x) { k##n<<<1, 1>>>(x); }\nBOTH(1)\n",
        "__device__ int two() { return 2; }\n__host__ __device__ int three() { return 3; }\n",
    ],
)
def test_what_something_else_needs_stays(text):
    assert left(text) == text


def test_host_functions_of_headers_go_too_unless_any_file_uses_them():
    header = Source(
        Path("k.cuh"),
        "void launch(float* x);\n"
        "int half(int n) { return n / 2; }\n"
        "int third(int n) { return n / 3; }\n"
        "void spare() { library(third(3)); }\n",
    )
    text = (
        '#include "spare.cuh"\n__global__ void k(float* x) { x[0] = half(4); }\nvoid launch(float* x) { library(x); }\n'
    )
    source, bare = kernels_only(Source(Path("k.cu"), text), (header,))
    assert source.text == '#include "spare.cuh"\n__global__ void k(float* x) { x[0] = half(4); }\n\n'
    assert bare.text == "void launch(float* x);\nint half(int n) { return n / 2; }\n\n\n"
