"""Tensor programs written by hand, one for each way in which loops are merged, split and reduced."""

from dataclasses import replace
from fractions import Fraction

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
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Floor, Quantity

F32 = DType.FLOAT32
ONE = Quantity.of(1)


def size(*names, factor=1):
    powers = {}
    for name in names:
        plain = name.removeprefix("/")
        powers[plain] = powers.get(plain, 0) + (-1 if name.startswith("/") else 1)
    return Quantity(Fraction(factor), tuple(sorted(powers.items())))


def at(name):
    return Affine(Quantity.of(0), ((name, ONE),))


def to(name, extent):
    return Range(name, Affine.of(0), Affine(size(extent)))


def number(value):
    return Number(Quantity.of(Fraction(value)))


def op(word, *operands):
    return Pointwise(word, operands)


def total(combine, ranges, body):
    return Reduce(combine, tuple(ranges), body, F32)


def x_at(*names):
    return Read("x", tuple(map(at, names)))


def operator(body, coordinates, shape, inputs=None, symbols=("rows", "columns"), parameters=(), name="out"):
    inputs = inputs or (Input("x", F32, ("rows", "columns")),)
    return TensorProgram("forward", symbols, parameters, inputs, (Output(name, F32, coordinates, shape, body),))


def pointwise():
    body = op("multiply", op("tanh", x_at("i", "j")), Number(size("alpha")))
    return operator(body, ("i", "j"), ("rows", "columns"), parameters=("alpha",))


def softmax():
    largest = total(Combine.MAXIMUM, [to("m", "columns")], x_at("i", "m"))
    off = op("add", x_at("i", "k"), op("multiply", number(-1), largest))
    below = total(Combine.SUM, [to("k", "columns")], op("exp", off))
    own = op("exp", op("add", x_at("i", "j"), op("multiply", number(-1), largest)))
    return operator(op("divide", own, below), ("i", "j"), ("rows", "columns"))


def moments(read, ranges, count):
    """Returns minus the mean and the sum of squared deviations of what `read` gives of `ranges`."""
    mean = op("multiply", Number(Quantity(-count.factor, count.powers)), total(Combine.SUM, ranges, read))
    off = op("add", mean, read)
    return mean, total(Combine.SUM, ranges, op("power", off, number(2)))


def layer_norm():
    """Returns one over three axes, with a weight for each element: all three are one loop."""
    inputs = (Input("x", F32, ("batch", "channels", "width")), Input("weight", F32, ("channels", "width")))
    count = size("/channels", "/width")
    mean, squares = moments(x_at("i", "k", "l"), [to("k", "channels"), to("l", "width")], count)
    variance = op("multiply", Number(count), squares)
    below = op("power", op("add", variance, Number(size("eps"))), number(Fraction(-1, 2)))
    own = op("multiply", Read("weight", (at("c"), at("w"))), op("add", mean, x_at("i", "c", "w")), below)
    return operator(
        own, ("i", "c", "w"), ("batch", "channels", "width"), inputs, ("batch", "channels", "width"), ("eps",)
    )


def mean_and_squares():
    """Returns one with two results: the mean of a row, and its sum of squared deviations from that."""
    columns = [to("k", "columns")]
    _, squares = moments(x_at("i", "k"), columns, size("/columns"))
    mean = op("multiply", Number(size("/columns")), total(Combine.SUM, columns, x_at("i", "k")))
    program = operator(mean, ("i",), ("rows",))
    return replace(program, outputs=(*program.outputs, replace(program.outputs[0], name="squares", body=squares)))


def group_norm():
    """Returns sums of groups of channels: the channel is two loops, and the window lies inside of its axis."""
    inputs = (Input("x", F32, ("batch", "channels", "width")), Input("weight", F32, ("channels",)))
    group = size("channels", "/groups")
    start = Affine(Quantity.of(0), ((Floor("c", group), group),))
    ranges = [Window("k", start, ONE, group, size("channels")), to("l", "width")]
    below = total(Combine.SUM, ranges, x_at("i", "k", "l"))
    own = op("add", op("multiply", Read("weight", (at("c"),)), x_at("i", "c", "w")), below)
    return operator(
        own, ("i", "c", "w"), ("batch", "channels", "width"), inputs, ("batch", "channels", "width", "groups")
    )


def column_mean():
    """Returns means along the first axis, so that neighbouring rows are neighbours in memory."""
    body = op("multiply", Number(size("/rows")), total(Combine.SUM, [to("k", "rows")], x_at("k", "j")))
    return operator(body, ("j",), ("columns",))


def weighted_columns():
    """Returns sums along the first axis of a matrix, weighted by what each of its rows has."""
    product = op("multiply", Read("weight", (at("k"),)), x_at("k", "j"))
    inputs = (Input("x", F32, ("rows", "columns")), Input("weight", F32, ("rows",)))
    return operator(total(Combine.SUM, [to("k", "rows")], product), ("j",), ("columns",), inputs)


def argmax():
    body = ArgReduce(Combine.MAXIMUM, (to("k", "columns"),), x_at("i", "k"), Position(at("k")))
    program = operator(body, ("i",), ("rows",))
    (out,) = program.outputs
    return TensorProgram(
        "forward", program.symbols, (), program.inputs, (Output("out", DType.INT64, ("i",), ("rows",), out.body),)
    )


def loss():
    """Returns the mean over rows of the logarithm of a sum over columns, less an element that data choose."""
    inputs = (Input("x", F32, ("rows", "columns")), Input("target", DType.INT64, ("rows",)))
    row = op("log", total(Combine.SUM, [to("k", "columns")], op("exp", x_at("r", "k"))))
    chosen = Read("x", (at("r"), Gathered(Affine.of(0), Read("target", (at("r"),)))))
    mean = op("multiply", Number(size("/rows")), total(Combine.SUM, [to("r", "rows")], row))
    less = op("multiply", Number(size("/rows", factor=-1)), total(Combine.SUM, [to("r", "rows")], chosen))
    return operator(op("add", mean, less), (), (), inputs)


def accumulated():
    """Returns the sums of rows, added to what an argument holds."""
    inputs = (Input("x", F32, ("rows", "columns")), Input("sums", F32, ("rows",)))
    body = op("add", Read("sums", (at("i"),)), total(Combine.SUM, [to("k", "columns")], x_at("i", "k")))
    return operator(body, ("i",), ("rows",), inputs, name="sums")


def running(*, exclusive=False, reverse=False):
    end = Affine(Quantity.of(0 if exclusive == (not reverse) else 1), (("j", ONE),))
    if reverse:
        extent = Range("k", Affine(Quantity.of(1 if exclusive else 0), (("j", ONE),)), Affine(size("columns")))
    else:
        extent = Range("k", Affine.of(0), end)
    return operator(total(Combine.SUM, [extent], x_at("i", "k")), ("i", "j"), ("rows", "columns"))


def pool():
    """Returns the largest of windows with a padding."""
    start = Affine(Quantity(Fraction(-1), (("padding", 1),)), (("j", size("stride")),))
    window = Window("k", start, ONE, size("window"), size("columns"))
    body = total(Combine.MAXIMUM, [window], x_at("i", "k"))
    shape = ("rows", "(columns + 2 * padding - window) // stride + 1")
    return operator(body, ("i", "j"), shape, symbols=("rows", "columns", "window", "stride", "padding"))


def pool_of_planes():
    """Returns sums over windows of two axes, with a padding."""

    def axis(name, own, extent):
        start = Affine(Quantity(Fraction(-1), (("padding", 1),)), ((own, size("stride")),))
        return Window(name, start, ONE, size("window"), size(extent))

    body = total(Combine.SUM, [axis("h", "i", "rows"), axis("k", "j", "columns")], op("exp", x_at("h", "k")))
    shape = tuple(f"({extent} + 2 * padding - window) // stride + 1" for extent in ("rows", "columns"))
    return operator(body, ("i", "j"), shape, symbols=("rows", "columns", "window", "stride", "padding"))


def shifted():
    """Returns the element before, which the first column has none of."""
    before = Affine(Quantity.of(-1), (("j", ONE),))
    body = op("select", op("less", number(0), Position(at("j"))), Read("x", (at("i"), before)), number(0))
    return operator(body, ("i", "j"), ("rows", "columns"))


def masked():
    """Returns the largest of what is not negative in each row; an infinity is how a formula writes none."""
    none = op("log", number(0))
    body = op("select", op("less", x_at("i", "k"), number(0)), none, x_at("i", "k"))
    return operator(total(Combine.MAXIMUM, [to("k", "columns")], body), ("i",), ("rows",))


def gated():
    """Returns elements times others, each as far as a gate of its own leaves it."""
    inputs = tuple(Input(name, F32, ("rows", "columns")) for name in ("x", "y"))
    below = op("add", op("exp", op("multiply", number(-1), x_at("i", "j"))), number(1))
    both = op("multiply", x_at("i", "j"), Read("y", (at("i"), at("j"))))
    return operator(op("multiply", op("power", below, number(-1)), both), ("i", "j"), ("rows", "columns"), inputs)


ALL = {
    "gated": gated(),
    "masked": masked(),
    "pointwise": pointwise(),
    "softmax": softmax(),
    "layer_norm": layer_norm(),
    "group_norm": group_norm(),
    "column_mean": column_mean(),
    "weighted_columns": weighted_columns(),
    "argmax": argmax(),
    "loss": loss(),
    "running": running(),
    "running_exclusive": running(exclusive=True),
    "running_reverse": running(reverse=True),
    "running_reverse_exclusive": running(exclusive=True, reverse=True),
    "pool": pool(),
    "pool of planes": pool_of_planes(),
    "shifted": shifted(),
}
