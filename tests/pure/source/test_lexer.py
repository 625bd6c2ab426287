"""Tokens cover the text, and launches are told from templates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.source.lexer import (
    TokenKind,
    directives,
    inside_directive,
    match_bracket,
    significant,
    split_arguments,
    tokens,
)

ODD = [
    "#define X",
    'R"d(',
    ')d"',
    "1'000",
    "0x1f",
    "1.5e-3f",
    "é",
    "operator",
    "\ufeff",
    "\\",
    "\0",
    "\\\n",
    "\r\n",
    "//",
    "/*",
    "*/",
]
FRAGMENTS = st.sampled_from([*"kn<>(){},; \n\"'#", "<<<", ">>>", ">>", "::", "__global__", *ODD])


def words(text):
    return [t.text for t in significant(tokens(text))]


@given(st.lists(FRAGMENTS, max_size=60).map("".join))
def test_tokens_joined_are_the_text(text):
    stream = tokens(text)
    assert "".join(t.text for t in stream) == text
    assert [t.start for t in stream] == [0, *[t.end for t in stream[:-1]]][: len(stream)]


@given(st.text(max_size=80))
def test_any_text_has_tokens(text):
    assert "".join(t.text for t in tokens(text)) == text


@pytest.mark.parametrize(
    ("text", "chevrons"),
    [
        ("k<T><<<g, b>>>(x)", ["<<<", ">>>"]),
        ("k << <g, b >> > (x)", ["<< <", ">> >"]),
        ("A<B<C<int>>> x;", []),
        ("k<<<1, f<int>>>>(x)", ["<<<", ">>>"]),
        ("k<<<f<g<h<int>>>(n), 128>>>(x)", ["<<<", ">>>"]),
        ("k<<<1, sizeof(A<B<C<int>>>)>>>()", ["<<<", ">>>"]),
        ("k<<<n >> 3, 4>>>(x)", ["<<<", ">>>"]),
        ("std::cout << a << b;", []),
        ("operator<< <T>(x)", []),
        ('"<<<" /* <<< */ // <<<', []),
    ],
)
def test_launch_chevrons(text, chevrons):
    found = [t.text for t in tokens(text) if t.kind in (TokenKind.LAUNCH_OPEN, TokenKind.LAUNCH_CLOSE)]
    assert found == chevrons


def test_directive_takes_its_continuation_lines_and_no_more():
    text = "#define F(x) \\\n  x + /* a\n b */ 1\nint y;"
    first = tokens(text)[0]
    assert first.kind is TokenKind.DIRECTIVE
    assert first.text == "#define F(x) \\\n  x + /* a\n b */ 1"
    assert [t.text for t in significant(inside_directive(first, text))] == ["define", "F", "(", "x", ")", "x", "+", "1"]
    assert all(text[t.start : t.end] == t.text for t in inside_directive(first, text))


def test_launch_inside_a_macro_body_is_a_launch():
    text = "#define L(k, ...) k<<<g, b>>>(__VA_ARGS__)"
    kinds = [t.kind for t in inside_directive(tokens(text)[0], text)]
    assert TokenKind.LAUNCH_OPEN in kinds
    assert TokenKind.LAUNCH_CLOSE in kinds


def test_hash_inside_a_line_begins_no_directive():
    assert [t.kind for t in significant(tokens("a # define b"))][1] is TokenKind.PUNCTUATION


def test_literals_are_whole():
    assert words("1'000'000u 0xFFp-3f .5e+10 'a' '\\'' u8\"x\\\"y\" R\"(a)b\" c)\"") == [
        "1'000'000u", "0xFFp-3f", ".5e+10", "'a'", "'\\''", 'u8"x\\"y"', 'R"(a)b" c)"',
    ]  # fmt: skip


def test_arguments_keep_templates_and_brackets_together():
    stream = significant(tokens("f(a<b, c>(d), {1, 2}, x < y, z[1, 2])"))
    assert ["".join(t.text for t in a) for a in split_arguments(stream, 1)] == ["a<b,c>(d)", "{1,2}", "x<y", "z[1,2]"]
    flat = split_arguments(stream, 1, templates=False)
    assert "".join(t.text for t in flat[0]) == "a<b"


def test_template_arguments_that_end_in_a_double_closer():
    stream = significant(tokens("A<int, B<float, 2>> x"))
    assert ["".join(t.text for t in a) for a in split_arguments(stream, 1)] == ["int", "B<float,2>"]


def test_no_arguments_and_unclosed_brackets():
    assert split_arguments(significant(tokens("f()")), 1) == []
    assert match_bracket(significant(tokens("f(a, (b)")), 1) is None
    assert match_bracket(significant(tokens("a < b && c > d")), 1) is None


LINES = st.sampled_from(
    [
        *("#define A 1\n", "  # include <x>\n", "#error don't\n", "#define B \\\n  2 /* c\n */ 3\n"),
        *("int a; // #if\n", "/* a\n#if b\n*/\n", "x = 1 # y\n", 's = "a\\\n#b";\n', "c = '\"';\n", "c = '\\'';\n"),
        *('r = R"x(\n#if\n)x";\n', "\r\n", "1'000'000;\n"),
    ]
)


@given(st.lists(LINES, max_size=12).map("".join))
def test_directives_alone_are_those_among_all_tokens(text):
    assert directives(text) == [t for t in tokens(text) if t.kind is TokenKind.DIRECTIVE]


def test_the_tokens_of_a_text_are_the_callers_own():
    text = "#define N 4\nint n = N;"
    first = tokens(text)
    first.clear()
    assert "".join(token.text for token in tokens(text)) == text
    inner = inside_directive(tokens(text)[0], text)
    inner.clear()
    assert [t.text for t in inside_directive(tokens(text)[0], text)][:1] == ["define"]
