"""The arithmetic of extents."""

from hypothesis import given
from hypothesis import strategies as st

from porter.contract.analysis.polynomial import Polynomial
from porter.contract.model.expressions import evaluate

NAMES = ("a", "b", "c")
terms = st.dictionaries(
    st.lists(st.sampled_from(NAMES), max_size=3).map(lambda names: tuple(sorted(names))), st.integers(-4, 4), max_size=4
)
polynomials = terms.map(lambda found: Polynomial({factors: count for factors, count in found.items() if count}))
sizes = st.fixed_dictionaries({name: st.integers(1, 9) for name in NAMES})


@given(polynomials, polynomials, sizes)
def test_operations_are_those_of_numbers(p, q, at):
    value = lambda polynomial: evaluate(str(polynomial), at)  # noqa: E731
    assert value(p + q) == value(p) + value(q)
    assert value(p - q) == value(p) - value(q)
    assert value(p * q) == value(p) * value(q)


@given(polynomials, polynomials, sizes)
def test_names_stand_for_what_they_mean(p, q, at):
    expected = evaluate(str(p), {**at, "a": evaluate(str(q), at)})
    assert evaluate(str(p.with_names({"a": q})), at) == expected


@given(polynomials, sizes)
def test_what_solves_it_makes_it_zero(p, at):
    for name, meaning in p.solutions():
        assert evaluate(str(p), {**at, name: evaluate(str(meaning), at)}) == 0


@given(polynomials, st.dictionaries(st.just(("a", "b")), st.integers(1, 4), min_size=1))
def test_a_product_is_divided_by_its_factor(p, factor):
    assert (p * Polynomial(factor)).over(Polynomial(factor)) == p


def test_shared_factors_go():
    b, w, s = map(Polynomial.name, "bws")
    assert (b * w - Polynomial.number(3) * b * s).primitive() == w - Polynomial.number(3) * s
    assert str(Polynomial.number(3) * s - w + Polynomial.number(2)) == "3 * s + 2 - w"
