"""Spellings of one thing have one normal form, and what only looks alike has another."""

# ruff: noqa: ARG005 - all spellings take the same
from functools import reduce

import pytest

from porter.lift.nodes import Graph
from porter.lift.normal import Normaliser
from tests.pure.lift.reduction_spellings import (
    COUNT,
    argument,
    chain,
    guarded_sums,
    in_pairs,
    mean,
    merged,
    merged_argument,
    merged_sums,
    merged_welford,
    online,
    online_softmax,
    shifted,
    softmax,
    squares_less_mean,
    total,
    two_pass,
    welford,
)
from tests.pure.lift.symbolic_floats import (
    Tensor,
    absolute,
    constant,
    exp,
    lowest,
    maximum,
    minimum,
    select,
    sqrt,
)

LOG2_E = 1.4426950408889634


def forms_of(*spellings):
    """The forms of spellings, made in one graph and normalised one after another."""
    graph = Graph()
    x, y = (Tensor(graph, name, (COUNT,)) for name in "xy")
    normaliser = Normaliser(graph)
    return [normaliser.form(spelling(list(map(x.__getitem__, range(COUNT))), y[0]).node) for spelling in spellings]


SAME = {
    "a rounded quotient of what is in any form itself": (
        lambda x, y: (x[0] / (maximum(x[1], x[2]) / 127)).of("round"),
        lambda x, y: (x[0] / (maximum(x[2], x[1]) / 127)).of("round"),
    ),
    "a sum in any order": (
        lambda x, y: total(x),
        lambda x, y: total(x[::-1]),
        lambda x, y: in_pairs(x, lambda a, b: b + a),
        lambda x, y: total(x[3:]) - (0 - total(x[:3])),
        lambda x, y: total(x) + y - y,
        lambda x, y: -total([-value for value in x]),
        lambda x, y: 0.0 + total(x) * 1.0,
    ),
    "numbers that are distributed": (
        lambda x, y: (x[0] + x[1]) * 2,
        lambda x, y: x[0] * 2 + x[1] * 2,
        lambda x, y: (x[0] + x[1]) / 0.5,
        lambda x, y: x[0] + x[1] + (x[1] + x[0]),
    ),
    "numbers in a product": (
        lambda x, y: (x[0] + x[1]) * 0.25 * y,
        lambda x, y: (x[0] / 4 + x[1] / 4) * y,
        lambda x, y: (x[0] + x[1]) * (y / 4),
        lambda x, y: y / (4 / (x[0] + x[1])),
    ),
    "quotients": (
        lambda x, y: x[0] / y / x[1],
        lambda x, y: x[0] / (y * x[1]),
        lambda x, y: x[0] * y.of("power", -1) * (1 / x[1]),
        lambda x, y: 1 / (x[1] / x[0] * y),
    ),
    "roots": (
        lambda x, y: x[0] / sqrt(y + 1),
        lambda x, y: x[0] * (y + 1).of("rsqrt"),
        lambda x, y: x[0] * (y + 1).of("power", -0.5),
        lambda x, y: x[0] / (y + 1) * sqrt(y + 1),
    ),
    "roots of numbers": (
        lambda x, y: x[0] * 2,
        lambda x, y: x[0] * sqrt(constant(y.graph, 2)) * sqrt(constant(y.graph, 2)),
        lambda x, y: x[0] * 6 / constant(y.graph, 3).of("rsqrt") / sqrt(constant(y.graph, 3)) / 3,
    ),
    "squares of roots of a sum": (
        lambda x, y: y / mean(x),
        lambda x, y: y / sqrt(mean(x)) / sqrt(mean(x)),
    ),
    "exponentials": (
        lambda x, y: exp(x[0]) * exp(x[1]) / exp(y),
        lambda x, y: exp(x[0] + x[1] - y),
        lambda x, y: exp(x[1] - y) / exp(-x[0]),
        lambda x, y: ((x[0] + x[1] - y) * LOG2_E).of("exp2"),
    ),
    "exponentials of logarithms": (
        lambda x, y: x[0].of("power", 3.0),
        lambda x, y: exp(x[0].of("log") * 3),
        lambda x, y: x[0] * x[0] * x[0],
        lambda x, y: (x[0].of("log2") * 3).of("exp2"),
    ),
    "an exponential over a sum": (
        lambda x, y: (exp(x[0]) + exp(x[1])) * exp(y),
        lambda x, y: exp(x[0] + y) + exp(x[1]) * exp(y),
    ),
    "a maximum": (
        lambda x, y: reduce(maximum, x),
        lambda x, y: in_pairs(x[::-1], maximum),
        lambda x, y: chain(x, lambda value, best: value > best),
        lambda x, y: chain(x, lambda value, best: value >= best),
        lambda x, y: chain(x, lambda value, best: best < value),
        lambda x, y: chain(x[::-1], lambda value, best: (value > best) | value.same(best)),
        lambda x, y: maximum(lowest(y.graph), reduce(maximum, [*x, x[0]])),
        lambda x, y: maximum(constant(y.graph, -3.4028234663852886e38), reduce(maximum, x)),
    ),
    "a minimum": (
        lambda x, y: reduce(minimum, x),
        lambda x, y: chain(x, lambda value, best: value < best),
        lambda x, y: chain(x, lambda value, best: (best < value).of("not")),
        lambda x, y: minimum(reduce(minimum, x[:4]), reduce(minimum, x[2:])),
    ),
    "what is at least 0": (
        lambda x, y: maximum(x[0], 0),
        lambda x, y: select(x[0] > 0, x[0], 0.0),
        lambda x, y: maximum(maximum(0.0 + x[0], -1.0), 0),
        lambda x, y: maximum(select(x[0] < -1, -1.0, x[0]), 0),
    ),
    "what is at least 0, or NaN": (
        lambda x, y: select(x[0] < 0, 0.0, x[0]),
        lambda x, y: select((x[0] < 0).of("not"), x[0], 0.0),
    ),
    "a distance": (
        lambda x, y: absolute(x[0] - y),
        lambda x, y: absolute(y - x[0]),
        lambda x, y: absolute(-(x[0] - y)),
    ),
    "squared deviations": (
        lambda x, y: two_pass(x),
        lambda x, y: welford(x)[1],
        lambda x, y: welford(x[::-1])[1],
        lambda x, y: merged_welford(x),
        lambda x, y: squares_less_mean(x),
        lambda x, y: shifted(x),
        lambda x, y: total([(value - welford(x)[0]) * (value - mean(x)) for value in x]),
        lambda x, y: total([(value - x[3]) * (value - mean(x)) for value in x]),
    ),
    "an inverse deviation": (
        lambda x, y: 1 / sqrt(two_pass(x) / COUNT + 1e-5),
        lambda x, y: (welford(x)[1] / COUNT + 1e-5).of("rsqrt"),
        lambda x, y: (mean([value * value for value in x]) - mean(x) * mean(x) + 1e-5).of("rsqrt"),
        lambda x, y: (merged_welford(x) / COUNT + 1e-5).of("power", -0.5),
    ),
    "a softmax": (
        lambda x, y: softmax(x),
        lambda x, y: online_softmax(x),
        lambda x, y: online_softmax(x, merged_sums),
        lambda x, y: online_softmax(x, guarded_sums),
        lambda x, y: softmax(x) * 1.0 + 0.0,
    ),
    "the place of a maximum, the first of ties": (
        lambda x, y: argument(x, lambda value, best, own, index: value > best),
        lambda x, y: merged_argument(x, lambda value, best: value > best),
        lambda x, y: argument(x, lambda value, best, own, index: (value <= best).of("not")),
    ),
    "the place of a maximum, the last of ties": (
        lambda x, y: argument(x, lambda value, best, own, index: value >= best),
        lambda x, y: argument(x[::-1], lambda value, best, own, index: value > best, range(COUNT)[::-1]),
        lambda x, y: argument(x, lambda value, best, own, index: (value > best) | value.same(best)),
    ),
    "the place of a minimum, the first of ties": (
        lambda x, y: argument(x, lambda value, best, own, index: value < best),
        lambda x, y: merged_argument(x, lambda value, best: value < best),
    ),
}
DIFFERENT = {
    "quotients that are rounded to whole numbers, which another order moves across a half": (
        lambda x, y: (x[0] / (y / 127)).of("round"),
        lambda x, y: (127 * x[0] / y).of("round"),
        lambda x, y: (x[0] * (127 / y)).of("round"),
    ),
    "what is at least 0, where NaN counts and where not": (
        lambda x, y: maximum(x[0], 0),
        lambda x, y: select(x[0] < 0, 0.0, x[0]),
        lambda x, y: select(x[0] > 0, 0.0, x[0]),
        lambda x, y: select(x[0] < 1, 1.0, x[0]),
    ),
    "squares, of which NaN counts and of which not": (
        lambda x, y: squares_less_mean(x),
        lambda x, y: maximum(squares_less_mean(x), 0),
    ),
    "a sum": (
        lambda x, y: total(x),
        lambda x, y: total(x[:-1]),
        lambda x, y: total(x[:-1]) - x[-1],
        lambda x, y: total([*x, x[0]]),
        lambda x, y: total(x) + y,
        lambda x, y: mean(x),
        lambda x, y: total(x) / (COUNT - 1),
    ),
    "a product": (
        lambda x, y: x[0] * y,
        lambda x, y: x[0] / y,
        lambda x, y: x[0] * y * y,
        lambda x, y: -(x[0] * y),
        lambda x, y: x[0] * absolute(y),
        lambda x, y: sqrt(x[0] * x[0] * y * y),
    ),
    "a square root": (lambda x, y: sqrt(x[0] * x[0]), lambda x, y: x[0], lambda x, y: -x[0]),
    "an extreme": (
        lambda x, y: reduce(maximum, x),
        lambda x, y: reduce(maximum, x[:-1]),
        lambda x, y: reduce(minimum, x),
        lambda x, y: maximum(reduce(maximum, x), 0),
        lambda x, y: reduce(maximum, map(absolute, x)),
        lambda x, y: chain(x, lambda value, best: absolute(best) < absolute(value)),
    ),
    "a selection": (
        lambda x, y: select(x[0] > y, x[1], x[2]),
        lambda x, y: select(x[0] < y, x[1], x[2]),
        lambda x, y: select(x[0] >= y, x[1], x[2]),
        lambda x, y: select(x[0].same(y), x[1], x[2]),
        lambda x, y: x[1],
        lambda x, y: x[2],
    ),
    "equal values that matter": (
        lambda x, y: select(x[0].same(y), 1.0, 0.0),
        lambda x, y: constant(y.graph, 0),
        lambda x, y: select(x[0].same(y), x[1], x[0]),
        lambda x, y: x[0],
    ),
    "a step at 0": (
        lambda x, y: select(x[0] > 0, 1.0, 0.0),
        lambda x, y: select(x[0] >= 0, 1.0, 0.0),
        lambda x, y: select(x[0] < 0, 1.0, 0.0),
    ),
    "squared deviations": (
        lambda x, y: two_pass(x) / COUNT,
        lambda x, y: two_pass(x) / (COUNT - 1),
        lambda x, y: two_pass(x[:-1]) / COUNT,
        lambda x, y: mean([value * value for value in x]) - mean(x),
        lambda x, y: mean([value * value for value in x]) + mean(x) * mean(x),
        lambda x, y: mean([value * value for value in x]) - mean(x) * mean(x) * (1 + 2**-20),
        lambda x, y: mean([value * value for value in x]),
        lambda x, y: mean([(value - y) * (value - y) for value in x]),
    ),
    "a Welford that forgets": (
        lambda x, y: welford(x)[1],
        lambda x, y: welford(x)[1] - (x[-1] - mean(x)) * (x[-1] - mean(x)),
        lambda x, y: total([(value - mean(x[:-1])) * (value - mean(x[1:])) for value in x]),
        lambda x, y: merged((3, *welford(x[:3])), (3, *welford(x[3:])))[2],
    ),
    "a softmax": (
        lambda x, y: softmax(x),
        lambda x, y: softmax(x[:-1]),
        lambda x, y: exp(x[2] - reduce(maximum, x)) / total([exp(value) for value in x]),
        lambda x, y: exp(x[2] - online(x)[0]) / (online(x[:-1])[1] + exp(x[-1] - online(x)[0])),
        lambda x, y: exp(-x[2]) / total([exp(-value) for value in x]),
    ),
    "the place of an extreme": (
        lambda x, y: argument(x, lambda value, best, own, index: value > best),
        lambda x, y: argument(x, lambda value, best, own, index: value >= best),
        lambda x, y: argument(x, lambda value, best, own, index: value < best),
        lambda x, y: argument(x[:-1], lambda value, best, own, index: value > best, range(COUNT - 1)),
        lambda x, y: argument(x, lambda value, best, own, index: value > best, range(1, COUNT + 1)),
    ),
    "an exponential": (
        lambda x, y: exp(x[0] + y),
        lambda x, y: exp(x[0]) + exp(y),
        lambda x, y: exp(x[0] * y),
        lambda x, y: (x[0] + y).of("exp2"),
        lambda x, y: exp(exp(x[0]) * y),
        lambda x, y: exp((x[0] + y) * (1 + 1e-4)),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_spellings_of_one_thing_have_one_form(name):
    told = forms_of(*SAME[name])
    assert [form == told[0] for form in told] == [True] * len(told)


@pytest.mark.parametrize("name", SAME)
def test_spellings_of_one_thing_have_one_form_whichever_comes_first(name):
    told = forms_of(*SAME[name][::-1])
    assert [form == told[0] for form in told] == [True] * len(told)


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_looks_alike_has_another_form(name):
    told = forms_of(*DIFFERENT[name])
    assert len(set(told)) == len(told), [told.index(form) for form in told]


def test_places_and_weights_do_not_show_in_a_skeleton():
    graph = Graph()
    x = Tensor(graph, "x", (COUNT,))
    normaliser = Normaliser(graph)
    spelled = [softmax([x[at] for at in range(count)]) * scale for count, scale in ((4, 2), (5, 3), (7, 4))]
    told = [normaliser.forms.skeleton(normaliser.form(one.node)) for one in spelled]
    assert len(set(told)) == 1
    other = exp(x[0]) * 2
    assert normaliser.forms.skeleton(normaliser.form(other.node)) != told[0]


def test_a_long_chain_needs_no_deep_stack():
    graph = Graph()
    x = Tensor(graph, "x", (5000,))
    items = [x[at] for at in range(5000)]
    normaliser = Normaliser(graph)
    forward, backward = total(items), total(items[::-1])
    assert normaliser.form(forward.node) == normaliser.form(backward.node)
    largest = [normaliser.form(reduce(maximum, part).node) for part in (items[:800], items[:800][::-1])]
    assert largest[0] == largest[1]
    assert len(normaliser.forms[largest[0]].items) == 800
