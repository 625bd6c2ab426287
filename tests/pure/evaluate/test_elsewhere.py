"""Functions that a program declares and another file of its library defines."""

import pytest

from porter.evaluate.elsewhere import defined_elsewhere
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source.text import Source

HEADER = "namespace lib { int blocks_of(int n); }\nvoid check(int code);\nint answer();\n"
SOURCE = '#include "sizes.h"\nvoid f(int n) { k<<<lib::blocks_of(n), 64>>>(n); check(0); }\n'
SIZES = """#include "sizes.h"
#include <missing.h>
static int rounded(int n) { return (n + 63) / 64; }
namespace lib { int blocks_of(int n) { return rounded(n); } }
void check(int code) { if (code) answer(); }
int unused() { return 1; }
"""


@pytest.fixture
def taken(tmp_path):
    def found(**files):
        (tmp_path / ".git").mkdir()
        (tmp_path / "src").mkdir()
        (tmp_path / "op.cu").write_text(files.pop("op", SOURCE))
        for name, text in {"sizes_h": HEADER, **files}.items():
            folder = tmp_path / "src" if name.startswith("src_") else tmp_path
            (folder / name.removeprefix("src_").replace("_", ".")).write_text(text)
        source = Source(tmp_path / "op.cu", (tmp_path / "op.cu").read_text())
        return defined_elsewhere(parse(source, headers=DiskHeaders()))

    return found


@pytest.mark.parametrize("name", ["sizes_cpp", "src_sizes_c", "other_cu"])
def test_a_function_is_taken_from_the_file_beside_who_declares_it_or_one_called_alike(taken, name):
    (one,) = taken(**{name: SIZES})
    assert one.names == ("blocks_of", "check")
    assert "rounded(int n)" in one.piece.text
    assert "unused" not in one.piece.text
    assert "#include" not in one.piece.text
    assert one.piece.text.count("\n") == SIZES.count("\n")


def test_what_such_a_function_calls_is_taken_from_a_third_file(taken):
    found = taken(sizes_cpp=SIZES, answer_cpp="int answer() { return 42; }\n")
    assert [one.names for one in found] == [("blocks_of", "check"), ("answer",)]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"sizes_cpp": SIZES, "more_cpp": SIZES},
        {"src_other_cpp": SIZES},
        {"sizes_cpp": "int blocks_of(int n);\nvoid check(int code);\n"},
        {"sizes_cpp": "int check = 3;\nvoid g() { if (lib::blocks_of(3)) { check(3); } }\n"},
        {"sizes_cpp": SIZES, "op": '#include "sizes.h"\nvoid f(int n) { k<<<n, 64>>>(n); }\n'},
        {"sizes_cpp": SIZES, "sizes_h": HEADER + "int lib::blocks_of(int n) { return n; }\nvoid check(int code) {}\n"},
    ],
)
def test_nothing_is_taken_that_is_not_called_or_not_defined_once(taken, files):
    assert taken(**files) == ()


def test_a_function_that_launches_a_kernel_is_left_where_it_is(taken):
    launches = "__global__ void other(int n) {}\nvoid check(int code) { other<<<1, 32>>>(code); }\n"
    assert taken(sizes_cu=launches) == ()
