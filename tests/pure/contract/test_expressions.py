"""Expressions mean what they mean in C, and never more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.expressions import evaluate, holds, last_factor, names_in, number, render
from porter.contract.model.parser import parse
from porter.contract.model.syntax import Binary, Cast, Choice, ExpressionError, Name, Node, Number, Unary

SIZES = {"n": 1003, "m": 7, "H": 64}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", 1003),
        ("(n + 255) / 256", 4),
        ("cdiv(n, 256) * 256", 1024),
        ("-7 / 2", -3),
        ("-7 // 2", -4),
        ("-7 % 4", -3),
        ("n % 4 == 3 && m < 8 || 0", 1),
        ("n % 4 == 0 or not m", 0),
        ("m > 5 ? H : n", 64),
        ("(int)n * 2u", 2006),
        ("static_cast<int64_t>(n) >> 1", 501),
        ("std::min<int>(n, H)", 64),
        ("max(m, 0x10)", 16),
        ("2 * H * sizeof(float)", 512),
        ("sizeof(unsigned long long)", 8),
        ("(H / 32 + 1) * sizeof(float4)", 48),
        ("pow2ceil(m)", 8),
        ("~0 & 0xff", 255),
        ("1'000'000", 1000000),
        ("(n) - 1", 1002),
    ],
)
def test_expressions_have_the_value_they_have_in_c(text, expected):
    assert evaluate(text, SIZES) == expected


def test_scalars_may_be_fractions():
    assert number("1e-5f", {}) == 1e-5
    assert number("1.0f / sqrt(H)", SIZES) == 0.125
    assert number("-.5", {}) == -0.5


@pytest.mark.parametrize(
    "text",
    ["", "n +", "k", "n / 0", "n % (m - 7)", "1 << 99", "__import__('os')", "n.size(0)", "x[0]", "1.5", "(" * 500,
     "n ** 2", "lambda: 0", "1 << -1", "cdiv(1)", "sizeof(Foo)", '"a"'],
)  # fmt: skip
def test_what_has_no_integer_value_is_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text, SIZES)


def test_a_product_cannot_grow_without_limit():
    power = "*".join(["0xffffffffffffffff"] * 80)
    with pytest.raises(ExpressionError, match="too large"):
        evaluate(power, {})


def test_host_code_parses():
    text = "at::empty({x.size(0), N * 2}, x.options().dtype(at::kFloat)).data_ptr<float>() + (scalar_t*)p[1]"
    assert render(parse(text)).startswith("at::empty({x.size(0), N * 2}, x.options().dtype(at::kFloat))")


def test_names_leave_out_functions():
    assert names_in("cdiv(n * 4, std::max(m, 1)) + sizeof(float)") == {"n", "m"}


def test_conditions_hold_or_not():
    assert holds("n % 17 == 0", SIZES)
    assert not holds("H > n", SIZES)


def trees() -> st.SearchStrategy[Node]:
    leaves = st.one_of(st.integers(0, 50).map(Number), st.sampled_from(["n", "m"]).map(Name))
    operators = st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", "&&", "||", "<<", "&", "^"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Binary, operators, inner, inner),
            st.builds(Unary, st.sampled_from(["-", "!", "~"]), inner),
            st.builds(Choice, inner, inner, inner),
            st.builds(Cast, st.just("int"), inner),
        ),
        max_leaves=12,
    )


@given(trees())
def test_rendering_and_parsing_are_inverse(tree):
    assert parse(render(tree)) == tree


@pytest.mark.parametrize(
    ("extent", "names"),
    [("n", {"n"}), ("B * T * C", {"C"}), ("B * C * 2", {"C"}), ("B * (C + D)", {"C", "D"}), ("7", set())],
)
def test_the_last_factor_is_the_one_elements_follow_each_other_in(extent, names):
    assert last_factor(extent) == names


def test_a_number_that_no_float_holds_has_no_value():
    with pytest.raises(ExpressionError, match="1025 bits"):
        evaluate("(float)n", {"n": 1 << 1024})
