"""Instances of a kernel that differ in numbers of their template become one kernel with constexpr parameters."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port


def ported(kernel, *launches):
    calls = "\n".join(f"  {launch};" for launch in launches)
    text = f"{dedent(kernel)}\nvoid f(float* y, const float* x, int n) {{\n{calls}\n}}\n"
    made = port(parse(Source(Path("op.cu"), text)), ())
    assert not made.findings
    return made.files[0].text


def kernels(module):
    found = [node for node in ast.parse(module).body if isinstance(node, ast.FunctionDef) and node.decorator_list]
    return {node.name: [a.arg for a in node.args.args] for node in found}


SCALED = """
    template <int N> __global__ void scaled(float* y, const float* x, int n) {
      int i = blockIdx.x * 64 + threadIdx.x;
      if (i < n) y[i] = x[i] * SCALE;
    }"""


def scaled(scale, first, second):
    return ported(
        SCALED.replace("SCALE", scale), f"scaled<{first}><<<n, 64>>>(y, x, n)", f"scaled<{second}><<<n, 64>>>(y, x, n)"
    )


def test_numbers_of_the_template_become_parameters():
    module = scaled("(i % N)", 3, 5)
    assert kernels(module) == {"scaled": ["y", "x", "n", "BLOCK_SIZE", "N"]}
    assert "N=3" in module
    assert "N=5" in module
    assert "i % N" in module


@pytest.mark.parametrize(
    ("scale", "values", "said"),
    [("(i % (N / 8))", (24, 40), "i % (N // 8)"), ("(i % ((N + 7) / 8))", (17, 40), "i % ((N + 7) // 8)")],
)
def test_a_fixed_part_of_a_parameter_is_said_so(scale, values, said):
    module = scaled(scale, *values)
    assert list(kernels(module)) == ["scaled"]
    assert said in module


def test_numbers_that_no_parameter_explains_stay_apart():
    module = scaled("(i % (N * N))", 3, 5)
    assert kernels(module) == {"scaled": ["y", "x", "n", "BLOCK_SIZE"], "scaled__2": ["y", "x", "n", "BLOCK_SIZE"]}


def test_a_parameter_whose_name_the_text_has_stays_a_number():
    module = ported(
        SCALED.replace("int N", "int tid").replace("SCALE", "(i % tid)"),
        "scaled<3><<<n, 64>>>(y, x, n)",
        "scaled<5><<<n, 64>>>(y, x, n)",
    )
    assert list(kernels(module)) == ["scaled", "scaled__2"]


def test_a_number_that_the_source_has_besides_is_told_from_the_parameter():
    module = scaled("(i % N)", 64, 5)
    assert list(kernels(module)) == ["scaled"]
    assert "tl.program_id(0) * 64 + tid" in module
    assert "i % N" in module


def test_numbers_that_decide_how_a_loop_is_printed_stay_apart():
    module = ported(
        """
        template <int N> __global__ void sums(float* y, const float* x, int n) {
          float sum = 0;
          for (int k = threadIdx.x; k < N; k += 64) sum += x[blockIdx.x * N + k];
          y[blockIdx.x * 64 + threadIdx.x] = sum;
        }""",
        "sums<128><<<n, 64>>>(y, x, n)",
        "sums<1024><<<n, 64>>>(y, x, n)",
    )
    assert list(kernels(module)) == ["sums", "sums__2"]


def test_instances_for_several_types_become_one_where_their_text_names_none():
    module = ported(
        """
        template <typename T, int N> __global__ void rotated(T* y, const T* x, int n) {
          const int i = blockIdx.x * 64 + threadIdx.x;
          if (i < n) y[(i + N) % n] = x[i];
        }""",
        "rotated<float, 3><<<n, 64>>>(y, x, n)",
        "rotated<int, 5><<<n, 64>>>((int*)y, (const int*)x, n)",
    )
    assert kernels(module) == {"rotated": ["y", "x", "n", "BLOCK_SIZE", "N"]}
