"""Loops over windows that borders cut off turn as often as a whole window is long, without asking the threads."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def lowered(body: str) -> str:
    head = "__global__ void k(const float* x, const int* starts, float* y, int n, int size, int pad) {"
    unit = read_unit(
        parse(Source(Path("op.cu"), f"{head} int i = threadIdx.x; float s = 0.0f;\n{body}\n y[i] = s; }}"))
    )
    return lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text


@pytest.mark.parametrize(
    "body",
    [
        "for (int w = max(i - pad, 0); w < min(i - pad + size, n); ++w) s += x[w];",
        "const int a = i - pad, b = min(a + size, n); for (int w = max(0, a); w < b; w++) s += x[w];",
        "const int a = i - pad; const int e = min(n, min(size + a, 99)); for (int w = a; w < e; ++w) s += x[w];",
    ],
)
def test_a_window_is_as_long_as_its_text_says(body):
    text = lowered(body)
    assert "for turn in range(size):" in text
    assert "tl.max(" not in text


@pytest.mark.parametrize(
    "body",
    [
        "for (int w = max(i - pad, 0); w < min(i + size, n); ++w) s += x[w];",
        "int k = size; const int b = min(i + k, n); k = 1; for (int w = i; w < b; ++w) s += x[w];",
        "int a = i - pad; const int b = min(a + size, n); a = 0; for (int w = a; w < b; ++w) s += x[w];",
        "for (int w = max(starts[i], 0); w < min(starts[i] + size, n); ++w) { y[w] = 1.0f; s += x[w]; }",
        "for (int w = max(i - pad, 0); w < min(i - pad + i, n); ++w) s += x[w];",
        "const int b = min(i + size, n); { int size = 1; for (int w = i; w < b; ++w) s += x[w] * size; }",
    ],
)
def test_what_is_no_such_window_asks_the_threads(body):
    text = lowered(body)
    assert "tl.max(" in text or "tl.min(" in text
    assert "range(size)" not in text
