"""Marks in C++ text: what is marked, what is left as it is, and which sides are errors."""

from pathlib import Path

import pytest

from porter.simt.branch_edits import BranchMarks
from porter.simt.translate import translate
from porter.source_text import Source


def marked(text):
    marks = BranchMarks()
    _, _, body = translate(Source(Path("op.cu"), text), marks=marks).partition("\n")
    return body.replace("::porter::simt::", "").replace("static_cast<bool>", ""), marks.sides


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("if (n > 4) f();", "if (went<0>((n > 4))) f();"),
        ("if (int k = n; k > 4) f();", "if (int k = n; went<0>((k > 4))) f();"),
        ("while (n > 4) f();", "PORTER_LOOP(0) while (turned<0>(porter_turn_0, (n > 4))) f();"),
        (
            "if (a) for (int i = 0; i < n; ++i) f(); else g();",
            "if (went<0>((a))) PORTER_LOOP(2) for (int i = 0; turned<2>(porter_turn_2, (i < n)); ++i) f(); else g();",
        ),
        ("do f(); while (n > 4);", "do f(); while (went<0>((n > 4)));"),
        ("n = min((m + 3) / 4, 64);", "n = picked<0>(min((m + 3) / 4, 64), 64);"),
        ("n = std::max(LEAST, f(m));", "n = picked<0>(std::max(LEAST, f(m)), LEAST);"),
        ("n = min(max(m, 0), M);", "n = picked<0>(min(picked<2>(max(m, 0), 0), M), M);"),
        ("x = a[i] > (b) ? 1 : 2;", "x = went<0>((a[i] > (b))) ? 1 : 2;"),
        ("return a ? b ? 1 : 2 : 3;", "return went<0>((a)) ? went<2>((b)) ? 1 : 2 : 3;"),
        ("if (a ? b : c) f();", "if (went<0>((went<2>((a)) ? b : c))) f();"),
        (
            "switch (n) { case 1: f(); default: g(); }",
            "switch (n) { case 1: came<0>(); f(); default: came<1>(); g(); }",
        ),
        (
            "if constexpr (N > 4) { f(); } else { g(); }",
            "if constexpr (N > 4) { came<0>(); f(); } else { came<1>(); g(); }",
        ),
        ("if (a && b) f();", "if (went<0>((went<2>((a)) && went<4>((b))))) f();"),
        (
            "for (int i = 0; i < n && !done(i, n); ++i) f();",
            "PORTER_LOOP(0) for (int i = 0; turned<0>(porter_turn_0, "
            "(went<4>((i < n)) && went<6>((!done(i, n))))); ++i) f();",
        ),
        (
            "if (!(a || b) && (c && d)) f();",
            "if (went<0>((!(went<2>((a)) || went<4>((b))) && (went<6>((c)) && went<8>((d)))))) f();",
        ),
        ("if ((a || b) && c) f();", "if (went<0>((went<2>(((went<4>((a)) || went<6>((b))))) && went<8>((c))))) f();"),
        ("return a || b && c;", "return went<0>((went<2>((a)) || went<4>((went<6>((b)) && went<8>((c))))));"),
        ("bool in = x >= 0 && x < n;", "bool in = went<0>((went<2>((x >= 0)) && went<4>((x < n))));"),
        ("#define CLAMP(n) if (n > 4) n = 4\n", "#define CLAMP(n) if (went<0>((n > 4))) n = 4\n"),
        ("__global__ void k(int n) { f(); }", "__global__ void k(int n) { PORTER_INSTANCE(0)  f(); }"),
        (
            "i = blockIdx.x * n + f(blockIdx.x, blockIdx.y);",
            "i = placed<0>(blockIdx.x) * n + f(placed<0>(blockIdx.x), placed<2>(blockIdx.y));",
        ),
        (
            "__device__ int f() { return blockIdx.x; } __device__ int g() { return blockIdx.x; }",
            "__device__ int f() { return placed<0>(blockIdx.x); } __device__ int g() { return placed<2>(blockIdx.x); }",
        ),
        ("if (blockIdx.x == 0) f();", "if (went<0>((placed<2>(blockIdx.x) == 0))) f();"),
    ],
)
def test_what_is_marked(text, want):
    assert marked(text)[0] == want


@pytest.mark.parametrize(
    "text",
    [
        "if (float* p = find(n)) f(p);",
        "while (true) f();",
        "float max(float a, float b);",
        "template <class T> T min(const T& a, T b);",
        "#define max(a, b) f(a, b)\n",
        "n = max(f(n), a[n]);",
        "n = limits.max(n, 4);",
        "n = Limits<int, long>::max(n, 4);",
        "for (;;) f();",
        "auto x = static_cast<T&&>(y);",
        "return Both<A && B>::value;",
        "return Both<A && B>()(x);",
        "template <class T, bool both = A && B> struct S { int n; };",
        "f(a && b);",
        "for (auto x : xs) f();",
        "__global__ void k(int n);",
        "template <int N = 4> struct S { bool operator==(S) const; };",
    ],
)
def test_what_stays_as_it_is(text):
    assert marked(text) == (text, [])


def test_lines_and_columns_are_those_of_the_source():
    _, sides = marked("int f(int n) {\n  if (n) return 1;\n  return 0;\n}")
    assert [(side.line, side.column, side.way, side.text) for side in sides] == [
        (2, 7, "true", "n"),
        (2, 7, "false", "n"),
    ]


def test_of_an_operand_the_outcome_by_which_it_decides_is_a_side():
    _, sides = marked("if (a && (b || c)) f();")
    assert [(side.text, side.way) for side in sides if side.part_of == "a && (b || c)"] == [
        ("a", ""),
        ("a", "false"),
        ("(b || c)", ""),
        ("(b || c)", "false"),
        ("b", "true"),
        ("b", ""),
        ("c", "true"),
        ("c", ""),
    ]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("if (n < 0) throw std::runtime_error(\"n\");", ["true"]),
        ("if (n < 0) { std::fprintf(stderr, \"n\"); return; }", ["true"]),
        ("if (n < 0) return cudaErrorInvalidValue;", ["true"]),
        ("if (n < 0) return -1;", ["true"]),
        ("if (n < 0) exit(1);", ["true"]),
        ("if (n < 0) { TORCH_CHECK(false, \"n\"); }", ["true"]),
        ("if (n > 0) { f(); } else { AT_ERROR(\"n\"); }", ["false"]),
        ("if (e != cudaSuccess) return e;", ["true"]),
        ("if (n == 0) return;", []),
        ("if (n > 4096) n = 4096;", []),
        ("if (bias) TORCH_CHECK(bias.is_cuda());", []),
        ("if (n > 4) { fprintf(stderr, \"big\"); k<<<1, 2>>>(n); }", []),
        ("switch (n) { case 1: f(); break; default: throw n; }", ["taken"]),
    ],
)  # fmt: skip
def test_which_sides_end_in_an_error(text, ways):
    assert [side.way for side in marked(text)[1] if side.fails] == ways
