"""Where both sides of an `if` set one variable or one element there is one assignment of a choice."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def lines(body: str) -> list[str]:
    """The statements that become of `body`, with a thread's number `i`, its float `v`, and `w` and `c` not yet set."""
    head = "__global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; float v = y[i], w; int c;\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    text = lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text
    found = [line.strip() for line in text.splitlines()]
    body = found[found.index("tid = tl.arange(0, 64)") + 1 :]
    return [line for line in body if line and not line.startswith(("#", "v = tl.load("))]


def test_a_variable_without_a_value_yet():
    assert lines("if (v > 0.0f) w = v; else w = 2.0f; y[i] = w;") == [
        "w = tl.where(v > 0.0, v, 2.0)",
        "tl.store(y + tid, w)",
    ]


def test_a_chain_becomes_a_choice_of_choices():
    assert lines("if (v > 1.0f) c = 1; else if (v < 0.0f) c = -1; else c = 0; y[i] = c;") == [
        "c = tl.where(v > 1.0, 1, tl.where(v < 0.0, -1, 0))",
        "tl.store(y + tid, c)",
    ]


def test_two_variables_of_which_one_is_what_the_condition_asks():
    assert lines("w = 1.0f; if (v > 0.0f) { v = v - 1.0f; w = 2.0f; } else { v = 0.0f; w = 3.0f; } y[i] = v * w;") == [
        "mask = v > 0.0",
        "v = tl.where(mask, v - 1.0, 0.0)",
        "w = tl.where(mask, 2.0, 3.0)",
        "tl.store(y + tid, v * w)",
    ]


def test_a_load_and_a_number_are_a_load_with_that_elsewhere():
    assert lines("if (i < n) w = x[i]; else w = 1.0f; y[i] = w;") == [
        "w = tl.load(x + tid, mask=tid < n, other=1.0)",
        "tl.store(y + tid, w)",
    ]
    assert lines("__shared__ float s[64]; if (i >= n) s[i] = 0.0f; else s[i] = x[i]; y[i] = s[i];") == [
        "s = tl.load(x + tid, mask=tid < n, other=0.0)",
        "tl.store(y + tid, s)",
    ]


def test_what_is_read_or_set_again_between_stays_as_it_is():
    found = lines("w = v; if (v > 0.0f) { w = 1.0f; y[i] = w; } else { y[i + 64] = w; w = 2.0f; } y[i + 128] = w;")
    assert sum(line.startswith("w = tl.where") for line in found) == 2
    found = lines("w = v; if (v > 0.0f) w = 1.0f; else { w = v; w = w * w + v; } y[i] = w;")
    assert sum(line.startswith("w = tl.where") for line in found) == 3


def test_lanes_of_neither_side_keep_what_they_had():
    found = lines("w = v; if (i < n) { if (v > 0.0f) w = 1.0f; else w = 2.0f; } y[i] = w;")
    assert "w = tl.where(tid < n, tl.where(v > 0.0, 1.0, 2.0), v)" in found
