"""Host functions whose bodies do not compile are declared instead."""

from __future__ import annotations

from pathlib import Path

from porter.simt.host_bodies import with_declarations, without_refusals
from porter.simt.kernel_slice import without_failing
from porter.source_text import Source

PATH = Path("/u/user.cu")


def without_lines(text: str, *lines: int) -> list[str]:
    (found,) = with_declarations((Source(PATH, text),), frozenset(("user.cu", line) for line in lines), ())
    return found.text.split("\n")


def test_the_body_of_a_host_function_goes_and_its_lines_stay():
    text = "void log(int level) {\n  library::print(level);\n}\nvoid other() { f(); }"
    assert without_lines(text, 2) == ["void log(int level) ;", "", "", "void other() { f(); }"]


def test_initialisers_of_a_constructor_belong_to_its_body():
    text = "struct Log {\n  Log(ns::Level level) noexcept\n    : level_(lib::of(level)) {}\n  int level_;\n};"
    assert without_lines(text, 3)[1:3] == ["  Log(ns::Level level) noexcept", "    ;"]


def test_what_may_run_on_the_device_or_in_a_constant_stays_and_so_does_what_has_no_error():
    text = "__device__ int f() {\n  return lib::g();\n}\nconstexpr int h() { return lib::g(); }\nint i() { return 1; }"
    assert without_lines(text, 2, 4) == text.split("\n")


def test_a_function_that_is_to_be_called_keeps_its_body():
    source = Source(PATH, "namespace n { void run() { lib::g(); } }\nvoid run() { lib::g(); }")
    (found,) = with_declarations((source,), frozenset({("user.cu", 1), ("user.cu", 2)}), (), frozenset({"n::run"}))
    assert found.text == "namespace n { void run() { lib::g(); } }\nvoid run() ;"


def test_lines_of_another_file_are_none_of_this_one():
    (kept,) = with_declarations((Source(PATH, "void f() { lib::g(); }"),), frozenset({("other.h", 1)}), ())
    assert kept.text == "void f() { lib::g(); }"


def test_a_declaration_goes_where_nothing_else_has_its_name():
    text = "using handle = lib::handle;\nint f(lib::a);\nint f(int);\n__device__ lib::a g();\n"
    (kept,) = without_failing((Source(PATH, text),), frozenset(("user.cu", line) for line in (1, 2, 4)))
    alias, *others = kept.text.split("\n")
    assert not alias.strip()
    assert others == text.split("\n")[1:]


def test_what_refuses_to_be_compiled_is_blanked():
    assert without_refusals('#if X\n  # error "no"\n#endif') == "#if X\n  \n#endif"
