"""What kind of file it is, said in findings."""

from pathlib import Path

import pytest

from porter.diagnostics.catalogue import core_catalogue
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = "__global__ void k(float* x) {}\n"


@pytest.mark.parametrize(
    ("code", "line", "text"),
    [
        ("PORT2001", 2, KERNEL + "__global__ void j(int* x) { x[0] = = 1; }"),
        ("PORT2003", None, "float half_of(float x) { return x / 2; }"),
        ("PORT2004", 3, KERNEL + "#ifdef NEVER\n__global__ void j() {}\n#endif\n"),
        ("PORT2006", 1, "void go(at::TensorIterator& it) { gpu_kernel(it, [] GPU_LAMBDA (float a) { return a; }); }"),
        ("PORT2007", 2, "#include <thrust/sort.h>\nvoid go(float* x) { thrust::sort(thrust::device, x, x + 1); }"),
        ("PORT2008", 2, KERNEL + "__global__ void j(cudaTextureObject_t t) { tex2D<float>(t, 0, 0); }"),
        ("PORT2009", 2, KERNEL + "__global__ void j() { cooperative_groups::this_grid().sync(); }"),
        ("PORT2009", 3, KERNEL + "__global__ void j() {\nauto g = cg::this_grid(); g.sync(); }"),
        ("PORT2009", 2, KERNEL + "__global__ void j(cg::grid_group g) { cg::sync(g); }"),
        ("PORT2010", 2, KERNEL + "__global__ void j(float* x) { k<<<1, 1>>>(x); }"),
        ("PORT2011", 2, KERNEL + "void go(float* x) { elsewhere<<<1, 1>>>(x); }"),
        ("PORT2013", 2, KERNEL + "void run(float* x) { k<<<1, 1>>>(x); } void go(float* x) { run<<<1, 1>>>(x); }"),
    ],
)
def test_findings_at_their_lines(code, line, text):
    (found,) = parse(Source(Path("x.cu"), text)).findings
    assert found.code == code
    assert (found.span.line if found.span else None) == line
    assert found.message


@pytest.mark.parametrize("held", ["auto chosen = a ? k : k;", "void (*chosen)(float*); chosen = k;"])
def test_a_variable_that_holds_a_kernel_is_no_kernel_of_another_file(held):
    text = KERNEL + f"void go(float* x, int a) {{ {held} chosen<<<1, 1>>>(x); }}"
    assert not parse(Source(Path("x.cu"), text)).findings


def read_with_headers(name, text):
    """The findings on a file beside which there is no header."""
    return parse(Source(Path(name), text), headers=lambda *_: None).findings


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [
        (3, 14, KERNEL + "void go(int n) {\n  if (n > 0) {\n    k<<<1, 1>>>(0);\n\nvoid other() {}\n"),
        (2, 32, KERNEL + "void go(float* x) { k<<<1, 1>>>(x, "),
        (2, 24, KERNEL + "void go(float* x) { run(x; }"),
        (3, 1, KERNEL + "void go() {}\n}\nvoid other() {}"),
        (2, 19, KERNEL + "void go() { run(1)); }"),
        (2, 15, KERNEL + "namespace ops { void go() {}"),
        (2, 1, KERNEL + "#ifdef A\n#if B\n#endif\nvoid go() {}"),
        (2, 1, KERNEL + "/* begins"),
        (2, 16, '#include "absent.h"\nvoid go(int n) {\nif (n) { }\n'),
    ],
)
def test_a_file_that_ends_too_early_says_where(line, column, text):
    found = next(f for f in read_with_headers("x.cu", text) if f.code == "PORT2014")
    assert (found.span.line, found.span.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "#if 0\n{ ( /*\n*/\n#endif\n" + KERNEL,
        KERNEL + "// {\nconst char* brace = \"{ (\"; char other = '(';",
        "#ifdef A\n__global__ void k() {\n#else\n__global__ void k() { {} \n#endif\n}",
        "#define BEGIN namespace ops {\n#define END }\nBEGIN\n" + KERNEL + "END",
        "#define LOOP(i, n) for (int i = 0; i < n; ++i) {\n#define DONE }\n__global__ void k() { LOOP(i, 4) DONE }",
        '#include "absent.h"\nnamespace ops {\n' + KERNEL + "END_NAMESPACE\n",
        '#include "absent.h"\nextern "C" {\n' + KERNEL + "END_C\n",
        '#include "absent.h"\nBEGIN_NAMESPACE(ops)\n' + KERNEL + "}\n",
    ],
)
def test_a_file_that_is_whole_or_may_be_is_none_that_ends_too_early(text):
    assert all(f.code != "PORT2014" for f in read_with_headers("x.cu", text))


def test_strings_of_python_files_may_be_put_together():
    assert all(f.code != "PORT2014" for f in read_with_headers("x.py", KERNEL + "void go() {"))


def test_an_ordinary_file_has_none():
    text = KERNEL + "void go(float* x, void (*f)(float*)) { k<<<1, 1>>>(x); f<<<1, 1>>>(x); }"
    assert parse(Source(Path("x.cu"), text)).findings == ()


@pytest.mark.parametrize(
    "held", ["auto g = cg::this_grid();", "cg::grid_group const g = cg::this_grid();", "cg::grid_group g;"]
)
def test_a_grid_that_is_only_asked_for_ranks_makes_nobody_wait(held):
    text = f"__global__ void k(float* x) {{ {held} x[g.thread_rank()] = 1; cg::this_thread_block().sync(); }}"
    assert parse(Source(Path("x.cu"), text)).findings == ()
    waits = parse(Source(Path("x.cu"), text.replace("this_thread_block()", "this_grid()"))).findings
    assert [f.code for f in waits] == ["PORT2009"]


def test_every_code_of_this_room_is_explained():
    codes = [c for c in core_catalogue() if c.startswith("PORT2")]
    assert len(codes) == 17
    assert all(len(core_catalogue()[c].explanation) > 100 for c in codes)


@pytest.mark.parametrize(
    ("conditions", "macro"),
    [
        ("#ifdef WITH_GPU\n#if N > 2", "WITH_GPU"),
        ("#if defined(WITH_GPU)\n#ifndef X\n#endif", "WITH_GPU"),
        ("#ifdef OTHER\n#else\n#endif\n#if N > 2", "NAME=VALUE"),
    ],
)
def test_a_kernel_that_is_not_compiled_names_the_macro_that_brings_it_in(conditions, macro):
    text = f"{conditions}\n__global__ void k() {{}}\nvoid f() {{ k<<<1, 1>>>(); }}\n"
    text += "#endif\n" * (conditions.count("#if") - conditions.count("#endif"))
    (only,) = parse(Source(Path("k.cu"), text)).findings
    assert (only.code, only.hint) == ("PORT2004", f"bring it in with --define {macro}")
