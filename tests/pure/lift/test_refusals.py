"""What is no tensor program is refused: no program is ever lifted that differs from what was executed."""

# ruff: noqa: ARG001, ARG005 - all kernels take the same

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from porter.lift.nodes import NotLiftedError
from tests.pure.lift.form_values import applied
from tests.pure.lift.lifted_programs import arrays_of, lifted_program, program_of, values
from tests.pure.lift.symbolic_floats import (
    Symbol,
    constant,
    executed,
    exp,
    fitted,
    maximum,
    select,
    undefined,
)

MATRIX = {"x": ("rows", "cols")}
SAME_SHAPE = ("rows", "cols")
PROBES = tuple({"rows": rows, "cols": cols} for rows, cols in ((3, 8), (5, 6), (4, 10), (6, 12)))


def executed_values(kernel, inputs, output, sizes, arrays):
    """What the execution itself gives, operation by operation."""
    graph, shape, nodes = executed(kernel, inputs, output, sizes)
    flat = {name: array.ravel().tolist() for name, array in arrays.items()}
    told = []
    for node in range(len(graph)):
        match graph[node]:
            case ("number", _, value):
                told.append(value if isinstance(value, Fraction) else float(value))
            case ("read", _, tensor, at):
                told.append(flat[tensor][at])
            case ("gather", _, tensor, at):
                told.append(flat[tensor][int(told[at])])
            case ("undefined", _):
                told.append(None)
            case (op, _, *operands):
                told.append(applied(op, [told[operand] for operand in operands]))
    return np.array([float(told[node]) for node in nodes]).reshape(shape)


def elementwise(of):
    def kernel(tensors, sizes, graph):
        return {(i, j): of(tensors["x"], i, j, sizes) for i in range(sizes["rows"]) for j in range(sizes["cols"])}

    return kernel


def argument(taken, order=range):
    def kernel(tensors, sizes, graph):
        told = {}
        for i in range(sizes["rows"]):
            first, *others = order(sizes["cols"])
            best, index = tensors["x"][i, first], constant(graph, first)
            for j in others:
                condition = taken(tensors["x"][i, j], best)
                index, best = select(condition, j, index), select(condition, tensors["x"][i, j], best)
            told[i,] = index
        return told

    return kernel


LAST_OF_TIES = {
    ">=": argument(lambda value, best: value >= best),
    "<=": argument(lambda value, best: value <= best),
    "> or ==": argument(lambda value, best: (value > best) | value.same(best)),
    "from the end": argument(lambda value, best: value > best, lambda count: reversed(range(count))),
    "evens first": argument(lambda value, best: value > best, lambda count: [*range(0, count, 2), *range(1, count, 2)]),
}


@pytest.mark.parametrize("name", LAST_OF_TIES)
def test_another_choice_among_ties_is_not_lifted_as_the_first(name):
    kernel, output = LAST_OF_TIES[name], ("rows",)
    try:
        program = lifted_program(kernel, MATRIX, output, PROBES)
    except NotLiftedError:
        return
    for sizes in PROBES:
        arrays = arrays_of(MATRIX, sizes, ties=True)
        wanted = executed_values(kernel, MATRIX, output, sizes, arrays)
        np.testing.assert_array_equal(values(program, arrays, sizes), wanted)


REFUSED = {
    "halves that are computed differently": elementwise(
        lambda x, i, j, sizes: x[i, j] * 2 if j < sizes["cols"] // 2 else exp(x[i, j])
    ),
    "a border of its own": elementwise(lambda x, i, j, sizes: x[i, j] * x[i, j] if j else x[i, j] * x[i, j + 1]),
    "another element in one place": elementwise(lambda x, i, j, sizes: x[0, 0] if (i, j) == (2, 3) else x[i, j]),
    "weights that are no affine function": elementwise(lambda x, i, j, sizes: x[i, j] * (j * j * j)),
    "numbers that are no affine function": elementwise(lambda x, i, j, sizes: x[i, j] * 0 + (j * j + i)),
    "a permutation": elementwise(lambda x, i, j, sizes: x[i, j * j % sizes["cols"]]),
    "what is undefined in one place": elementwise(
        lambda x, i, j, sizes: undefined(x[i, j].graph) if (i, j) == (0, 0) else x[i, j]
    ),
    "what is undefined in a sum": elementwise(
        lambda x, i, j, sizes: x[i, j] + undefined(x[i, j].graph) if j == sizes["cols"] - 1 else x[i, j]
    ),
    "an infinity": elementwise(lambda x, i, j, sizes: maximum(x[i, j], float("inf")) if j < 1 else x[i, j]),
    "more of it where there are many": elementwise(
        lambda x, i, j, sizes: exp(x[i, j]) if sizes["cols"] > 8 else x[i, j]
    ),
    "another constant where there are many": elementwise(
        lambda x, i, j, sizes: x[i, j] * (5 if sizes["cols"] > 8 else 3)
    ),
    "another extreme where there are many": elementwise(
        lambda x, i, j, sizes: x[i, j].of("maximum" if sizes["cols"] > 8 else "minimum", x[i, 0])
    ),
    "a tile that is not crossed": elementwise(
        lambda x, i, j, sizes: sum((x[i, k] for k in range(1, min(sizes["cols"], 8))), start=x[i, 0])
    ),
    "an address from two elements": elementwise(
        lambda x, i, j, sizes: Symbol(x[i, j].graph, x[i, j].graph.gather("x", (x[i, j] + x[i, 0]).node, "float32"))
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_tensor_program_is_refused(name):
    with pytest.raises(NotLiftedError):
        lifted_program(REFUSED[name], MATRIX, SAME_SHAPE, PROBES)


LABELLED = {**MATRIX, "labels": ("rows",)}


@pytest.mark.parametrize("shift", [-1, 1, -3])
def test_labels_that_are_counted_from_elsewhere_are_lifted_or_refused(shift):
    """`x[i, labels[i] - 1]`: the address of the first row begins before the input."""

    def kernel(tensors, sizes, graph):
        return {
            (i,): tensors["x"].gathered(tensors["labels"][i] + (i * sizes["cols"] + shift))
            for i in range(sizes["rows"])
        }

    try:
        program = lifted_program(kernel, LABELLED, ("rows",), PROBES)
    except NotLiftedError:
        return
    sizes = PROBES[0]
    x, labels = np.arange(24.0).reshape(3, 8), np.array([4, 3, 4])
    arrays = {"x": x, "labels": labels}
    np.testing.assert_array_equal(values(program, arrays, sizes), x[range(3), labels + shift])


def test_an_address_that_data_decide_twice_is_refused():
    def kernel(tensors, sizes, graph):
        return {(i,): tensors["x"].gathered(tensors["labels"][i] * 2) for i in range(sizes["rows"])}

    with pytest.raises(NotLiftedError, match="not an index of one axis"):
        lifted_program(kernel, LABELLED, ("rows",), PROBES)


def softened(row):
    top = row[0]
    for value in row[1:]:
        top = maximum(top, value)
    return top


SOUND = {
    "copy": lambda x, i, j, n: x[i, j],
    "weighted": lambda x, i, j, n: x[i, j] * (2 * i + j + 1),
    "row sum": lambda x, i, j, n: sum((x[i, k] for k in range(1, n)), start=x[i, 0]),
    "prefix": lambda x, i, j, n: sum((x[i, k] for k in range(j)), start=x[i, j]),
    "neighbours": lambda x, i, j, n: softened([x[i, k] for k in range(max(0, j - 1), min(n, j + 2))]),
    "mean subtracted": lambda x, i, j, n: x[i, j] - sum((x[i, k] for k in range(1, n)), start=x[i, 0]) / n,
    "product": lambda x, i, j, n: exp(x[i, j]) * x[i, 0],
}
CHANGES = (
    lambda told, x, at, other: told[at] * 2,
    lambda told, x, at, other: -told[at],
    lambda told, x, at, other: told[at] + x[other],
    lambda told, x, at, other: told[at] - x[at],
    lambda told, x, at, other: told[other],
    lambda told, x, at, other: x[other],
    lambda told, x, at, other: maximum(told[at], x[other]),
    lambda told, x, at, other: told[at] * x[other],
    lambda told, x, at, other: told[at] + 1,
    lambda told, x, at, other: exp(told[at]),
    lambda told, x, at, other: told[at] - told[at],
)


@pytest.mark.parametrize("name", SOUND)
def test_a_change_in_some_elements_is_lifted_right_or_refused(name):
    sizes = {"rows": 4, "cols": 6}
    random = Random(name)
    arrays = arrays_of(MATRIX, sizes)
    refused = 0
    for turn in range(33):
        change = CHANGES[turn % len(CHANGES)]
        count = random.choice((1, 1, 2))
        changed = [((random.randrange(4), random.randrange(6)), (random.randrange(4), random.randrange(6)))] * count

        def kernel(tensors, sizes, graph, change=change, changed=changed):
            told = elementwise(lambda x, i, j, sizes: SOUND[name](x, i, j, sizes["cols"]))(tensors, sizes, graph)
            return told | {at: change(told, tensors["x"], at, other) for at, other in changed}

        try:
            body = fitted(kernel, MATRIX, SAME_SHAPE, sizes)
        except NotLiftedError:
            refused += 1
            continue
        told = values(program_of(body, MATRIX, SAME_SHAPE, ("rows", "cols")), arrays, sizes)
        wanted = executed_values(kernel, MATRIX, SAME_SHAPE, sizes, arrays)
        np.testing.assert_allclose(told, wanted, rtol=1e-5, atol=1e-6)
    assert refused > 20
