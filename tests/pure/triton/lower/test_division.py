"""CUDA's `/` and `sqrtf` round to nearest; Triton's own `/` and `tl.sqrt` on floats do not."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def stored(expression: str, parameters: str = "") -> str:
    """Returns what `y[i] = expression` stores, with floats `a` and `b`, a double `d`, a half `h` and an int `n` at
    hand.
    """
    head = f"__global__ void k(float* y, const float* a, const double* d, const __half* h, int n{parameters})"
    body = f"int i = threadIdx.x; float b = a[n]; y[i] = {expression};"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head} {{ {body} }}")))
    text = lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text
    return text[text.index("tl.store(y + tid, ") + 18 :].removesuffix(")\n")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("a[i] / b", "tl.div_rn(tl.load(a + tid), b)"),
        ("1.0f / a[i]", "tl.div_rn(1.0, tl.load(a + tid))"),
        ("a[i] / n", "tl.div_rn(tl.load(a + tid), n.to(tl.float32))"),
        ("1.0 / a[i]", "tl.div_rn(1.0, tl.load(a + tid))"),  # one operation through double, rounded, is that on floats
        ("__frcp_rn(a[i])", "tl.div_rn(1.0, tl.load(a + tid))"),
        ("sqrtf(a[i])", "tl.sqrt_rn(tl.load(a + tid))"),
    ],
)
def test_floats_are_rounded_to_nearest(expression, text):
    assert stored(expression) == text


@pytest.mark.parametrize("expression", ["a[i] / 4.0f", "a[i] / -0.5f"])
def test_dividing_by_a_power_of_two_is_exact_as_it_is(expression):
    assert "tl.load(a + tid) / " in stored(expression)


def test_a_power_of_two_whose_inverse_is_subnormal_is_no_such():
    assert "tl.div_rn(" in stored("a[i] / 1.7014118346046923e38f")


def test_doubles_are_exact_as_they_are():
    assert stored("(float)(d[i] / d[n])") == "(tl.load(d + tid) / tl.load(d + n)).to(tl.float32)"


def test_halves_are_divided_as_floats():
    assert stored("(float)(h[i] / h[n])") == "tl.div_rn(part, value_2.to(tl.float32)).to(tl.float16).to(tl.float32)"


def test_what_asks_for_an_approximation_gets_one():
    assert stored("__fdividef(a[i], b)") == "tl.load(a + tid) / b"
