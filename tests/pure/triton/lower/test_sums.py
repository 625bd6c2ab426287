"""Sums in loops that not all threads run through: those that do not add 0, where that changes nothing."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

_ONE_BY_ONE = LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)), together=False)


def lowered(body: str) -> str:
    head = "__global__ void k(const float* x, const __half* h, float* y, int n) { int t = threadIdx.x;"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}\n{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], _ONE_BY_ONE).text


def test_what_is_loaded_is_zero_where_nothing_is():
    text = lowered("float s = 0.0f; for (int j = t; j < n; j += 64) s += x[j]; y[t] = s;")
    assert "s = s + tl.load(x + j, mask=j < n, other=0.0)\n" in text


def test_so_are_halves_that_are_summed_as_floats():
    text = lowered("float s = 0.0f; for (int j = t; j < n; j += 64) s += (float)h[j]; y[t] = s;")
    assert "s = s + tl.load(h + j, mask=j < n, other=0.0).to(tl.float32)\n" in text


def test_what_is_made_of_it_is_added_under_the_mask():
    text = lowered("float s = 1.0f; for (int j = t; j < n; j += 64) { float d = x[j] - 2.0f; s -= d * d; } y[t] = s;")
    assert "s = s - tl.where(mask, d * d, 0.0)\n" in text


def test_another_value_after_the_loop_does_not_matter():
    text = lowered("float s = 0.0f; for (int j = t; j < n; j += 64) s += x[j]; s = -s; y[t] = s;")
    assert "other=0.0)" in text


@pytest.mark.parametrize(
    "body",
    [
        "float s = x[t]; for (int j = t; j < n; j += 64) s += x[j]; y[t] = s;",
        "float s = -0.0f; for (int j = t; j < n; j += 64) s += x[j]; y[t] = s;",
        "float s = 0.0f; s = x[t]; for (int j = t; j < n; j += 64) s += x[j]; y[t] = s;",
        "float s = 0.0f; for (int j = t; j < n; j += 64) { s += x[j]; s = -s; } y[t] = s;",
        "float s = 0.0f; for (int j = t; j < n; j += 64) { s += x[j]; if (x[j] > 1.0f) s *= -1.0f; } y[t] = s;",
        "float s = 0.0f; for (int j = t; j < n; j += 64) s += x[j] * 1e-60; y[t] = s;",  # rounded, it may be -0
    ],
)
def test_what_may_be_minus_zero_stays_as_it_is_where_a_thread_does_not_run(body):
    text = lowered(body)
    assert "other=0.0" not in text
    assert ", 0.0)" not in text
