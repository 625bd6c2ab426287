"""Names that dispatch macros and aliases give several meanings."""

from pathlib import Path

import pytest

from porter.source.directives import directives, macros
from porter.source.dispatch import DispatchMacros, aliases
from porter.source.lexer import significant, tokens
from porter.source_text import Source


def meant(call, defined=""):
    """What the macro call at the beginning of `call` makes of names, with the macros `defined`."""
    own = {macro.name: macro for macro in macros(Source(Path("x.cu"), defined), directives(defined))}
    return DispatchMacros(own).meanings(significant(tokens(call)), 0)


@pytest.mark.parametrize(
    ("macro", "types"),
    [
        ("FLOATING_TYPES(", ["double", "float"]),
        ("FLOATING_TYPES_AND_HALF(", ["double", "float", "at::Half"]),
        ("FLOATING_TYPES_AND(at::ScalarType::Half, ", ["double", "float", "at::Half"]),
        ("FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, ", ["double", "float", "at::Half", "at::BFloat16"]),
        ("INTEGRAL_TYPES(", ["uint8_t", "int8_t", "int", "int64_t", "int16_t"]),
    ],
)
def test_dispatch_macros_of_torch(macro, types):
    assert meant(f'AT_DISPATCH_{macro}x.scalar_type(), "go", [&] {{ k<scalar_t><<<1, 2>>>(x); }})') == {
        "scalar_t": types
    }


def test_any_other_macro_means_nothing():
    assert meant("TORCH_CHECK(x.dim() == 2)") == {}


def test_an_own_macro_with_cases():
    macro = (
        "#define SIZES(n, D, ...) switch (n) { case 64: { constexpr int D = 64; __VA_ARGS__ } \\\n"
        "  case 96: { constexpr int D = 96; __VA_ARGS__ } }\n"
    )
    assert meant("SIZES(n, W, launch<float, W>(x, n);)", macro) == {"W": ["64", "96"]}


def test_an_own_macro_around_torch():
    macro = (
        "#define MINE(T, NAME, ...) AT_DISPATCH_SWITCH(T, NAME, \\\n"
        "  AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__) \\\n"
        "  AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__))\n"
    )
    found = meant('MINE(x.scalar_type(), "go", [&] { launch<scalar_t>(x); })', macro)
    assert found == {"scalar_t": ["float", "at::Half"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("using U = unsigned int;", ("U", "unsigned int")),
        ("typedef at::Half U;", ("U", "at::Half")),
        ("constexpr int D = 64;", ("D", "64")),
    ],
)
def test_aliases(text, expected):
    assert list(aliases(significant(tokens(text)))) == [expected]


def test_macros_that_repeat_each_other_are_gone_through_once():
    calls = [f"#define M{n}(T) {' '.join([f'M{n - 1}(T)'] * 12)}" for n in range(1, 12)]
    defined = "\n".join(["#define M0(T) { using scalar_t = T; go(); }", *calls, ""])
    assert meant("M11(float)", defined) == {"scalar_t": ["float"]}


def test_a_macro_within_itself_ends():
    assert meant("A(int)", "#define A(T) B(T)\n#define B(T) { using t = T; } A(T)\n") == {"t": ["int"]}
