"""A normal form has the value of what it is the form of, whatever that is and wherever elements tie."""

# ruff: noqa: ARG005 - all kernels take the same

import math
from fractions import Fraction
from functools import reduce
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from porter.lift.nodes import Graph, NotLiftedError
from porter.lift.normal import Normaliser
from tests.pure.lift.form_values import applied, value_of

F32 = "float32"
COUNT = 4  # elements of the input
LARGEST = 1e6  # of values that are compared: beyond, rounding shows
WHOLE_POINTS = [[Fraction(v) for v in p] for p in ((1, 2, 3, 5), (-1, 2, 2, -3), (3, 3, 3, 3), (0, -2, 0, 1))]
_RANDOM = Random("points")
POINTS = [[_RANDOM.uniform(-2, 2) for _ in range(COUNT)] for _ in range(3)]

elements = st.integers(0, COUNT - 1).map(lambda at: ("x", at))
numbers = st.sampled_from([Fraction(n, d) for n in (-3, -1, 0, 1, 2, 5) for d in (1, 2, 3)])
leaves = elements | numbers


def operations(names, parts):
    arities = {"negate": 1, "absolute": 1, "exp": 1, "tanh": 1, "root": 1, "select": 4}
    return st.one_of([st.tuples(st.just(name), *[parts] * arities.get(name, 2)) for name in names])


RATIONAL = ("add", "subtract", "multiply", "divide", "negate", "absolute", "maximum", "minimum", "select")
rational = st.recursive(leaves, lambda parts: operations(RATIONAL, parts), max_leaves=12)
SMOOTH = ("add", "subtract", "multiply", "divide", "negate", "exp", "tanh", "root")
smooth = st.recursive(leaves, lambda parts: operations(SMOOTH, parts), max_leaves=10)


def made(graph, tree):
    """The node of a tree."""
    match tree:
        case Fraction():
            return graph.number(tree, F32)
        case ("x", at):
            return graph.read("x", at, F32)
        case ("select", a, b, then, otherwise):
            condition = graph.make("less", "bool", made(graph, a), made(graph, b))
            return graph.make("select", F32, condition, made(graph, then), made(graph, otherwise))
        case ("root", part):
            return graph.make("sqrt", F32, graph.make("exp", F32, made(graph, part)))
        case (op, *parts):
            return graph.make(op, F32, *(made(graph, part) for part in parts))


def value(tree, point):
    """The number that a tree is; an error where a part has none, or one that is large."""
    match tree:
        case Fraction():
            return tree
        case ("x", at):
            return point[at]
        case ("select", *parts):
            a, b, then, otherwise = (value(part, point) for part in parts)
            return then if a < b else otherwise
        case ("root", part):
            return math.sqrt(math.exp(value(part, point)))
        case (op, *parts):
            told = applied(op, [value(part, point) for part in parts])
            if not abs(told) < LARGEST or (op == "divide" and abs(value(parts[1], point)) < 1e-3):
                raise OverflowError
            return told


@settings(max_examples=400, deadline=None)
@given(rational)
def test_a_form_of_rational_operations_is_exactly_what_it_was_made_of(tree):
    graph = Graph()
    normaliser = Normaliser(graph)
    for point in WHOLE_POINTS:
        try:
            wanted = value(tree, point)
        except (ArithmeticError, OverflowError):
            continue
        form = normaliser.form(made(graph, tree))
        assert value_of(normaliser.forms, form, {"x": point}) == wanted


@pytest.mark.parametrize("zero", [Fraction(0), ("subtract", ("x", 0), ("x", 0))])
def test_0_by_0_is_no_number(zero):
    graph = Graph()
    with pytest.raises(NotLiftedError, match="it divides 0 by 0"):
        Normaliser(graph).form(made(graph, ("add", ("divide", zero, zero), ("x", 1))))


@settings(max_examples=300, deadline=None)
@given(smooth)
def test_a_form_of_smooth_operations_is_what_it_was_made_of(tree):
    graph = Graph()
    normaliser = Normaliser(graph)
    for point in POINTS:
        try:
            wanted = value(tree, point)
        except (ArithmeticError, OverflowError):
            continue
        form = normaliser.form(made(graph, tree))
        told = value_of(normaliser.forms, form, {"x": point})
        assert math.isclose(told, wanted, rel_tol=1e-6, abs_tol=1e-6)


@settings(max_examples=150, deadline=None)
@given(rational, st.data())
def test_a_form_does_not_depend_on_what_was_normalised_before(tree, data):
    alone, after = Graph(), Graph()
    first, second = Normaliser(alone), Normaliser(after)
    try:
        wanted = first.form(made(alone, tree))
        for part in data.draw(st.lists(rational, max_size=2)):
            second.form(made(after, part))
    except NotLiftedError:  # 0 divided by 0
        reject()
    told = second.form(made(after, tree))
    assert second.forms.skeleton(told) == first.forms.skeleton(wanted)
    for point in WHOLE_POINTS:
        try:
            value(tree, point)
        except (ArithmeticError, OverflowError):
            continue
        inputs = {"x": point}
        assert value_of(second.forms, told, inputs) == value_of(first.forms, wanted, inputs)


weights = st.lists(st.integers(-2, 2), min_size=COUNT, max_size=COUNT)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(numbers, weights, weights), max_size=4), st.booleans(), numbers)
def test_a_form_of_squares_is_exactly_what_it_was_made_of(products, has_deviations, scale):
    """A quadratic form, alone or beside squared deviations: what is nearly those is not taken for them."""
    if has_deviations:
        apart = [[Fraction((one == other) * COUNT - 1, COUNT) for other in range(COUNT)] for one in range(COUNT)]
        products = [*products, *((scale, row, row) for row in apart)]
    tree = Fraction(0)
    for weight, left, right in products:
        factors = [
            reduce(lambda a, b: ("add", a, b), map(scaled_element, side, range(COUNT))) for side in (left, right)
        ]
        tree = ("add", tree, ("multiply", weight, ("multiply", *factors)))
    graph = Graph()
    normaliser = Normaliser(graph)
    form = normaliser.form(made(graph, tree))
    for point in WHOLE_POINTS:
        assert value_of(normaliser.forms, form, {"x": point}) == value(tree, point)


def scaled_element(weight, at):
    return ("multiply", Fraction(weight), ("x", at))


class Choice:
    """How a source finds an extreme and its index: whether it takes one element after another, in words and in fact.

    `ahead` says that the new one is beyond the best, `tie` that it is as large, `is_below` that its index is smaller.
    """

    def __init__(self, words, takes_tie):
        self.words, self.takes_tie = words, takes_tie


def no(graph, part):
    return graph.make("not", "bool", part)


def both(graph, *parts):
    return graph.make("and", "bool", *parts)


def either(graph, *parts):
    return graph.make("or", "bool", *parts)


CHOICES = {
    ">": Choice(lambda g, ahead, behind, tie, below, above: ahead, lambda own, index: False),
    ">=": Choice(lambda g, ahead, behind, tie, below, above: no(g, behind), lambda own, index: True),
    "> or ==": Choice(lambda g, ahead, behind, tie, below, above: either(g, ahead, tie), lambda own, index: True),
    "> or == and first": Choice(
        lambda g, ahead, behind, tie, below, above: either(g, ahead, both(g, tie, below)),
        lambda own, index: own < index,
    ),
    "> or == and last": Choice(
        lambda g, ahead, behind, tie, below, above: either(g, ahead, both(g, tie, above)),
        lambda own, index: own > index,
    ),
}
TIES = [[Fraction(v) for v in p] for p in ((1, 2, 3, 4), (2, 2, 1, 1), (1, 2, 2, 0), (3, 0, 3, 3), (5, 5, 5, 5))]


def less(graph, a, b, turned):
    return graph.make("less", "bool", *((b, a) if turned else (a, b)))


def merged(graph, one, other, choice, is_minimum):
    """Nodes of the extreme and its index of two such pairs, `other` being the one that may be taken."""
    (best, index), (value, own) = one, other
    condition = choice.words(
        graph,
        less(graph, best, value, is_minimum),
        less(graph, value, best, is_minimum),
        graph.make("equal", "bool", value, best),
        graph.make("less", "bool", own, index),
        graph.make("less", "bool", index, own),
    )
    taken = ((value, best), (own, index))
    told = [graph.make("select", F32, condition, then, otherwise) for then, otherwise in taken]
    return told[0], told[1]


def run(one, other, choice, is_minimum):
    """The extreme and its index as the source finds them."""
    (best, index), (value, own) = one, other
    ahead = value < best if is_minimum else value > best
    return other if ahead or (value == best and choice.takes_tie(own, index)) else one


def in_pairs(items, merge):
    """Merges neighbours until one is left."""
    items = list(items)
    while len(items) > 1:
        pairs = [items[at : at + 2] for at in range(0, len(items), 2)]
        items = [merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return items[0]


@pytest.mark.parametrize("fold", [lambda items, merge: reduce(merge, items), in_pairs], ids=["chain", "tree"])
@pytest.mark.parametrize("is_minimum", [False, True], ids=["maximum", "minimum"])
@pytest.mark.parametrize("words", CHOICES)
def test_an_arg_reduction_takes_of_ties_what_its_source_takes(words, is_minimum, fold):
    choice = CHOICES[words]
    for order in permutations(range(COUNT)):
        graph = Graph()
        normaliser = Normaliser(graph)
        leaves = [(graph.read("x", at, F32), graph.number(at, F32)) for at in order]
        nodes = fold(leaves, lambda *pair, graph=graph: merged(graph, *pair, choice, is_minimum))
        forms = [normaliser.form(node) for node in nodes]
        for point in TIES:
            told = tuple(value_of(normaliser.forms, form, {"x": point}) for form in forms)
            wanted = fold([(point[at], at) for at in order], lambda *pair: run(*pair, choice, is_minimum))
            assert told == wanted, f"in the order {order} of {list(map(int, point))}"
