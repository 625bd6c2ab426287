"""A `while` that the launch alone decides stands under a condition that Triton's compiler drops."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

HALVES = "for (int s = {start}; s > 0; s >>= 1) y[s] += x[s];"


def lowered(body, extent=None):
    head = "__global__ void k(float* y, const float* x, int n) {\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    block = (Dimension(32, "BLOCK_X"), Dimension(extent, "BLOCK_Y" if extent != 1 else ""), Dimension(1))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo(block)).text


def test_where_a_constexpr_decides_the_condition_is_one():
    text = lowered(HALVES.format(start="blockDim.y / 2"))
    assert "    s = BLOCK_Y // 2\n    if BLOCK_Y // 2 > 0:\n        while s > 0:\n" in text


def test_where_the_block_is_known_there_is_no_loop_or_no_condition():
    assert "while" not in lowered(HALVES.format(start="blockDim.y / 2"), extent=1)
    text = lowered(HALVES.format(start="blockDim.y / 2"), extent=8)
    assert "while s > 0:" in text
    assert "if" not in text


def test_where_a_run_decides_nothing_is_asked_before():
    assert "if" not in lowered(HALVES.format(start="n"))
    changed = "int s = blockDim.y;\nif (n > 3) s = n;\nwhile (s > 0) { y[s] += x[s]; s /= 2; }"
    text = lowered(changed)
    assert "BLOCK_Y > 0" not in text
    assert "while s > 0:" in text
