"""A loop that few threads have turns as often as they need, not at all where none has it, and is no loop if short."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def lowered(body: str) -> str:
    head = "__global__ void k(float* y, int n, int m) {\nint i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text


def test_the_range_ends_where_the_threads_that_run_end():
    text = lowered("if (i + 3 >= n) for (int j = i; j < n; ++j) y[j] = 0;")
    assert "end = tl.max(tl.where(mask, n - tid * 4, begin), axis=0)\n" in text
    assert "for j_base in range(begin, end):" in text


def test_the_same_after_those_who_leave():
    assert "tl.max(" in lowered("if (i + 3 < n) return;\nfor (int j = i; j < n; ++j) y[j] = 0;")


def test_where_all_threads_run_or_each_is_within_a_step_nothing_is_asked():
    assert "tl.max(" not in lowered("for (int j = i; j < n; ++j) y[j] = 0;")
    assert "tl.max(" not in lowered("if (i < n) for (int j = threadIdx.x; j < m; j += 64) y[i + j] = 0;")


def test_few_turns_that_threads_may_leave_are_written_out_each_under_the_mask_of_those_that_are_left():
    text = lowered("for (int k = 0; k < 4; ++k) { if (i + k >= n) return; y[i + k] = k; }")
    assert "while " not in text
    assert text.count("tl.store(") == 4


def test_many_turns_stay_a_loop():
    assert "while " in lowered("for (int k = 0; k < 16; ++k) { if (i + k >= n) return; y[i + k] = k; }")
    assert "while " in lowered(
        "for (int j = 0; j < 4; ++j) for (int k = 0; k < 4; ++k) { if (i + k >= n) return; y[i + j + k] = k; }"
    )
