"""Whole operators lift to programs that give what numpy gives; what is too much is refused, and never lifted wrong."""

# ruff: noqa: ARG001 - all kernels take the same
from functools import reduce
from itertools import product

import numpy as np
import pytest

from porter.lift.nodes import NotLiftedError
from tests.pure.lift.lifted_programs import arrays_of, lifted_program, values
from tests.pure.lift.symbolic_floats import absolute, constant, exp, lowest, maximum, select, sqrt


def total(items):
    return reduce(lambda a, b: a + b, items)


def points(*counts):
    return product(*map(range, counts))


def sized(names, *rows):
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)


def matrix_product(t, s, g):
    return {(i, j): total([t["x"][i, k] * t["y"][k, j] for k in range(s["k"])]) for i, j in points(s["m"], s["n"])}


def distances(t, s, g):
    def apart(i, j, k):
        return t["x"][i, k] - t["y"][j, k]

    return {
        (i, j): sqrt(total([apart(i, j, k) * apart(i, j, k) for k in range(s["k"])])) for i, j in points(s["m"], s["n"])
    }


def numpy_distances(x, y):
    return np.sqrt(((x[:, None] - y) ** 2).sum(2))


def convolution(t, s, g):
    (weight,) = (tensor for name, tensor in t.items() if name != "x")

    def at(i, j):
        return total([t["x"][i, j + k - 1] * weight[k] for k in range(3) if 0 <= j + k - 1 < s["n"]])

    return {(i, j): at(i, j) for i, j in points(s["m"], s["n"])}


def numpy_convolution(x, weight):
    return np.stack([np.convolve(row, weight[::-1], "same") for row in x])


def attention(t, s, g, *, is_causal=False):
    """Rows of queries against all keys, or those before, with an online softmax that is carried along."""
    told = {}
    for i in range(s["m"]):
        largest, summed, mixed = lowest(g), constant(g, 0), [constant(g, 0)] * s["n"]
        for j in range(i + 1 if is_causal else s["m"]):
            score = total([t["q"][i, d] * t["k"][j, d] for d in range(s["n"])]) * 0.125
            new = maximum(largest, score)
            scale, power = exp(largest - new), exp(score - new)
            mixed = [old * scale + power * t["v"][j, d] for d, old in enumerate(mixed)]
            largest, summed = new, summed * scale + power
        told |= {(i, d): value / summed for d, value in enumerate(mixed)}
    return told


def causal_attention(t, s, g):
    return attention(t, s, g, is_causal=True)


def numpy_attention(q, k, v):
    return mixed_values(q @ k.T * 0.125, v)


def numpy_causal_attention(q, k, v):
    scores = q @ k.T * 0.125
    return mixed_values(np.where(np.tri(len(q)) > 0, scores, -np.inf), v)


def mixed_values(scores, v):
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True) @ v


def log_softmax(t, s, g):
    told = {}
    for i in range(s["m"]):
        row = [t["x"][i, j] for j in range(s["n"])]
        largest = reduce(maximum, row)
        logarithm = total([exp(value - largest) for value in row]).of("log")
        told |= {(i, j): value - largest - logarithm for j, value in enumerate(row)}
    return told


def guarded_log_sum(t, s, g):
    """The logarithm of a sum of exponentials, with a case for a largest that did not change."""
    told = {}
    for i in range(s["m"]):
        largest, summed = lowest(g), constant(g, 0)
        for j in range(s["n"]):
            new = maximum(largest, t["x"][i, j])
            summed = select(largest.same(new), summed, summed * exp(largest - new)) + exp(t["x"][i, j] - new)
            largest = new
        told[i,] = largest + summed.of("log")
    return told


def norm_backward(t, s, g):
    """The gradient of a layer norm by its input; `dy` is that by its output."""
    told, count = {}, s["n"]
    for i in range(s["m"]):
        row, dy = ([t[name][i, j] for j in range(count)] for name in ("x", "dy"))
        mean = total(row) / count
        inverse = (total([(value - mean) * (value - mean) for value in row]) / count + 0.5).of("rsqrt")
        normal = [(value - mean) * inverse for value in row]
        shift, slope = total(dy) / count, total([a * b for a, b in zip(dy, normal, strict=True)]) / count
        told |= {(i, j): (dy[j] - shift - normal[j] * slope) * inverse for j in range(count)}
    return told


def numpy_norm_backward(x, dy):
    inverse = 1 / np.sqrt(x.var(1, keepdims=True) + 0.5)
    normal = (x - x.mean(1, keepdims=True)) * inverse
    return (dy - dy.mean(1, keepdims=True) - normal * (dy * normal).mean(1, keepdims=True)) * inverse


def running_products(t, s, g):
    return {(i, j): reduce(lambda a, b: a * b, [t["x"][i, k] for k in range(j + 1)]) for i, j in points(s["m"], s["n"])}


def gated(t, s, g):
    x = t["x"]
    return {(i, j): x[i, j] / (1 + exp(-x[i, j])) * x[i, j + s["n"]] for i, j in points(s["m"], s["n"])}


def numpy_gated(x):
    gate, value = np.split(x, 2, axis=1)
    return gate / (1 + np.exp(-gate)) * value


def rotated(t, s, g):
    """A rotary embedding: each half of a row is computed differently."""
    told = {}
    for i, j in points(s["m"], s["n"]):
        one, other = t["x"][i, j], t["x"][i, j + s["n"]]
        told[i, j] = one * t["cos"][i, j] - other * t["sin"][i, j]
        told[i, j + s["n"]] = other * t["cos"][i, j] + one * t["sin"][i, j]
    return told


def numpy_rotated(x, cos, sin):
    one, other = np.split(x, 2, axis=1)
    return np.concatenate([one * cos - other * sin, other * cos + one * sin], 1)


def repeated(t, s, g):
    return {(i, j): t["x"][i, j // 3] for i, j in points(s["m"], 3 * s["n"])}


def products_of_rows(t, s, g):
    return {(i, j): total([t["x"][i, k] * t["x"][j, k] for k in range(s["n"])]) for i, j in points(s["m"], s["m"])}


def differences(t, s, g):
    return {(i, j): t["x"][i, 0] - t["x"][j, 0] for i, j in points(s["m"], s["m"])}


def gaps(t, s, g):
    return {(i, j): absolute(t["x"][i, 0] - t["x"][j, 0]) for i, j in points(s["m"], s["m"])}


def joined(t, s, g):
    return {(i,): t["x"][i, 0] if i < s["m"] else t["y"][i - s["m"], 0] for i in range(2 * s["m"])}


def running_extreme_before(t, s, g):
    """An exclusive running maximum, in whose first place there is nothing."""
    return {
        (i, j): reduce(maximum, [t["x"][i, k] for k in range(j)], lowest(g)) if j else constant(g, 0)
        for i, j in points(s["m"], s["n"])
    }


def numpy_running_extreme_before(x):
    return np.concatenate([x[:, :1] * 0, np.maximum.accumulate(x, 1)[:, :-1]], 1)


TWO = sized("m n", (3, 4), (4, 6), (5, 3), (6, 7))
THREE = sized("m n k", (3, 4, 5), (4, 6, 3), (5, 3, 6), (6, 7, 4))
MATRIX = {"x": ("m", "n")}
OPERATORS = {
    "matrix product": (matrix_product, {"x": ("m", "k"), "y": ("k", "n")}, ("m", "n"), THREE, lambda x, y: x @ y),
    "distances": (distances, {"x": ("m", "k"), "y": ("n", "k")}, ("m", "n"), THREE, numpy_distances),
    "attention": (attention, dict.fromkeys("qkv", ("m", "n")), ("m", "n"), TWO, numpy_attention),
    "log softmax": (log_softmax, MATRIX, ("m", "n"), TWO, lambda x: x - np.log(np.exp(x).sum(1, keepdims=True))),
    "guarded log sum": (guarded_log_sum, MATRIX, ("m",), TWO, lambda x: np.log(np.exp(x).sum(1))),
    "norm backward": (norm_backward, {**MATRIX, "dy": ("m", "n")}, ("m", "n"), TWO, numpy_norm_backward),
    "running products": (running_products, MATRIX, ("m", "n"), TWO, lambda x: x.cumprod(1)),
    "gated": (gated, {"x": ("m", "2 * n")}, ("m", "n"), TWO, numpy_gated),
    "rotated": (
        rotated,
        {"x": ("m", "2 * n"), "cos": ("m", "n"), "sin": ("m", "n")},
        ("m", "2 * n"),
        TWO,
        numpy_rotated,
    ),
    "repeated": (repeated, MATRIX, ("m", "3 * n"), TWO, lambda x: x.repeat(3, 1)),
}
HARD = {
    "causal attention": (
        causal_attention,
        dict.fromkeys("qkv", ("m", "n")),
        ("m", "n"),
        TWO,
        numpy_causal_attention,
    ),
    "products of rows": (products_of_rows, MATRIX, ("m", "m"), TWO, lambda x: x @ x.T),
    "differences": (differences, MATRIX, ("m", "m"), TWO, lambda x: x[:, :1] - x[:, 0]),
    "gaps": (gaps, MATRIX, ("m", "m"), TWO, lambda x: abs(x[:, :1] - x[:, 0])),
    "joined": (joined, {**MATRIX, "y": ("m", "n")}, ("2 * m",), TWO, lambda x, y: np.concatenate([x, y])[:, 0]),
    "exclusive running maximum": (
        running_extreme_before,
        MATRIX,
        ("m", "n"),
        TWO,
        numpy_running_extreme_before,
    ),
}


def assert_right(program, inputs, probes, numpy_kernel):
    for sizes in ({"m": 9, "n": 11, "k": 8}, {"m": 2, "n": 17, "k": 3}, probes[0]):
        own = {name: sizes[name] for name in probes[0]}
        arrays = arrays_of(inputs, own)
        np.testing.assert_allclose(values(program, arrays, own), numpy_kernel(**arrays), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_gives_what_numpy_gives(name):
    kernel, inputs, output, probes, numpy_kernel = OPERATORS[name]
    assert_right(lifted_program(kernel, inputs, output, probes), inputs, probes, numpy_kernel)


@pytest.mark.parametrize("name", HARD)
def test_an_operator_that_is_too_much_is_refused_or_right(name):
    kernel, inputs, output, probes, numpy_kernel = HARD[name]
    try:
        program = lifted_program(kernel, inputs, output, probes)
    except NotLiftedError:
        return
    assert_right(program, inputs, probes, numpy_kernel)


@pytest.mark.parametrize("name", ["weight", "y", "filter", "w"])
def test_what_an_input_is_called_does_not_matter(name):
    """An item of a convolution is told apart by the place in the row as well as by that in the weights."""
    inputs, probes = {"x": ("m", "n"), name: ("3",)}, sized("m n", (2, 8), (3, 9), (4, 11), (5, 13))
    program = lifted_program(convolution, inputs, ("m", "n"), probes)
    assert_right(program, inputs, probes, lambda **arrays: numpy_convolution(*arrays.values()))
