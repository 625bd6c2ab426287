"""Polynomials of sizes are numbers: what holds of those at sizes holds of them."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.expressions import evaluate
from porter.schedule.host_values import host
from porter.schedule.polynomial import Polynomial

SIZES = {"m": Fraction(3), "n": Fraction(5), "k": Fraction(7)}

polynomials = st.recursive(
    st.integers(-4, 4).map(Polynomial.of) | st.sampled_from(sorted(SIZES)).map(Polynomial.atom),
    lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner).map(
        lambda part: {"+": part[1] + part[2], "-": part[1] - part[2], "*": part[1] * part[2]}[part[0]]
    ),
    max_leaves=8,
)


@given(polynomials, polynomials)
def test_arithmetic_is_that_of_values(left, right):
    one, other = left.value(SIZES), right.value(SIZES)
    assert (left + right).value(SIZES) == one + other
    assert (left - right).value(SIZES) == one - other
    assert (left * right).value(SIZES) == one * other


@given(polynomials, polynomials)
def test_equal_polynomials_are_one_object_of_a_dictionary(left, right):
    assert (left - right == Polynomial()) == (left == right)
    assert left != right or hash(left) == hash(right)


@given(polynomials)
def test_host_code_computes_the_value(polynomial):
    assert evaluate(host(polynomial).text, {name: int(size) for name, size in SIZES.items()}) == polynomial.value(SIZES)


def test_an_extent_that_is_no_polynomial_is_an_atom():
    extent = Polynomial.of_extent("2 * ((n + 3) // 4)")
    assert extent == Polynomial.of(2) * Polynomial.of_extent("(n + 3) // 4")
