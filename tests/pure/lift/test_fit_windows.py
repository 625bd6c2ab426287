"""Windows, groups, gathers and split axes lift to programs that give what numpy gives at other sizes."""

# ruff: noqa: ARG001, ARG005 - all kernels take the same

from functools import reduce
from itertools import product
from math import ceil

import numpy as np
import pytest

from tests.pure.lift.lifted_programs import arrays_of, lifted_program, values
from tests.pure.lift.symbolic_floats import constant, exp, lowest, maximum, select, sqrt


def total(items, graph):
    return reduce(lambda a, b: a + b, items, constant(graph, 0))


def sized(names, *rows):
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)


WINDOW = "(length + 2 * padding - (dilation * (kernel - 1) + 1)) // stride + 1"
POOLED = sized(
    "rows length kernel stride padding dilation",
    (2, 17, 3, 2, 1, 2),
    (3, 13, 2, 3, 1, 3),
    (2, 23, 4, 1, 2, 3),
    (3, 19, 3, 4, 1, 1),
    (2, 29, 5, 3, 2, 2),
)


def window(length, kernel, stride, padding, dilation, at):
    places = (at * stride - padding + turn * dilation for turn in range(kernel))
    return [place for place in places if 0 <= place < length]


def windows(sizes):
    named = ("length", "kernel", "stride", "padding", "dilation")
    length, kernel, stride, padding, dilation = (sizes[name] for name in named)
    count = (length + 2 * padding - (dilation * (kernel - 1) + 1)) // stride + 1
    return [window(length, kernel, stride, padding, dilation, at) for at in range(count)]


def pooled(reduced):
    def kernel(tensors, sizes, graph):
        x = tensors["x"]
        return {
            (i, at): reduced([x[i, place] for place in places], sizes, graph)
            for i in range(sizes["rows"])
            for at, places in enumerate(windows(sizes))
        }

    return kernel


def numpy_pooled(reduced):
    def kernel(x, sizes):
        return np.stack([reduced(x[:, places], sizes) for places in windows(sizes)], 1)

    return kernel


def clipped_maximum(tensors, sizes, graph):
    """The same maximum over bounds that are computed first, as another library writes it."""
    told = {}
    for i, at in product(range(sizes["rows"]), range(len(windows(sizes)))):
        start = at * sizes["stride"] - sizes["padding"]
        first = ceil(-start / sizes["dilation"]) * sizes["dilation"] + start if start < 0 else start
        end = min(start + (sizes["kernel"] - 1) * sizes["dilation"] + 1, sizes["length"])
        best = lowest(graph)
        for place in range(first, end, sizes["dilation"]):
            best = select(tensors["x"][i, place] > best, tensors["x"][i, place], best)
        told[i, at] = best
    return told


GROUPED = sized("batch groups size", (2, 3, 4), (3, 2, 5), (2, 4, 3), (4, 5, 6))


def grouped(tensors, sizes, graph):
    """A group norm: each channel less the mean of its group."""
    told = {}
    for n, group in product(range(sizes["batch"]), range(sizes["groups"])):
        channels = range(group * sizes["size"], (group + 1) * sizes["size"])
        average = total([tensors["x"][n, c] for c in channels], graph) / sizes["size"]
        square = total([(tensors["x"][n, c] - average) * (tensors["x"][n, c] - average) for c in channels], graph)
        for c in channels:
            scaled = (tensors["x"][n, c] - average) / sqrt(square / sizes["size"] + 0.5)
            told[n, c] = scaled * tensors["weight"][c]
    return told


def numpy_grouped(x, weight, sizes):
    apart = x.reshape(sizes["batch"], sizes["groups"], sizes["size"])
    mean, deviation = apart.mean(2, keepdims=True), apart.var(2, keepdims=True)
    return ((apart - mean) / np.sqrt(deviation + 0.5)).reshape(x.shape) * weight


def group_sums(tensors, sizes, graph):
    spans = [range(g * sizes["size"], (g + 1) * sizes["size"]) for g in range(sizes["groups"])]
    return {
        (n, g): total([tensors["x"][n, c] for c in span], graph)
        for n in range(sizes["batch"])
        for g, span in enumerate(spans)
    }


SPLIT = sized("batch channels height", (3, 4, 5), (4, 3, 7), (5, 6, 3), (3, 5, 4))


def batch_variance(tensors, sizes, graph):
    """The unbiased variance of each channel, by E[x^2] - mean^2 over batch and height."""
    told, count = {}, sizes["batch"] * sizes["height"]
    for c in range(sizes["channels"]):
        items = [tensors["x"][n, c, h] for n, h in product(range(sizes["batch"]), range(sizes["height"]))]
        average, square = total(items, graph) / count, total([item * item for item in items], graph) / count
        told[c,] = maximum(square - average * average, 0) * count / (count - 1)
    return told


def merged_by_batch(tensors, sizes, graph):
    """The variance of each channel, from the mean and squared deviations of each batch, which are merged."""
    told = {}
    for c in range(sizes["channels"]):
        seen, average, square = 0, constant(graph, 0), constant(graph, 0)
        for n in range(sizes["batch"]):
            items = [tensors["x"][n, c, h] for h in range(sizes["height"])]
            own = total(items, graph) / len(items)
            inner = total([(item - own) * (item - own) for item in items], graph)
            apart, before, seen = own - average, seen, seen + len(items)
            average = average + apart * len(items) / seen
            square = square + inner + apart * apart * (before * len(items)) / seen
        told[c,] = square / seen
    return told


def summed_deviations(tensors, sizes, graph):
    """The squared deviations of all channels, each by Welford's recurrence, added up."""
    told = constant(graph, 0)
    for c in range(sizes["channels"]):
        average, square = constant(graph, 0), constant(graph, 0)
        for seen, n in enumerate(range(sizes["batch"]), 1):
            before = tensors["x"][n, c, 0] - average
            average = average + before / seen
            square = square + before * (tensors["x"][n, c, 0] - average)
        told = told + square
    return {(): told}


LABELLED = sized("rows classes", (3, 5), (4, 7), (6, 4), (5, 9))
EMBEDDED = sized("rows vocabulary width", (3, 5, 4), (4, 7, 3), (6, 4, 5), (5, 9, 6))


def cross_entropy(tensors, sizes, graph):
    losses = []
    for i in range(sizes["rows"]):
        row = [tensors["x"][i, j] for j in range(sizes["classes"])]
        largest = reduce(maximum, row)
        summed = total([exp(value - largest) for value in row], graph)
        label = tensors["x"].gathered(tensors["labels"][i] + i * sizes["classes"])
        losses.append(largest + summed.of("log") - label)
    return {(): total(losses, graph) / sizes["rows"]}


def numpy_cross_entropy(x, labels, sizes):
    taken = x[np.arange(len(x)), labels.astype(int)]
    return (np.log(np.exp(x).sum(1)) - taken).mean()


def embedded(tensors, sizes, graph):
    return {
        (i, j): tensors["table"].gathered(tensors["labels"][i] * sizes["width"] + j)
        for i in range(sizes["rows"])
        for j in range(sizes["width"])
    }


def embedded_sums(tensors, sizes, graph):
    places = embedded(tensors, sizes, graph)
    return {(i,): total([places[i, j] for j in range(sizes["width"])], graph) for i in range(sizes["rows"])}


MEAN_OF_POOL = pooled(lambda items, sizes, graph: total(items, graph) / sizes["kernel"])
KERNELS = {
    "max pool": (
        pooled(lambda items, sizes, graph: reduce(maximum, items)),
        {"x": ("rows", "length")},
        ("rows", WINDOW),
        POOLED,
        numpy_pooled(lambda part, sizes: part.max(1)),
    ),
    "max pool, bounds first": (
        clipped_maximum,
        {"x": ("rows", "length")},
        ("rows", WINDOW),
        POOLED,
        numpy_pooled(lambda part, sizes: part.max(1)),
    ),
    "mean pool": (
        MEAN_OF_POOL,
        {"x": ("rows", "length")},
        ("rows", WINDOW),
        POOLED,
        numpy_pooled(lambda part, sizes: part.sum(1) / sizes["kernel"]),
    ),
    "group norm": (
        grouped,
        {"x": ("batch", "groups * size"), "weight": ("groups * size",)},
        ("batch", "groups * size"),
        GROUPED,
        numpy_grouped,
    ),
    "group sums": (
        group_sums,
        {"x": ("batch", "groups * size")},
        ("batch", "groups"),
        GROUPED,
        lambda x, sizes: x.reshape(sizes["batch"], sizes["groups"], sizes["size"]).sum(2),
    ),
    "unbiased variance": (
        batch_variance,
        {"x": ("batch", "channels", "height")},
        ("channels",),
        SPLIT,
        lambda x, sizes: x.transpose(1, 0, 2).reshape(x.shape[1], -1).var(1, ddof=1),
    ),
    "merged variance": (
        merged_by_batch,
        {"x": ("batch", "channels", "height")},
        ("channels",),
        SPLIT,
        lambda x, sizes: x.var((0, 2)),
    ),
    "summed deviations": (
        summed_deviations,
        {"x": ("batch", "channels", "height")},
        (),
        SPLIT,
        lambda x, sizes: x[:, :, 0].var(0).sum() * len(x),
    ),
    "cross entropy": (
        cross_entropy,
        {"x": ("rows", "classes"), "labels": ("rows",)},
        (),
        LABELLED,
        numpy_cross_entropy,
    ),
    "embedding": (
        embedded,
        {"table": ("vocabulary", "width"), "labels": ("rows",)},
        ("rows", "width"),
        EMBEDDED,
        lambda table, labels, sizes: table[labels.astype(int)],
    ),
    "sums of an embedding": (
        embedded_sums,
        {"table": ("vocabulary", "width"), "labels": ("rows",)},
        ("rows",),
        EMBEDDED,
        lambda table, labels, sizes: table[labels.astype(int)].sum(1),
    ),
}
OTHERS = {
    id(POOLED): sized(
        "rows length kernel stride padding dilation", (1, 41, 3, 2, 1, 2), (2, 12, 4, 2, 0, 1), (3, 31, 2, 5, 1, 7)
    ),
    id(GROUPED): sized("batch groups size", (1, 6, 7), (5, 2, 9)),
    id(SPLIT): sized("batch channels height", (2, 9, 8), (7, 2, 2)),
    id(LABELLED): sized("rows classes", (11, 3), (2, 20)),
    id(EMBEDDED): sized("rows vocabulary width", (2, 3, 11), (9, 20, 2)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_lifted_program_gives_what_numpy_gives(name):
    kernel, inputs, output, probes, numpy_kernel = KERNELS[name]
    program = lifted_program(kernel, inputs, output, probes)
    for sizes in (*OTHERS[id(probes)], probes[0]):
        labels = sizes.get("classes") or sizes.get("vocabulary") or 0
        arrays = arrays_of(inputs, sizes, labels=labels)
        np.testing.assert_allclose(
            values(program, arrays, sizes), numpy_kernel(**arrays, sizes=sizes), rtol=1e-5, atol=1e-6
        )
