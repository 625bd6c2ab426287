"""What reads a copy reads what that is made of, as long as neither changes."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.lower.copies import read_originals
from porter_triton.lower.emit import Branch, Line, Loop, Suite, render

BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))


def lines(*nodes) -> list[str]:
    suite = Suite(list(nodes))
    read_originals(suite)
    return [line.strip() for line in render(suite)]


def copy(target: str, text: str) -> Line:
    return Line(text, target)


def test_a_copy_of_a_copy_is_read_as_the_first():
    assert lines(copy("b", "a"), copy("c", "b"), Line("f(c, b.c, c=c)")) == ["b = a", "c = a", "f(a, a.c, c=a)"]


@pytest.mark.parametrize("change", ["a", "b"])
def test_it_is_read_itself_once_either_changes(change):
    assert lines(copy("b", "a"), copy(change, "f()"), Line("g(b)"))[-1] == "g(b)"


def test_several_values_of_a_call_change_each_of_their_names():
    assert lines(copy("b", "a"), Line("f()", "x, a"), Line("g(b)"))[-1] == "g(b)"


def test_what_a_turn_changes_is_not_known_in_any():
    body = Suite([Line("g(b)"), copy("a", "f(a)")])
    assert lines(copy("b", "a"), Loop("", "b < n", body))[1:] == ["while b < n:", "g(b)", "a = f(a)"]


def test_a_loop_that_changes_neither_reads_the_original():
    body = Suite([Line("g(b, k)")])
    assert lines(copy("b", "a"), Loop("k", "range(b)", body))[1:] == ["for k in range(a):", "g(a, k)"]


def test_the_variable_of_a_loop_within_changes_with_its_turns():
    inner = Loop("a", "range(3)", Suite([Line("g(b)")]))
    assert lines(copy("b", "a"), Loop("k", "range(2)", Suite([inner])))[-1] == "g(b)"


def test_what_one_side_changes_is_not_known_behind_the_branch():
    branch = Branch("b", "not b", Suite([Line("g(b)"), copy("a", "f()")]), Suite([Line("h(b)")]))
    assert lines(copy("b", "a"), branch, Line("g(b)"))[1:] == ["if a:", "g(a)", "a = f()", "else:", "h(a)", "g(b)"]


def test_a_name_of_the_source_stays_where_its_value_has_one_that_was_made_up():
    made = Line("f()", "value", temporary=True)
    assert lines(made, copy("v", "value"), Line("g(v)"))[-1] == "g(v)"
    assert lines(copy("going", "True"), Line("g(going)"))[-1] == "g(going)"


def test_arguments_of_functions_leave_no_copies_behind():
    source = """__device__ float half_of(float v) { float w = v; w = w / 2; return w; }
    __global__ void k(float* y, float a) { float b = half_of(a), c = b; y[threadIdx.x] = c + half_of(c); }"""
    unit = read_unit(parse(Source(Path("op.cu"), source)))
    text = lower_kernel(unit, unit.kernels[0], LaunchInfo(BLOCK)).text
    assert " = a\n" not in text
    assert "a / 2" in text
