"""Host functions that another file defines, and what is printed for people."""

from __future__ import annotations

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import body, translated


def test_a_function_that_another_file_defines_raises_where_it_is_called():
    found = translated("""
        namespace checks { void report(const char* text, int line); }
        void f(float* y, const float* x, int n) {
          if (n < 0) checks::report("n", 3);
          add<<<n, 32>>>(y, x, n);
        }""")
    assert 'def report(*arguments):\n    raise NotImplementedError("checks::report is declared' in found
    assert '    if n < 0:\n        report("n", 3)\n' in found


def test_the_grid_may_come_of_another_file():
    found = translated("""
        dim3 grid_of(size_t n);
        void f(float* y, const float* x, int n) { add<<<grid_of(n), 32>>>(y, x, n); }""")
    assert "extents = grid_of(n)\n    add[(extents[0], extents[1], extents[2])]" in found


def test_a_stream_that_another_file_gives_is_nothing():
    found = translated("""
        cudaStream_t current();
        void f(float* y, const float* x, int n) { add<<<n, 32, 0, current()>>>(y, x, n); }""")
    assert "current" not in found


def test_a_function_that_is_defined_nowhere_and_not_declared_is_refused():
    with pytest.raises(Refusal, match="the function 'grid_of' is not known"):
        translated("void f(float* y, float* x, int n) { add<<<grid_of(n), 32>>>(y, x, n); }")


def test_what_is_printed_for_people_is_left_out_whatever_its_name():
    launch = "add<<<n, 32>>>(y, x, n);"
    for said in ('std::fprintf(stderr, "%d", n);', 'fputs("odd", stderr);', 'perror("odd");'):
        assert body(f"{said} {launch}") == body(launch)


def test_a_condition_on_what_is_printed_need_not_be_known():
    found = body('if (Log::level() >= Log::LOUD) { fprintf(Log::file(), "%d", n); } add<<<n, 32>>>(y, x, n);')
    assert found.startswith("add[(n,)](y, x, n,")
    for text in (
        "if (Log::level() >= 3) add<<<n, 32>>>(y, x, n);",
        'if ((m = Log::level()) > 3) printf("%d", m);',
    ):
        with pytest.raises(Refusal, match="the function 'Log::level' is not known"):
            body(text)
