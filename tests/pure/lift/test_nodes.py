"""What a graph of an execution folds, what it rests on then, and that arrays of nodes are made as single ones are."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.lift.nodes import Assumption, Graph, NotLiftedError, exact, is_sentinel

F32 = "float32"
INFINITE = math.inf
FLT_MAX = Fraction(2**128 - 2**104)


def graph_of(count=4):
    """A graph and elements of an input."""
    graph = Graph()
    return graph, [graph.read("x", at, F32) for at in range(count)]


def number(graph, value):
    return graph.number(value if isinstance(value, float) else Fraction(value), F32)


FOLDED = {
    # what is made of x and a number, what it is, and what that rests on
    "x + 0": ("add", ("x", 0), "x", None),
    "0 + x": ("add", (0, "x"), "x", None),
    "x - 0": ("subtract", ("x", 0), "x", None),
    "x - x": ("subtract", ("x", "x"), 0, Assumption.FINITE),
    "x * 1": ("multiply", ("x", 1), "x", None),
    "1 * x": ("multiply", (1, "x"), "x", None),
    "x / 1": ("divide", ("x", 1), "x", None),
    "x * 0": ("multiply", ("x", 0), 0, Assumption.FINITE),
    "0 * x": ("multiply", (0, "x"), 0, Assumption.FINITE),
    "0 / x": ("divide", (0, "x"), 0, Assumption.FINITE),
    "x / inf": ("divide", ("x", INFINITE), 0, Assumption.FINITE),
    "-inf + x": ("add", (-INFINITE, "x"), -INFINITE, Assumption.FINITE),
    "-inf - x": ("subtract", (-INFINITE, "x"), -INFINITE, Assumption.FINITE),
    "x - -inf": ("subtract", ("x", -INFINITE), INFINITE, Assumption.FINITE),
    "max(-inf, x)": ("maximum", (-INFINITE, "x"), "x", None),
    "min(x, inf)": ("minimum", ("x", INFINITE), "x", None),
    "max(x, x)": ("maximum", ("x", "x"), "x", None),
    "max(-FLT_MAX, x)": ("maximum", (-FLT_MAX, "x"), "x", Assumption.SENTINELS),
    "min(x, FLT_MAX)": ("minimum", ("x", FLT_MAX), "x", Assumption.SENTINELS),
    "max(INT_MIN, x)": ("maximum", (-(2**31), "x"), "x", Assumption.SENTINELS),
    "x == x": ("equal", ("x", "x"), 1, Assumption.ORDERED),
    "x < x": ("less", ("x", "x"), 0, Assumption.ORDERED),
    "x < inf": ("less", ("x", INFINITE), 1, Assumption.FINITE),
    "x < -inf": ("less", ("x", -INFINITE), 0, Assumption.FINITE),
    "-inf < x": ("less", (-INFINITE, "x"), 1, Assumption.FINITE),
    "inf < x": ("less", (INFINITE, "x"), 0, Assumption.FINITE),
    "x == -inf": ("equal", ("x", -INFINITE), 0, Assumption.FINITE),
    "1 and x": ("and", (1, "x"), "x", None),
    "x and 0": ("and", ("x", 0), 0, None),
    "x or 1": ("or", ("x", 1), 1, None),
    "0 or x": ("or", (0, "x"), "x", None),
    "x as float32": ("cast", ("x",), "x", None),
    "exp(-inf)": ("exp", (-INFINITE,), 0, None),
    "exp(0)": ("exp", (0,), 1, None),
    "sqrt(1)": ("sqrt", (1,), 1, None),
    "sqrt(0)": ("sqrt", (0,), 0, None),
    "rsqrt(1)": ("rsqrt", (1,), 1, None),
    "floor(-3/2)": ("floor", (Fraction(-3, 2),), -2, None),
    "ceil(-3/2)": ("ceil", (Fraction(-3, 2),), -1, None),
    "log(1)": ("log", (1,), 0, None),
    "1 / 3": ("divide", (1, 3), Fraction(1, 3), None),
    "1 ? x : 7": ("select", (1, "x", 7), "x", None),
    "0 ? x : 7": ("select", (0, "x", 7), 7, None),
    "y ? x : x": ("select", ("y", "x", "x"), "x", None),
    "y ? undefined : x": ("select", ("y", "undefined", "x"), "x", Assumption.REFINED),
    "y ? x : undefined": ("select", ("y", "x", "undefined"), "x", Assumption.REFINED),
    "undefined ? x : y": ("select", ("undefined", "x", "y"), "undefined", None),
}


@pytest.mark.parametrize("text", FOLDED)
def test_what_is_folded_is_an_operand_or_a_number_and_its_assumption_is_recorded(text):
    op, operands, wanted, assumption = FOLDED[text]
    graph, (x, y, *_) = graph_of()
    named = {"x": x, "y": y, "undefined": graph.undefined}

    def node(given):
        return named[given] if isinstance(given, str) else number(graph, given)

    assert graph.make(op, F32, *map(node, operands)) == node(wanted)
    assert graph.assumptions == ({assumption} if assumption else set())


KEPT = (
    ("add", "x", 1),
    ("subtract", 0, "x"),
    ("multiply", "x", -1),
    ("multiply", "x", INFINITE),
    ("divide", "x", 2),
    ("divide", "x", 0),
    ("maximum", "x", 0),
    ("maximum", "x", INFINITE),
    ("maximum", "x", FLT_MAX),
    ("minimum", "x", -INFINITE),
    ("minimum", "x", -FLT_MAX),
    ("maximum", "x", -(2**30)),
    ("less", "x", 0),
    ("less", "x", "y"),
    ("equal", "x", "y"),
    ("and", "x", "y"),
)


@pytest.mark.parametrize("case", KEPT, ids=str)
def test_what_depends_on_data_is_left_alone(case):
    op, *operands = case
    graph, (x, y, *_) = graph_of()
    nodes = [{"x": x, "y": y}[given] if isinstance(given, str) else number(graph, given) for given in operands]
    made = graph.make(op, F32, *nodes)
    assert graph[made] == (op, F32, *nodes)
    assert graph.assumptions == set()


def test_numbers_without_a_value_are_not_made_up():
    graph, _ = graph_of()
    zero, infinity = number(graph, 0), number(graph, INFINITE)
    for op, operands in (
        ("divide", (zero, zero)),
        ("divide", (infinity, infinity)),
        ("subtract", (infinity, infinity)),
    ):
        made = graph.make(op, F32, *operands)
        assert graph.value(made) is None or graph.assumptions, f"{op} has the value {graph.value(made)}"
        graph.assumptions.clear()


def test_a_condition_that_was_asked_is_not_asked_again():
    graph, (x, y, z, w) = graph_of()
    condition = graph.make("less", "bool", x, y)
    inner = graph.make("select", F32, condition, z, w)
    assert graph.make("select", F32, condition, inner, x) == graph.make("select", F32, condition, z, x)
    assert graph.make("select", F32, condition, x, inner) == graph.make("select", F32, condition, x, w)
    turned = graph.make("select", F32, graph.make("not", "bool", condition), w, z)
    assert turned == inner


OPERATIONS = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal", "and", "or"), 2),
    **dict.fromkeys(("negate", "absolute", "exp", "log", "sqrt", "tanh", "not", "cast"), 1),
}


@pytest.mark.parametrize("op", OPERATIONS)
def test_undefined_absorbs(op):
    graph, (x, *_) = graph_of()
    for place in range(OPERATIONS[op]):
        operands = [x] * OPERATIONS[op]
        operands[place] = graph.undefined
        assert graph.make(op, F32, *operands) == graph.undefined
    assert graph.assumptions == set()


def test_an_element_at_an_undefined_place_is_undefined():
    graph, _ = graph_of()
    assert graph.gather("x", graph.undefined, F32) == graph.undefined


def test_an_element_at_a_known_place_is_read():
    graph, (_, one, *_) = graph_of()
    assert graph.gather("x", graph.number(1, "int64"), F32) == one


@given(st.data())
def test_arrays_are_made_as_each_of_their_places(data):
    graph, reads = graph_of()
    numbers = [number(graph, value) for value in (0, 1, Fraction(1, 2), -INFINITE)]
    pool = st.sampled_from([*reads, *numbers, graph.undefined])
    op, arity = data.draw(st.sampled_from([*OPERATIONS.items(), ("select", 3)]))
    shapes = data.draw(st.lists(st.sampled_from([(), (3,), (2, 1), (2, 3), (1, 1)]), min_size=arity, max_size=arity))
    arrays = [
        np.array(data.draw(st.lists(pool, min_size=math.prod(s), max_size=math.prod(s))), np.int64).reshape(s)
        for s in shapes
    ]
    made = graph.apply(op, F32, *arrays)
    spread = np.broadcast_arrays(*arrays)
    assert made.shape == spread[0].shape
    for at in np.ndindex(*made.shape):
        assert made[at] == graph.make(op, F32, *(int(array[at]) for array in spread))


def test_arrays_without_places_make_nothing():
    graph, (x, *_) = graph_of()
    before = len(graph)
    assert graph.apply("exp", F32, np.zeros((0, 3), np.int64)).shape == (0, 3)
    assert graph.apply("add", F32, np.zeros((0, 3), np.int64), np.array(x)).shape == (0, 3)
    assert len(graph) == before


def test_a_node_is_made_once_and_its_type_is_part_of_it():
    graph, (x, y, *_) = graph_of()
    assert graph.make("add", F32, x, y) == graph.make("add", F32, x, y)
    assert graph.make("add", "float64", x, y) != graph.make("add", F32, x, y)
    assert graph.number(1, "int32") != graph.number(1, F32)
    assert graph.number(Fraction(2, 2), F32) == graph.number(1, F32)


@given(st.floats(allow_nan=False))
def test_a_float_stands_for_the_decimal_that_was_written(value):
    told = exact(value)
    assert float(told) == value
    assert isinstance(told, float) == math.isinf(value)


def test_decimals_are_what_was_meant():
    assert exact(0.1) == Fraction(1, 10)
    assert exact(1e-5) == Fraction(1, 100_000)
    with pytest.raises(NotLiftedError, match="NaN"):
        exact(math.nan)


def test_a_float_that_is_no_fraction_is_refused():
    graph, _ = graph_of()
    with pytest.raises(NotLiftedError, match="not exact"):
        graph.number(0.5, F32)


@pytest.mark.parametrize("limit", [3e9, -1e10])
def test_a_bound_that_is_the_largest_of_no_type_is_no_sentinel(limit):
    assert not is_sentinel(exact(limit))


@pytest.mark.parametrize("limit", [INFINITE, -INFINITE, FLT_MAX, -FLT_MAX, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)])
def test_the_largest_of_a_type_is_a_sentinel(limit):
    assert is_sentinel(limit if isinstance(limit, float) else Fraction(limit))
