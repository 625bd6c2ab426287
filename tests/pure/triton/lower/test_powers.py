"""Powers whose exponent is a small whole number of the source become products."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def stored(expression: str) -> str:
    """Returns what is stored for an expression of a thread's float `v` and double `d`."""
    head = "__global__ void k(const float* x, const double* z, double* y, int n) { float v = x[0]; double d = z[0]; "
    unit = read_unit(parse(Source(Path("op.cu"), f"{head} y[threadIdx.x] = {expression}; }}")))
    text = lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text
    return text.split("tl.store(")[1]


@pytest.mark.parametrize(
    ("expression", "product"),
    [
        ("powf(v, 2)", "v * v"),
        ("powf(v, 2.0f)", "v * v"),
        ("std::pow(d, 2)", "d * d"),
        ("pow(d, 3.0)", "d * d * d"),
        ("powf(v, 4)", "square * square"),
        ("powf(v + 1.0f, 2)", "base * base"),
        ("powf(v, -1)", "tl.div_rn(1.0, v)"),
    ],
)
def test_products(expression, product):
    assert product in stored(expression)


@pytest.mark.parametrize("expression", ["powf(v, 0.5f)", "pow(d, 5)", "powf(v, n)", "powf(2.0f, v)", "powf(v, 0.0f)"])
def test_other_powers_are_asked_of_the_helper(expression):
    assert "power(" in stored(expression)


def test_a_power_of_a_float_to_an_int_is_one_of_doubles():
    assert "base * base" in stored("pow(v, 2)")
    assert "v * v" in stored("pow(v, 2.0f)")
