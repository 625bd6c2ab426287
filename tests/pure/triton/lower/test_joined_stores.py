"""Where both sides of an `if` store to one place there is one store of a choice."""

from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel


def stores(body: str) -> list[str]:
    """The stores that become of `body`, with a thread's number `i` and its float `v` at hand."""
    head = "__global__ void k(const float* x, float* y, int* z, int n) { int i = threadIdx.x; float v = x[i];\n"
    unit = read_unit(parse(Source(Path("op.cu"), f"{head}{body}\n}}")))
    text = lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(64, ""), Dimension(1), Dimension(1)))).text
    return [line.strip() for line in text.splitlines() if "tl.store" in line]


def test_an_if_and_its_else():
    assert stores("if (v > 0.0f) y[i] = v; else y[i] = 2.0f;") == ["tl.store(y + tid, tl.where(v > 0.0, v, 2.0))"]


def test_what_returns_early_and_what_does_not_under_the_guard_around_both():
    assert stores("if (i >= n) return; if (v > 0.0f) { y[i] = v; return; } v = v * 3.0f; y[i] = v;") == [
        "tl.store(y + tid, v, mask=mask & (v > 0.0))",
        "tl.store(y + tid, v, mask=mask_2)",
    ]  # v is another one by then
    assert stores("if (i >= n) return; if (v > 0.0f) { y[i] = v; return; } float w = v * 3.0f; y[i] = w;") == [
        "tl.store(y + tid, tl.where(v > 0.0, v, w), mask=tid < n)"
    ]


def test_a_chain_becomes_a_choice_of_choices():
    assert stores("if (v > 1.0f) y[i] = 1.0f; else if (v < 0.0f) y[i] = 0.0f; else y[i] = v;") == [
        "tl.store(y + tid, tl.where(v > 1.0, 1.0, tl.where(v < 0.0, 0.0, v)))"
    ]


def test_values_of_two_types_are_converted_before_one_is_chosen():
    (line,) = stores("if (v > 0.0f) z[i] = v; else z[i] = n;")
    assert line == "tl.store(z + tid, tl.where(v > 0.0, v.to(tl.int32), n))"


def test_a_float_becomes_a_narrow_integer_by_way_of_32_bits_as_in_cuda():
    assert stores("z[i] = (unsigned char)v; z[i] = (short)v;") == [
        "tl.store(z + tid, v.to(tl.uint32).to(tl.uint8))",
        "tl.store(z + tid, v.to(tl.int32).to(tl.int16))",
    ]


def test_a_condition_that_a_side_changes_is_the_mask_it_was():
    assert stores("float w = v; if (v > 0.0f) { y[i] = w; v = n; } else { y[i] = 0.0f; } y[i + 64] = v;") == [
        "tl.store(y + tid, tl.where(mask, w, 0.0))",
        "tl.store(y + tid + 64, v)",
    ]


def test_other_places_and_what_happens_in_between_keep_two_stores():
    assert len(stores("if (v > 0.0f) y[i] = v; else y[i + 64] = v;")) == 2
    assert len(stores("if (v > 0.0f) { y[i] = v; y[i + 64] = v; } else y[i] = 0.0f;")) == 3
    assert len(stores("if (v > 0.0f) { y[i] = v; } else { atomicAdd(z, 1); y[i] = 0.0f; }")) == 2
    assert len(stores("if (v > 0.0f) y[i] = v; y[i] = 0.0f;")) == 2
    assert len(stores("if (v > 0.0f) y[n] = v; else y[n] = 0.0f;")) == 2  # one place for all threads
