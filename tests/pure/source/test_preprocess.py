"""Macros that change the syntax are expanded with their places kept; the others stay as the user wrote them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.source.lexer import tokens
from porter.source.parse import parse
from porter.source.preprocess import preprocess
from porter.source_text import Source

LOOP = "#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)\n"


def program(text, **kwargs):
    return parse(Source(Path("x.cu"), text), **kwargs)


def expanded(text, **kwargs):
    source = Source(Path("x.cu"), text)
    return preprocess(source, tokens(text), **kwargs).expansion.text


def test_macros_that_read_as_cpp_stay():
    text = "#define N 128\n#define UP(a, b) (((a) + (b) - 1) / (b))\nint x = UP(n, N);\n"
    assert expanded(text) == text


def test_a_macro_that_generates_kernels_and_launchers():
    text = (
        "#define UNARY(name, T, expr) \\\n"
        "  __global__ void name##_kernel(T* x, int n) { T v = x[n]; x[n] = expr; } \\\n"
        "  void name(T* x, int n) { name##_kernel<<<(n + 255) / 256, 256>>>(x, n); }\n"
        "UNARY(relu, float, v > 0 ? v : 0)\nUNARY(square, half, v * v)\n"
    )
    p = program(text)
    assert [(k.name, k.span.line, k.params[0].type.base) for k in p.kernels] == [
        ("relu_kernel", 4, "float"), ("square_kernel", 5, "half"),
    ]  # fmt: skip
    assert p.source.slice(p.kernels[1].span) == "UNARY(square, half, v * v)"
    assert [(x.kernel, x.inside, x.span.line) for x in p.launches] == [
        ("relu_kernel", "relu", 4),
        ("square_kernel", "square", 5),
    ]
    assert p.not_understood == ()


def test_a_loop_macro_leaves_the_kernel_at_its_own_place():
    text = LOOP + "__global__ void k(float* x, int n) {\n  LOOP(i, n) { x[i] = 0; }\n}\n"
    p = program(text)
    assert p.not_understood == ()
    assert p.source.slice(p.kernels[0].body) == "{\n  LOOP(i, n) { x[i] = 0; }\n}"


def test_launch_in_a_macro_and_launch_in_an_argument():
    text = (
        "#define CHECK(x) do { cudaError_t e = (x); if (e) abort(); } while (0)\n"
        "#define LAUNCH(T, k, ...) k<T><<<grid, 32>>>(__VA_ARGS__)\n"
        "void go(float* x) {\n  LAUNCH(float, k, x, 3);\n  CHECK((j<<<1, 64>>>(x), cudaGetLastError()));\n}\n"
    )
    p = program(text)
    first, second = p.launches
    assert (first.kernel, first.template_args, [a.text for a in first.args]) == ("k", ("float",), ["x", "3"])
    assert p.source.slice(first.span) == "LAUNCH(float, k, x, 3)"
    assert p.source.slice(second.span) == "j<<<1, 64>>>(x)"
    assert {x.inside for x in p.launches} == {"go"}


def test_a_macro_given_statements_reads_as_a_block():
    text = (
        "#define DISPATCH(n, D, ...) switch (n) { case 64: { constexpr int D = 64; __VA_ARGS__ } }\n"
        "void go(float* x, int n) {\n"
        "  DISPATCH(n, D, { int m = n; k<D><<<1, m>>>(x); });\n"
        "  UNKNOWN_DISPATCH(n, T, using U = T; j<U><<<1, 2>>>(x););\n}\n"
    )
    p = program(text)
    assert p.not_understood == ()
    assert [(x.kernel, x.inside, p.source.slice(x.span)) for x in p.launches] == [
        ("k", "go", "k<D><<<1, m>>>(x)"),
        ("j", "go", "j<U><<<1, 2>>>(x)"),
    ]


def test_conditionals_that_split_a_declaration():
    text = (
        "#ifdef USE_ROCM\n__global__ void k(int* x,\n"
        "#else\ntemplate <typename T> __global__ void k(T* x,\n#endif\n    int n) {}\n"
    )
    p = program(text)
    assert [(k.name, k.template[0].name, k.span.line) for k in p.kernels] == [("k", "T", 4)]
    assert p.not_understood == ()


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("#if __CUDA_ARCH__ >= 700", True),
        ("#if defined(USE_ROCM) || CUDA_VERSION < 9000", False),
        ("#if !defined(__HIP_PLATFORM_AMD__) && defined __CUDACC__", True),
        ("#ifndef __CUDACC__", False),
        ("#if 0", False),
        ("#if WIDTH == 2 * 16", True),
        ("#if UNKNOWN", False),
        ("#if (WIDTH > 16 ? 1 : 1 / 0)", True),
        ("#if __has_include(<nothing.h>)", False),
    ],
)
def test_conditions(condition, taken):
    p = program(f"#define WIDTH 32\n{condition}\n__global__ void a() {{}}\n#else\n__global__ void b() {{}}\n#endif\n")
    assert [k.name for k in p.kernels] == ["a" if taken else "b"]
    assert [f.code for f in p.findings] == ["PORT2004"]


def test_defines_bring_a_branch_in():
    text = "#ifdef BF16\n__global__ void k() {}\n#endif\nvoid f() {}"
    assert program(text).kernels == ()
    assert [k.name for k in program(text, defines=("BF16",)).kernels] == ["k"]


def test_macros_of_headers_count():
    header = Source(Path("make.h"), "#pragma once\n#define MAKE(name) __global__ void name(float* x) { x[0] = 0; }\n")
    text = '#include "make.h"\nMAKE(zero)\n'
    assert program(text).kernels == ()
    found = program(text, headers=lambda name, _: header if name == "make.h" else None)
    assert [(k.name, k.span.line) for k in found.kernels] == [("zero", 2)]


@pytest.mark.parametrize(
    ("macros", "use", "wanted"),
    [
        ("#define S(x) f(#x);\n", 'S(a "b" + c)', 'f("a \\"b\\" + c");'),
        ("#define CAT_(a, b) a##b;\n#define CAT(a, b) CAT_(a, b)\n#define N 4\n", "CAT(x, N)", "x4;"),
        ("#define F(...) g(0, ##__VA_ARGS__);\n", "F()", "g(0);"),
        ("#define F(...) g(0, ##__VA_ARGS__);\n", "F(1, 2)", "g(0, 1, 2);"),
        ("#define F(rest...) g(rest);\n", "F(1, 2)", "g(1, 2);"),
        ("#define F(x) F(x + 1);\n", "F(1)", "F(1 + 1);"),
        ("#define OPEN {\n#define CLOSE }\n", "OPEN x; CLOSE", "{ x; }"),
        ("#define NEG(x) -x;\n", "NEG(-1)", "- -1;"),
        ("#define A B;\n#define B A\n", "A", "A;"),
    ],
)
def test_expansion_follows_the_standard(macros, use, wanted):
    result = expanded(macros + use).removeprefix(macros)
    assert result.split() == wanted.split() or "".join(result.split()) == "".join(wanted.split())


def test_macros_that_double_themselves_end():
    text = "".join(["#define X0 a; a;\n", *[f"#define X{i} X{i - 1} X{i - 1}\n" for i in range(1, 60)], "X59\n"])
    result = preprocess(Source(Path("x.cu"), text), tokens(text), most_tokens=10_000)
    assert result.exhausted
    assert len(result.expansion.text) < 1_000_000


def test_undef_ends_a_macro():
    assert expanded("#define Q int a;\n#undef Q\nQ").endswith("Q")


NAMES = st.sampled_from(["A", "B", "C", "x", "(", ")", ",", "{", "}", ";", "##", "#", " ", "\n", "1", "__VA_ARGS__"])
LINES = st.sampled_from(
    ["#define A {\n", "#define B(x) x ## A\n", "#define C(...) __VA_ARGS__; B(1)\n", "#if A\n", "#else\n", "#endif\n"]
)


@given(st.lists(st.one_of(NAMES, LINES), max_size=50).map("".join))
def test_every_character_of_an_expansion_comes_from_the_file(text):
    source = Source(Path("x.cu"), text)
    expansion = preprocess(source, tokens(text)).expansion
    for offset in range(len(expansion.text)):
        start, end = expansion.origin(offset, offset + 1)
        assert 0 <= start < end <= len(text)
        if expansion.is_copied(offset, offset + 1) and expansion.text[offset] not in " \n{};":
            assert text[start:end] == expansion.text[offset]
