"""Functions that a program declares and another file of its library defines."""

import pytest

from porter.evaluate.problem.elsewhere import defined_elsewhere
from porter.source.headers import DiskHeaders
from porter.source.parse import parse
from porter.source_text import Source

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
        {"one_cpp": SIZES, "more_cpp": SIZES},
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


def test_what_stands_beside_a_function_that_launches_a_kernel_is_taken(taken):
    launches = "__global__ void other(int n) {}\nvoid check(int code) { other<<<1, 32>>>(code); }\n"
    (one,) = taken(sizes_cu=SIZES.replace("void check(int code) { if (code) answer(); }", launches))
    assert one.names == ("blocks_of",)
    assert "other" not in one.piece.text


@pytest.mark.parametrize(
    ("body", "names"), [("return x * x;", ("squared",)), ("return __shfl_down_sync(0xffffffffu, x, 1);", ())]
)
def test_a_function_of_the_device_is_taken_unless_it_hangs_on_the_width_of_a_warp(taken, body, names):
    op = '#include "math.h"\n__global__ void k(float* y) { y[threadIdx.x] = squared(y[threadIdx.x]); }\n'
    head = "__device__ float squared(float x)"
    found = taken(op=op, math_h=f"{head};\n", math_cu=f'#include "math.h"\n{head} {{ {body} }}\n')
    assert tuple(name for one in found for name in one.names) == names


def test_of_overloads_all_are_taken(taken):
    overloads = SIZES + "namespace lib { int blocks_of(float n) { return 1; } }\n"
    (one,) = taken(sizes_cpp=overloads)
    assert one.piece.text.count("int blocks_of(") == 2


def test_alternatives_of_a_build_are_left_alone(taken):
    (one,) = taken(sizes_cpp=SIZES + "#ifdef OLD\nvoid check(int  code) {}\n#endif\n")
    assert one.names == ("blocks_of",)


def test_a_default_belongs_to_a_declaration_and_what_is_commented_out_defines_nothing(taken):
    header = HEADER.replace("void check(int code);", "void check(int code = 0);")
    (one,) = taken(
        sizes_cpp=SIZES, sizes_h=header, more_cpp="/*\nvoid check(int code)\n{\n}\n*/\n// int blocks_of(int n) {\n"
    )
    assert one.names == ("blocks_of", "check")


def test_of_several_files_the_one_called_like_the_header_is_meant(taken):
    (one,) = taken(sizes_cpp=SIZES, more_cpp="void check(int code) {}\n")
    assert (one.names, one.piece.path.name) == (("blocks_of", "check"), "sizes.cpp")
