"""Kernels without their bodies, for an executable that only plans launches."""

from pathlib import Path

import pytest

from porter.simt.hand_over import without_bodies
from porter.source_text import Source


def planned(*texts):
    return [file.text for file in without_bodies([Source(Path(f"{i}.cu"), text) for i, text in enumerate(texts)])]


def handed(text):
    """The names that the only kernel of `text` hands over."""
    (planned_text,) = planned(text)
    body = planned_text[planned_text.index("PORTER_HAND_OVER(") :]
    return [part.split(")")[0] for part in body.split("handed_over(")[1:]]


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("", []),
        ("void", []),
        ("const float* x, int n", ["x", "n"]),
        ("const float* __restrict__ x, unsigned n = 3", ["x", "n"]),
        ("float (*x)[4], int rows[]", ["x", "rows"]),
        ("const ns::Shape<int, 2> shape, T* y", ["shape", "y"]),
        ("int, float*, const ns::Shape", ["porter_unnamed_0", "porter_unnamed_1", "porter_unnamed_2"]),
        ("unsigned int, unsigned n", ["porter_unnamed_0", "n"]),
        ("Args... rest", ["rest"]),
    ],
)
def test_a_kernel_hands_over_its_parameters(parameters, names):
    assert handed(f"__global__ void k({parameters}) {{ work(); }}") == names


def test_no_code_of_a_kernel_stays_and_every_line_does():
    text = (
        "template <int N>\n__global__ void __launch_bounds__(N)\nk(int n) {\n#define M 2\n  secret(n);\n}\nvoid f();\n"
    )
    (found,) = planned(text)
    assert "secret" not in found
    assert found.count("\n") == text.count("\n")
    assert "#define M 2" in found
    assert found.splitlines()[6] == "void f();"


def test_what_is_no_definition_of_a_kernel_stays():
    text = "__global__ void k(int n);\n__device__ float f(int n) { return n; }\nvoid h() { k<<<1, 1>>>(2); }\n"
    assert planned(text) == [text]


def test_kernels_that_macros_begin_or_make_hand_over():
    begun = "#define KERNEL __global__ void\n", "KERNEL k(int n) { secret(); }"
    made = "#define MAKE(name, op) \\\n__global__ void name(float* x) { \\\n x[0] = op; \\\n}\nMAKE(k, secret)\n"
    assert "secret" not in planned(*begun)[1]
    (found,) = planned(made)
    assert "x[0]" not in found
    assert found.count("\\\n") == made.count("\\\n")
    assert "handed_over(x)" in found
