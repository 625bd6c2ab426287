"""Numbers of several probes are recognised as quantities over the sizes: rightly, or not at all."""

from fractions import Fraction
from math import prod
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import (
    ArgReduce,
    Combine,
    Gathered,
    Number,
    Pointwise,
    Position,
    Range,
    Read,
    Reduce,
    Window,
)
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.lift.nodes import NotLiftedError
from porter.lift.size_products import Quantities
from porter.lift.sizes import Joining
from porter.lift.structure import structure
from tests.pure.ir.tensor_programs import at, number, read, size

SYMBOLS = ("batch", "cols", "height", "rows")
PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73)
ONE = Affine.of(1)


@st.composite
def size_sets(draw, most=4):
    """Sizes of four to six probes, over which no two products of symbols are proportional, and those of others."""
    symbols = SYMBOLS[: draw(st.integers(1, most))]
    count = draw(st.integers(4, 6))
    primes = iter(Random(draw(st.integers(0, 10**6))).sample(PRIMES * 2, len(symbols) * (count + 2)))
    drawn = [{symbol: Fraction(next(primes)) for symbol in symbols} for _ in range(count + 2)]
    for symbol in symbols:
        if len({sizes[symbol] for sizes in drawn[:count]}) == 1:
            drawn[0][symbol] += 1
    return drawn[:count], drawn[count:]


@st.composite
def quantities(draw, symbols):
    """A quantity of a form that host code writes, of a few of the symbols."""
    chosen = sorted(draw(st.sets(st.sampled_from(symbols), max_size=4)))
    if len(chosen) == 1:
        powers = ((chosen[0], draw(st.sampled_from((1, -1, 2, -2, 3, -3)))),)
    else:
        powers = tuple((symbol, draw(st.sampled_from((1, -1)))) for symbol in chosen)
    factor = Fraction(draw(st.sampled_from((1, 2, 3, 4, -1, -2))), draw(st.sampled_from((1, 2, 3, 8))))
    offset = Fraction(draw(st.sampled_from((0, 1, -1)))) if powers else Fraction(0)
    return Quantity(factor, powers, offset, bool(offset) and draw(st.booleans()))


def values_at(quantity, sets):
    return [quantity.value(sizes) for sizes in sets]


@settings(max_examples=70, deadline=None)
@given(st.data())
def test_a_quantity_is_found_again(data):
    sets, others = data.draw(size_sets())
    wanted = data.draw(quantities(tuple(sets[0])))
    try:
        values, further = values_at(wanted, sets), values_at(wanted, others)
    except ZeroDivisionError:
        return
    found = Quantities(sets).fitted(values)
    assert values_at(found, sets) == values
    assert values_at(found, others) == further


@settings(max_examples=70, deadline=None)
@given(st.data())
def test_what_has_no_known_form_is_not_made_up(data):
    """Sums of symbols, shifted products, rounded quotients: none of them is a quantity."""
    sets, others = data.draw(size_sets(most=3))
    symbols = tuple(sets[0])
    last = symbols[-1]
    strange = data.draw(
        st.sampled_from(
            (
                lambda at: at[symbols[0]] + at[last] * 3 + 2,
                lambda at: at[last] * 2 + 5,
                lambda at: at[last] * (at[last] - 1) / 2,
                lambda at: Fraction(at[last] // 4),
                lambda at: at[last] ** 4 + at[last],
                lambda at: 1 / (at[last] + 2),
                lambda at: at[last] % 4,
            )
        )
    )
    values = [strange(sizes) for sizes in sets]
    if len(set(values)) == 1:
        return
    try:
        found = Quantities(sets).fitted(values)
    except NotLiftedError:
        return
    assert values_at(found, others) == [strange(sizes) for sizes in others]


@given(st.fractions(), st.data())
def test_what_never_changes_is_a_constant(value, data):
    sets, _ = data.draw(size_sets())
    assert Quantities(sets).fitted([value] * len(sets)) == Quantity.of(value)


def test_a_factor_that_host_code_writes_goes_before_another():
    """Over these sizes `rows` is 9/7 of `cols`."""
    sets = [{"cols": Fraction(7 * turn), "rows": Fraction(9 * turn)} for turn in (1, 2, 3, 4)]
    assert Quantities(sets).fitted([Fraction(9 * turn) for turn in (1, 2, 3, 4)]) == size("rows")
    assert Quantities(sets).fitted([Fraction(14 * turn) for turn in (1, 2, 3, 4)]) == size("cols", factor=2)


def test_what_host_code_rounded_is_still_recognised():
    sets = [{"n": Fraction(n)} for n in (3, 7, 11, 13)]
    rounded = [Fraction(repr(1 / n)) for n in (3, 7, 11, 13)]
    assert Quantities(sets).fitted(rounded) == Quantity(Fraction(1), (("n", -1),))


def test_what_is_nearly_a_quantity_is_none():
    sets = [{"n": Fraction(n)} for n in (3, 7, 11, 13)]
    with pytest.raises(NotLiftedError, match="no known form"):
        Quantities(sets).fitted([1 / Fraction(n) + Fraction(n, 10**7) for n in (3, 7, 11, 13)])


MOMENTUM = [
    {"batch": Fraction(b), "height": Fraction(h), "momentum": m}
    for b, h, m in ((3, 5, Fraction(7, 90)), (4, 7, Fraction(1, 7)), (5, 4, Fraction(9, 80)), (7, 3, Fraction(11, 70)))
]
ELSEWHERE = {"batch": Fraction(9), "height": Fraction(10), "momentum": Fraction(1, 10)}
COMPOUNDS = {
    "momentum / (count - 1)": lambda at: at["momentum"] / (at["batch"] * at["height"] - 1),
    "momentum / count": lambda at: at["momentum"] / (at["batch"] * at["height"]),
    "1 - momentum": lambda at: 1 - at["momentum"],
    "-momentum": lambda at: -at["momentum"],
    "(count - 1) / momentum": lambda at: (at["batch"] * at["height"] - 1) / at["momentum"],
    "momentum * (batch - 1)": lambda at: at["momentum"] * (at["batch"] - 1),
    "momentum * count / (count - 1)": lambda at: (
        at["momentum"] * at["batch"] * at["height"] / (at["batch"] * at["height"] - 1)
    ),
}


def evaluated(expression, sizes):
    """The number that a product of numbers is."""
    if isinstance(expression, Number):
        return expression.quantity.value(sizes)
    assert isinstance(expression, Pointwise)
    assert expression.op == "multiply"
    return prod(evaluated(operand, sizes) for operand in expression.operands)


@pytest.mark.parametrize("text", COMPOUNDS)
def test_products_of_a_parameter_and_of_counts_are_found_or_refused(text):
    of = COMPOUNDS[text]
    try:
        joined = Joining(MOMENTUM).expression([number(of(sizes)) for sizes in MOMENTUM])
    except NotLiftedError:
        assert text == "momentum * count / (count - 1)"
        return
    assert evaluated(joined, ELSEWHERE) == of(ELSEWHERE)


PADDED = [{"padding": Fraction(p)} for p in (0, 1, 2, 3)]


def test_a_number_that_is_0_at_one_probe_is_found():
    """A window begins at `-padding`, and one probe has no padding."""
    joined = Joining(PADDED).affine([at("o0", constant=-p) for p in range(4)])
    assert joined == at("o0", constant=size("padding", factor=-1))


def test_a_coefficient_that_is_missing_at_one_probe_is_0_there():
    joined = Joining(PADDED).affine([at(*[("o0", Quantity.of(p))] if p else []) for p in range(4)])
    assert joined == at(("o0", size("padding")))


def test_a_number_that_is_0_by_chance_is_no_product():
    with pytest.raises(NotLiftedError):
        Quantities(PADDED).fitted([Fraction(value) for value in (0, 1, 2, 0)])


def full(name, count):
    return Range(name, Affine.of(0), Affine.of(count))


def row_sum(count, name="k0", combine=Combine.SUM, tensor="x"):
    return Reduce(combine, (full(name, count),), read(tensor, "o0", name), DType.FLOAT32)


def test_reductions_are_joined_whatever_their_coordinates_are_called():
    sets = [{"cols": Fraction(c)} for c in (3, 5, 7, 8)]
    parts = [row_sum(int(s["cols"]), f"k{turn}") for turn, s in enumerate(sets)]
    joined = Joining(sets).expression(parts)
    (extent,) = joined.ranges
    assert extent.upper == Affine(size("cols"))
    assert joined.body == read("x", "o0", extent.name)


def test_windows_arguments_and_gathers_are_joined():
    sets = [{"kernel": Fraction(k), "length": Fraction(n)} for k, n in ((2, 9), (3, 11), (4, 17), (5, 13))]
    parts = []
    for sizes in sets:
        step = (Quantity.of(1), Quantity.of(sizes["kernel"]), Quantity.of(sizes["length"]))
        window = Window("k7", at(("o0", Quantity.of(sizes["kernel"])), constant=-1), *step)
        key = Read("x", (Gathered(at(), read("labels", "o0")), at("k7")))
        parts.append(ArgReduce(Combine.MINIMUM, (window,), key, Position(at("k7", constant=2))))
    joined = Joining(sets).expression(parts)
    (window,) = joined.ranges
    assert (window.count, window.extent, window.step) == (size("kernel"), size("length"), Quantity.of(1))
    assert window.start == at(("o0", size("kernel")), constant=-1)
    assert joined.payload == Position(at(window.name, constant=2))
    assert joined.key.indices[0] == Gathered(at(), read("labels", "o0"))


def test_groups_are_joined():
    sets = [{"groups": Fraction(g), "channels": Fraction(g * s)} for g, s in ((2, 3), (3, 5), (5, 2), (4, 7))]
    parts = [
        Read("x", (Affine(Quantity.of(0), ((Floor("o0", Quantity.of(s["channels"] / s["groups"])), Quantity.of(1)),)),))
        for s in sets
    ]
    ((term, _),) = Joining(sets).expression(parts).indices[0].terms
    assert term == Floor("o0", Quantity(Fraction(1), (("channels", 1), ("groups", -1))))


DIFFERENT = {
    "operations": [Pointwise("exp", (read("x", "o0"),)), Pointwise("log", (read("x", "o0"),))],
    "tensors": [read("x", "o0"), read("y", "o0")],
    "ranks": [read("x", "o0"), read("x", "o0", "o0")],
    "kinds": [read("x", "o0"), number(3)],
    "combines": [row_sum(3), row_sum(5, combine=Combine.MAXIMUM)],
    "counts of operands": [Pointwise("add", (read("x", "o0"),) * 2), Pointwise("add", (read("x", "o0"),) * 3)],
    "counts of ranges": [
        row_sum(3),
        Reduce(Combine.SUM, (full("k0", 5), full("k1", 5)), read("x", "o0", "k0"), DType.FLOAT32),
    ],
    "ranges and windows": [
        row_sum(3),
        Reduce(
            Combine.SUM,
            (Window("k0", at("o0"), *[Quantity.of(5)] * 3),),
            read("x", "o0", "k0"),
            DType.FLOAT32,
        ),
    ],
    "gathers": [
        Read("x", (at("o0"),)),
        Read("x", (Gathered(at(), read("labels", "o0")),)),
    ],
}


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("turned", [False, True])
def test_what_differs_in_more_than_its_numbers_is_refused_and_has_another_structure(name, turned):
    one, other = DIFFERENT[name][::-1] if turned else DIFFERENT[name]
    with pytest.raises(NotLiftedError):
        Joining([{"n": Fraction(3)}, {"n": Fraction(5)}]).expression([one, other])
    assert structure(one) != structure(other)


def test_numbers_and_names_are_no_part_of_a_structure():
    assert structure(row_sum(3)) == structure(row_sum(5, name="k9"))
    assert structure(number(3)) == structure(number(4))
    assert structure(row_sum(3, tensor="y")) != structure(row_sum(3))
