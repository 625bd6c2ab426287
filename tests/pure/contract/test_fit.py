"""Extents are explained by the expression they come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.contract.model.expressions import evaluate
from porter.contract.probe.fit import bound_by, fit
from porter.contract.workload.probing import probe_sizes

PROBES = (
    {"B": 3, "T": 5, "C": 37, "n": 523},
    {"B": 5, "T": 2, "C": 131, "n": 37},
    {"B": 2, "T": 7, "C": 67, "n": 1031},
)


def extents(expression):
    return [evaluate(expression, sizes) for sizes in PROBES]


@pytest.mark.parametrize(
    "expression",
    ["1", "n", "C", "B * T", "B * T * C", "3 * C", "3 * B * T * C", "B * T * n * C", "C * C", "n * n * n", "B * C + T",
     "n + 1",
     "B * T * C + C", "(C - 2) * (n - 2)", "(C + 1) * B", "cdiv(n, 32)", "B * cdiv(C, 2)", "8 * cdiv(n, 256)",
     "C * n - n", "B * T * T", "B * T * C * C", "cdiv(T, 2) * cdiv(C, 2) * cdiv(n, 2)"],
)  # fmt: skip
def test_an_extent_is_explained_at_every_size(expression):
    found = fit(extents(expression), PROBES)
    assert found is not None
    assert found.exact
    other = {"B": 7, "T": 11, "C": 1009, "n": 613}
    assert evaluate(found.text, other) == evaluate(expression, other)


@pytest.mark.parametrize("expression", ["64 * n + 1", "256 * n - 3", "128 * B * n + 2"])
def test_blocks_of_threads_may_begin_behind_their_first_element_or_end_before_their_last(expression):
    found = fit(extents(expression), PROBES)
    assert found is not None
    assert (found.text, found.exact) == (expression, True)


@pytest.mark.parametrize("expression", ["65 * n + 1", "64 * n + 65", "33 * B * n + 2"])
def test_no_line_is_blocks_of_threads_that_are_no_warps_or_skip_a_block(expression):
    found = fit(extents(expression), PROBES)
    assert found is None or not found.exact or found.text != expression


def test_a_line_through_two_extents_does_not_explain_the_third():
    first, second, third = extents("64 * n + 1")
    found = fit([first, second, third + 32], PROBES)
    assert found is None or not found.exact


@given(st.permutations(["B", "T", "C", "n"]), st.integers(1, 4), st.integers(1, 9))
def test_every_product_is_found(order, count, coefficient):
    expression = " * ".join([str(coefficient), *order[:count]])
    found = fit(extents(expression), PROBES)
    assert found is not None
    assert [evaluate(found.text, sizes) for sizes in PROBES] == extents(expression)


@pytest.mark.parametrize("expression", ["cdiv(n, C)", "cdiv(n, T) * cdiv(C, T)", "B * cdiv(n, T)", "2 * cdiv(C, T)"])
def test_tiles_whose_edge_is_a_size_are_counted(expression):
    found = fit(extents(expression), PROBES)
    assert found is not None
    assert found.exact
    other = {"B": 7, "T": 11, "C": 109, "n": 613}
    assert evaluate(found.text, other) == evaluate(expression, other)


def test_whole_vectors_are_told_from_elements():
    found = fit(extents("4 * cdiv(n, 4)"), PROBES)
    assert found is not None
    assert found.multiple_of == 4


def test_what_nearly_fills_a_product_is_covered_by_it():
    found = fit([p["B"] * p["C"] - shift for p, shift in zip(PROBES, (1, 9, 4), strict=True)], PROBES)
    assert found is not None
    assert not found.exact
    assert found.text == "B * C"


def test_what_nothing_explains_stays_open():
    assert fit([3, 100003, 17], PROBES) is None


@pytest.mark.parametrize(
    ("expression", "apart"),
    [("(B * T - 1) * n + C", "C <= n"), ("(B - 1) * n * T + C * T", "C <= n"),
     ("(B - 1) * n + C + T", "T + C <= n"), ("(3 * B - 1) * n + C", "C <= n"),
     ("4 * ((B - 1) * n + C)", "C <= n"), ("(B - 1) * n + C - 1", "C <= n"), ("3 * ((B - 1) * n + C - 2)", "C <= n"),
     ("(B - 1) * n + 3 * C", "3 * C <= n"), ("(B * T - 1) * n + 12 * C", "12 * C <= n")],
)  # fmt: skip
def test_rows_with_a_distance_of_their_own_come_with_what_keeps_them_apart(expression, apart):
    found = fit(extents(expression), PROBES)
    assert found is not None
    assert [evaluate(found.text, sizes) for sizes in PROBES] == extents(expression)
    assert found.apart == apart


def test_rows_that_are_another_number_of_times_as_wide_at_each_size_have_no_such_distance():
    widths = (2, 3, 5)
    found = fit([(p["B"] - 1) * p["n"] + w * p["C"] for p, w in zip(PROBES, widths, strict=True)], PROBES)
    assert found is None or not found.exact


def test_dense_rows_need_nothing_to_keep_them_apart():
    found = fit(extents("B * T * C"), PROBES)
    assert found is not None
    assert found.apart == ""


def test_no_symbol_of_probes_is_always_one_more_than_whole_vectors(contract, tensor):
    for count in range(1, 5):
        symbols = tuple("abcd"[:count])
        drafted = contract(tensor("x", *symbols), symbols=symbols)
        probes = [probe_sizes(drafted, frozenset(), {}, attempt, 0) for attempt in range(3)]
        for symbol in symbols:
            assert any(sizes[symbol] % 4 != 1 for sizes in probes), (symbols, symbol)


@pytest.mark.parametrize(
    ("seen", "symbols"),
    [
        ("(B - 1) * T + n", ["T"]),
        ("3 * ((B - 1) * T + n)", ["T"]),
        ("((B - 1) * T + n) * C", ["T"]),
        ("4 * ((B - 1) * T + n) * C", ["T"]),
        ("3 * (B * T + n)", []),
        ("3 * B * T + 5 * n", []),
        ("B * T * C", []),
        ("n", ["B", "T", "C"]),
    ],
)
def test_indices_lie_below_the_size_that_makes_an_extent_a_product(seen, symbols):
    assert [s for s in ("B", "T", "C") if bound_by(s, "n", extents(seen), PROBES)] == symbols


@pytest.mark.parametrize(
    "text",
    [
        "(cdiv(H, 2) - 1) * P + 2 * cdiv(W, 2)",
        "(cdiv(H, 2) - 1) * P + W",
        "((H / 2) - 1) * P + (W / 2)",
    ],
)
def test_rows_of_half_an_image_may_have_a_distance_of_their_own(text):
    probes = [
        {"W": 19, "H": 4, "P": 23},
        {"W": 3, "H": 5, "P": 7},
        {"W": 7, "H": 11, "P": 13},
        {"W": 6, "H": 8, "P": 4},
    ]
    found = fit([evaluate(text, p) for p in probes], probes)
    assert found is not None
    assert found.exact
    assert found.apart
    other = {"W": 31, "H": 18, "P": 40}
    assert evaluate(found.text, other) == evaluate(text, other)
