"""Default arguments that stand in a declaration and not in the definition."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.nodes import Literal, TypeName
from porter.syntax.read import read_unit


def defaults(text: str, name: str = "f", **headers: str) -> list[tuple[object, ...]]:
    """For each function called `name` the values of its defaults, None for a parameter without."""
    others = tuple(Source(Path(f"{name}.h"), body) for name, body in headers.items())
    unit = read_unit(parse(Source(Path("op.cu"), text)), others)
    return [tuple(_value(p.default) for p in f.parameters) for f in unit.functions if f.head.name == name]


def _value(default: object) -> object:
    return default.value if isinstance(default, Literal) else default


def test_an_earlier_declaration_gives_its_defaults():
    assert defaults("void f(float* y, int n = 4); void f(float* y, int n) {}") == [(None, 4)]


def test_a_header_gives_its_defaults():
    text = '#include "api.h"\nvoid f(float* y, int n, int m) {}'
    assert defaults(text, api="void f(float* y, int n, int m = 3);") == [(None, None, 3)]


def test_declarations_and_definition_each_give_some():
    text = "void f(int a, int b, int c = 3); void f(int a, int b = 2, int c); void f(int a = 1, int b, int c) {}"
    assert defaults(text) == [(1, 2, 3)]


def test_a_template_may_call_its_parameters_otherwise():
    text = (
        "template <class T, int N> void f(const T* x, int n = 7); template <class U, int M> void f(const U* x, int) {}"
    )
    assert defaults(text) == [(None, 7)]


def test_const_of_a_copy_is_no_part_of_the_type():
    assert defaults("void f(int n = 5); void f(const int n) {}") == [(5,)]


@pytest.mark.parametrize(
    "declared",
    [
        "void f(float* x, int n = 5);",
        "void f(const float* x, float n = 5);",
        "namespace a { void f(const float* x, int n = 5); }",
    ],
)
def test_other_parameters_or_scopes_are_another_function(declared):
    assert defaults(declared + " void f(const float* x, int n) {}") == [(None, None)]


def test_a_method_defined_outside_its_class_has_the_defaults_of_the_class():
    text = "struct A { void f(int n = 2) const; }; void A::f(int n) const {}"
    assert defaults(text) == [(2,)]


def test_what_does_not_read_is_stepped_over():
    text = "void f(int n = [ ] @ 3); void f(int n) {} void g() {}"
    assert defaults(text) == [(None,)]
    assert defaults(text, "g") == [()]


def test_operators_are_stepped_over():
    text = "struct A { float& operator[](int i); bool operator()(int n = 1); void f(int n = 2); }; void A::f(int n) {}"
    assert defaults(text) == [(2,)]


@pytest.mark.parametrize(
    ("text", "name", "returns"),
    [
        ("dim3 grid(int n);", "grid", "dim3"),
        ("namespace a { extern const int count(); }", "a::count", "int"),
        ("template <typename T> T* at(int n);", "at", "T"),
    ],
)
def test_what_is_only_declared_is_known_with_its_type(text: str, name: str, returns: str):
    found = read_unit(parse(Source(Path("op.cu"), text))).only_declared(name)
    assert found is not None
    assert found.returns.name == returns


def test_what_is_defined_is_not_only_declared():
    unit = read_unit(parse(Source(Path("op.cu"), "int f(int n); int f(int n) { return n; }")))
    assert unit.only_declared("f") is None


def test_a_specialisation_is_told_by_what_it_returns():
    text = """
    template <typename T> T made(typename Info<T>::Base a) { return T(); }
    template <> float3 made(float a) { return make_float3(a, a, a); }
    template <> uchar4* made(unsigned char a) { return nullptr; }"""
    functions = read_unit(parse(Source(Path("op.cu"), text))).functions
    told = [f.arguments[0] for f in functions if f.arguments]
    assert [(t.name, t.pointers) for t in told if isinstance(t, TypeName)] == [("float3", 0), ("uchar4", 1)]
