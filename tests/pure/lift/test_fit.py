"""Kernels in several spellings lift to programs that give what numpy gives, at sizes at which none was executed."""

# ruff: noqa: ARG001, ARG005 - all kernels take the same

import math
from functools import reduce

import numpy as np
import pytest

from tests.pure.lift.lifted_programs import arrays_of, lifted_program, values
from tests.pure.lift.symbolic_floats import constant, exp, lowest, maximum, minimum, select, sqrt

MATRIX = {"x": ("rows", "cols")}
PROBES = tuple({"rows": rows, "cols": cols} for rows, cols in ((3, 7), (5, 10), (4, 11), (6, 8)))
OTHERS = ({"rows": 2, "cols": 23}, {"rows": 9, "cols": 3})


def elementwise(of):
    """A kernel that computes each element of a matrix on its own."""

    def kernel(tensors, sizes, graph):
        return {(i, j): of(tensors, i, j, sizes, graph) for i in range(sizes["rows"]) for j in range(sizes["cols"])}

    return kernel


def by_row(of):
    """A kernel that makes one number of each row, which comes as a list."""

    def kernel(tensors, sizes, graph):
        return {(i,): of([tensors["x"][i, j] for j in range(sizes["cols"])], graph) for i in range(sizes["rows"])}

    return kernel


def rows_of(of):
    """A kernel that makes a row of each row."""

    def kernel(tensors, sizes, graph):
        told = {i: of([tensors["x"][i, j] for j in range(sizes["cols"])], graph) for i in range(sizes["rows"])}
        return {(i, j): value for i, row in told.items() for j, value in enumerate(row)}

    return kernel


def total(items, graph):
    return reduce(lambda a, b: a + b, items, constant(graph, 0))


def strided(row, graph):
    """A sum as a block of three threads takes it: each its own elements, then all of them in a tree."""
    first, second, third = (total(row[start::3], graph) for start in range(3))
    return (first + third) + second


def by_column(tensors, sizes, graph):
    x = tensors["x"]
    return {
        (j,): total([x[i, j] for i in reversed(range(sizes["rows"]))], graph) / sizes["rows"]
        for j in range(sizes["cols"])
    }


def whole(tensors, sizes, graph):
    x = tensors["x"]
    squares = [x[i, j] * x[i, j] for i in range(sizes["rows"]) for j in range(sizes["cols"])]
    return {(): sqrt(strided(squares, graph))}


def softmax(row, graph):
    largest = reduce(lambda best, value: select(value > best, value, best), row)
    summed = total([exp(value - largest) for value in row], graph)
    return [exp(value - largest) / summed for value in row]


def online_softmax(row, graph):
    largest, summed = lowest(graph), constant(graph, 0)
    for value in row:
        new = maximum(largest, value)
        summed = summed * exp(largest - new) + exp(value - new)
        largest = new
    return [exp(value - largest) / summed for value in row]


def normalised(row, graph):
    """A layer norm by Welford's recurrence."""
    average, squares = constant(graph, 0), constant(graph, 0)
    for seen, value in enumerate(row, 1):
        before = value - average
        average = average + before / seen
        squares = squares + before * (value - average)
    return [(value - average) / sqrt(squares / len(row) + 0.5) for value in row]


def normalised_in_one_pass(row, graph):
    average, square = (total(items, graph) / len(row) for items in (row, [value * value for value in row]))
    inverse = (maximum(square - average * average, 0) + 0.5).of("rsqrt")
    return [(value - average) * inverse for value in row]


def scanned(row, graph, *, is_exclusive=False):
    told, current = [], constant(graph, 0)
    for value in row:
        before, current = current, current + value
        told.append(before if is_exclusive else current)
    return told


def scanned_in_steps(row, graph):
    """A scan in a logarithmic number of steps."""
    step, told = 1, list(row)
    while step < len(row):
        told = [value + told[at - step] if at >= step else value for at, value in enumerate(told)]
        step *= 2
    return told


def reversed_scan(row, graph):
    return scanned(row[::-1], graph)[::-1]


def running_maximum(row, graph):
    return [reduce(maximum, row[: at + 1]) for at in range(len(row))]


def argument(row, graph):
    best, index = row[0], constant(graph, 0)
    for at, value in enumerate(row[1:], 1):
        index = select(value < best, at, index)
        best = minimum(best, value)
    return index


def argument_in_a_tree(row, graph):
    """An arg-minimum over pairs, where the smaller index wins a tie; its payload is twice the index, and 1."""

    def merged(one, other):
        (a, first), (b, second) = one, other
        is_taken = (b < a) | (a.same(b) & (second < first))
        return select(is_taken, b, a), select(is_taken, second, first)

    items = [(value, constant(graph, 2 * at + 1)) for at, value in enumerate(row)]
    while len(items) > 1:
        half = (len(items) + 1) // 2
        items = [merged(items[at], items[at + half]) if at + half < len(items) else items[at] for at in range(half)]
    return items[0][1]


def outer(tensors, sizes, graph):
    return {(i, j): tensors["x"][i] * tensors["y"][j] for i in range(sizes["rows"]) for j in range(sizes["cols"])}


def weighted(row, graph):
    return total([value * (3 * at + 2) for at, value in enumerate(row)], graph)


def transposed(tensors, sizes, graph):
    return {(j, i): tensors["x"][i, j] * 2 for i in range(sizes["rows"]) for j in range(sizes["cols"])}


def differences(tensors, i, j, sizes, graph):
    x = tensors["x"]
    return x[i, j] - x[i, j + 1] if j + 1 < sizes["cols"] else x[i, j]


def half_square(tensors, i, j, sizes, graph):
    apart = tensors["x"][i, j] - tensors["y"][i, j]
    return apart * apart * 0.5


def scaled_by_root(tensors, i, j, sizes, graph):
    return tensors["x"][i, j] / sqrt(constant(graph, sizes["cols"]))


def product_of_rows(row, graph):
    return reduce(lambda a, b: a * b, row)


def numpy_softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def numpy_normalised(x):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.5)


PAIR = {"x": ("rows", "cols"), "y": ("rows", "cols")}
SAME_SHAPE = ("rows", "cols")
KERNELS = {
    # a kernel, its inputs, the shape of its output, and numpy's words for it
    "row sum": (by_row(total), MATRIX, ("rows",), lambda x: x.sum(1)),
    "row sum in a tree": (by_row(strided), MATRIX, ("rows",), lambda x: x.sum(1)),
    "row product": (by_row(product_of_rows), MATRIX, ("rows",), lambda x: x.prod(1)),
    "column mean": (by_column, MATRIX, ("cols",), lambda x: x.mean(0)),
    "norm of all": (whole, MATRIX, (), lambda x: np.sqrt((x * x).sum())),
    "softmax": (rows_of(softmax), MATRIX, SAME_SHAPE, numpy_softmax),
    "online softmax": (rows_of(online_softmax), MATRIX, SAME_SHAPE, numpy_softmax),
    "Welford": (rows_of(normalised), MATRIX, SAME_SHAPE, numpy_normalised),
    "one pass": (rows_of(normalised_in_one_pass), MATRIX, SAME_SHAPE, numpy_normalised),
    "mean subtracted": (
        rows_of(lambda row, graph: [value - total(row, graph) / len(row) for value in row]),
        MATRIX,
        SAME_SHAPE,
        lambda x: x - x.mean(1, keepdims=True),
    ),
    "prefix sums": (rows_of(scanned), MATRIX, SAME_SHAPE, lambda x: x.cumsum(1)),
    "prefix sums in steps": (rows_of(scanned_in_steps), MATRIX, SAME_SHAPE, lambda x: x.cumsum(1)),
    "suffix sums": (rows_of(reversed_scan), MATRIX, SAME_SHAPE, lambda x: x[:, ::-1].cumsum(1)[:, ::-1]),
    "exclusive sums": (
        rows_of(lambda row, graph: scanned(row, graph, is_exclusive=True)),
        MATRIX,
        SAME_SHAPE,
        lambda x: x.cumsum(1) - x,
    ),
    "running maximum": (rows_of(running_maximum), MATRIX, SAME_SHAPE, lambda x: np.maximum.accumulate(x, 1)),
    "arg-minimum": (by_row(argument), MATRIX, ("rows",), lambda x: x.argmin(1)),
    "arg-minimum in a tree": (by_row(argument_in_a_tree), MATRIX, ("rows",), lambda x: 2 * x.argmin(1) + 1),
    "outer product": (outer, {"x": ("rows",), "y": ("cols",)}, SAME_SHAPE, lambda x, y: x[:, None] * y),
    "weights": (by_row(weighted), MATRIX, ("rows",), lambda x: x @ (3 * np.arange(x.shape[1]) + 2)),
    "transposed": (transposed, MATRIX, ("cols", "rows"), lambda x: 2 * x.T),
    "flipped": (rows_of(lambda row, graph: row[::-1]), MATRIX, SAME_SHAPE, lambda x: x[:, ::-1]),
    "differences": (
        elementwise(differences),
        MATRIX,
        SAME_SHAPE,
        lambda x: x - np.pad(x[:, 1:], ((0, 0), (0, 1))),
    ),
    "position": (
        elementwise(lambda tensors, i, j, sizes, graph: tensors["x"][i, j] * 0 + (i * sizes["cols"] + j)),
        MATRIX,
        SAME_SHAPE,
        lambda x: np.arange(x.size, dtype=float).reshape(x.shape),
    ),
    "half a square": (elementwise(half_square), PAIR, SAME_SHAPE, lambda x, y: 0.5 * (x - y) ** 2),
    "step": (
        elementwise(lambda tensors, i, j, sizes, graph: select(tensors["x"][i, j] > 0, 1.0, 0.0)),
        MATRIX,
        SAME_SHAPE,
        lambda x: (x > 0).astype(float),
    ),
    "turned step": (
        elementwise(lambda tensors, i, j, sizes, graph: select(tensors["x"][i, j] < 0, 1.0, 0.0)),
        MATRIX,
        SAME_SHAPE,
        lambda x: (x < 0).astype(float),
    ),
    "comparison": (
        elementwise(lambda tensors, i, j, sizes, graph: select(tensors["y"][i, j] > tensors["x"][i, j], 1.0, 2.0)),
        PAIR,
        SAME_SHAPE,
        lambda x, y: np.where(y > x, 1.0, 2.0),
    ),
    "leaky": (
        elementwise(
            lambda tensors, i, j, sizes, graph: select(
                tensors["x"][i, j] > 0, tensors["x"][i, j], tensors["x"][i, j] * 0.01
            )
        ),
        MATRIX,
        SAME_SHAPE,
        lambda x: np.where(x > 0, x, 0.01 * x),
    ),
    "over the root of a size": (elementwise(scaled_by_root), MATRIX, SAME_SHAPE, lambda x: x / math.sqrt(x.shape[1])),
    "bounded": (
        elementwise(lambda tensors, i, j, sizes, graph: maximum(minimum(tensors["x"][i, j], 0.5), -0.5)),
        MATRIX,
        SAME_SHAPE,
        lambda x: x.clip(-0.5, 0.5),
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_lifted_program_gives_what_numpy_gives(name):
    kernel, inputs, output, numpy_kernel = KERNELS[name]
    program = lifted_program(kernel, inputs, output, PROBES)
    for sizes in (*OTHERS, PROBES[0]):
        for ties in (False, True):
            arrays = arrays_of(inputs, sizes, ties=ties)
            np.testing.assert_allclose(values(program, arrays, sizes), numpy_kernel(**arrays), rtol=1e-5, atol=1e-6)
