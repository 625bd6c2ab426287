"""The loads of a few turns that move vectors come first."""

import re
from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

_BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))
_MOVED = "float4 v = x[i + k]; v.x *= a; v.y *= a; v.z *= a; v.w *= a;"


def lowered(body):
    head = "__global__ void k(const float4* x, float4* y, float a, int n) { int i = 4 * threadIdx.x; float t = 0;"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head} {body} }}")))
    return lower_kernel(unit, unit.kernels[-1], LaunchInfo(_BLOCK)).text


def order(text):
    return re.findall(r"(?:load|store)_tile|for", text)


def test_loads_come_before_stores():
    text = lowered(f"for (int k = 0; k < 4; ++k) {{ {_MOVED} y[i + k] = v; }}")
    assert order(text) == ["load_tile"] * 4 + ["store_tile"] * 4, text
    assert "load_tile(x + (i + 3) * 4, 4)" in text


def test_counters_begin_and_step_as_the_loop_does():
    text = lowered(f"for (int k = 2; k < 9; k += 3) {{ {_MOVED} y[i + k] = v; }}")
    assert [f"(i + {k}) * 4" in text for k in range(10)] == [k in {2, 5, 8} for k in range(10)], text


def test_what_is_handed_on_is_computed_in_order():
    text = lowered(f"for (int k = 0; k < 2; ++k) {{ {_MOVED} t = t * a + v.x; y[i + k] = v; }} ((float*)y)[i] = t;")
    sums = ["t = t * a", "store4"]
    assert re.findall(r"load4|t = t \* a|store4", text) == ["load4", "load4", *sums, *sums]


@pytest.mark.parametrize(
    "loop",
    [
        f"for (int k = 0; k < n; ++k) {{ {_MOVED} y[i + k] = v; }}",
        f"for (int k = 0; k < 9; ++k) {{ {_MOVED} y[i + k] = v; }}",
        f"y[i] = x[i]; for (int k = 0; k < 4; ++k) {{ {_MOVED.replace('x[', 'y[')} y[i + k + 1] = v; }}",
        f"for (int k = 0; k < 4; ++k) {{ {_MOVED} t += v.x + v.y + v.z + v.w; }} ((float*)y)[i] = t;",
    ],
    ids=["turns of a run", "many turns", "the same buffer", "nothing stored"],
)
def test_other_loops_stay(loop):
    assert "for" in order(lowered(loop))
