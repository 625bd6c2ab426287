"""Tensor programs made by hand: what tests verify, print and interpret."""

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
from porter.ir.tensor.notation import quantity_text
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Quantity

F32, I64 = DType.FLOAT32, DType.INT64
ONE, ZERO = Quantity.of(1), Affine.of(0)


def size(*symbols, factor=1, offset=0):
    return Quantity(Fraction(factor), tuple((symbol, 1) for symbol in sorted(symbols)), Fraction(offset))


def over(symbol):
    return number(Quantity(Fraction(1), ((symbol, -1),)))


def number(value):
    return Number(value if isinstance(value, Quantity) else Quantity.of(Fraction(value)))


def at(*terms, constant=0):
    """The sum of coordinates, each by name or as (coordinate, coefficient)."""
    pairs = tuple((term, ONE) if isinstance(term, str) else term for term in terms)
    return Affine(constant if isinstance(constant, Quantity) else Quantity.of(constant), pairs)


def read(tensor, *indices):
    return Read(tensor, tuple(at(index) if isinstance(index, str) else index for index in indices))


def op(name, *operands):
    return Pointwise(name, tuple(operand if not isinstance(operand, int) else number(operand) for operand in operands))


def upto(name, *symbols):
    return Range(name, ZERO, Affine(size(*symbols)))


def reduce(combine, ranges, body):
    return Reduce(combine, ranges if isinstance(ranges, tuple) else (ranges,), body, F32)


def total(ranges, body):
    return reduce(Combine.SUM, ranges, body)


def largest(ranges, body):
    return reduce(Combine.MAXIMUM, ranges, body)


def program(name, inputs, outputs, symbols, parameters=(), assumptions=()):
    tensors = tuple(Input(tensor, dtype, shape) for tensor, dtype, *shape in inputs)
    tensors = tuple(Input(tensor.name, tensor.dtype, tuple(tensor.shape)) for tensor in tensors)
    return TensorProgram(name, symbols, parameters, tensors, tuple(outputs), assumptions)


def output(coordinates, shape, body, name="out", dtype=F32):
    extents = tuple("" if extent is None else quantity_text(extent).text for extent in shape)
    return Output(name, dtype, tuple(coordinates.split()), extents, body)


X = ("x", F32, "rows", "columns")
SIZES = ("rows", "columns")
BY_COLUMNS = (size("rows"), size("columns"))


def softmax():
    def shifted(column, bound):
        return op("exp", op("subtract", read("x", "r", column), largest(upto(bound, "columns"), read("x", "r", bound))))

    body = op("divide", shifted("c", "k1"), total(upto("k2", "columns"), shifted("k2", "k3")))
    return program("softmax", [X], [output("r c", BY_COLUMNS, body)], SIZES, assumptions=("inputs are finite",))


def layer_norm():
    def mean(bound):
        return op("multiply", total(upto(bound, "columns"), read("x", "r", bound)), over("columns"))

    def centred(column, bound):
        return op("add", read("x", "r", column), op("multiply", -1, mean(bound)))

    square = op("power", centred("a", "b"), number(2))
    variance = op("multiply", total(upto("a", "columns"), square), over("columns"))
    scale = op("rsqrt", op("add", variance, number(size("eps"))))
    body = op("add", op("multiply", centred("c", "d"), scale, read("weight", "c")), read("bias", "c"))
    inputs = [X, ("weight", F32, "columns"), ("bias", F32, "columns")]
    return program("layer_norm", inputs, [output("r c", BY_COLUMNS, body)], SIZES, ("eps",))


def cumulative(combine=Combine.SUM, *, reverse=False):
    bounds = (at("c"), Affine(size("columns"))) if reverse else (ZERO, at("c", constant=1))
    body = reduce(combine, Range("k", *bounds), read("x", "r", "k"))
    return program("running", [X], [output("r c", BY_COLUMNS, body)], SIZES)


def max_pool():
    window = Window(
        "k",
        at(("i", size("stride")), constant=size("padding", factor=-1)),
        size("dilation"),
        size("kernel"),
        size("length"),
    )
    body = largest(window, read("x", "n", "k"))
    symbols = ("batch", "length", "kernel", "stride", "padding", "dilation")
    extents = (size("batch"), None)
    return program("max_pool", [("x", F32, "batch", "length")], [output("n i", extents, body)], symbols)


def argmin():
    body = ArgReduce(Combine.MINIMUM, (upto("k", "columns"),), read("x", "r", "k"), Position(at("k")))
    return program("argmin", [X], [output("r", BY_COLUMNS[:1], body, dtype=I64)], SIZES)


def cross_entropy():
    highest = largest(upto("a", "columns"), read("x", "r", "a"))
    again = largest(upto("b", "columns"), read("x", "r", "b"))
    exponentials = op("exp", op("subtract", read("x", "r", "k"), again))
    scale = op("add", highest, op("log", total(upto("k", "columns"), exponentials)))
    body = op("subtract", scale, read("x", "r", Gathered(ZERO, read("target", "r"))))
    inputs = [X, ("target", I64, "rows")]
    return program("cross_entropy", inputs, [output("r", BY_COLUMNS[:1], body)], SIZES)


def mean_of_all():
    everything = (upto("a", "rows"), upto("b", "columns"))
    scale = Number(Quantity(Fraction(1), (("columns", -1), ("rows", -1))))
    return program("mean", [X], [output("", (), op("multiply", total(everything, read("x", "a", "b")), scale))], SIZES)


def running_variance():
    def mean(column, bound):
        return op("multiply", total(upto(bound, "rows"), read("x", bound, column)), over("rows"))

    square = op("power", op("subtract", read("x", "k", "c"), mean("c", "m")), number(2))
    unbiased = op("divide", total(upto("k", "rows"), square), number(size("rows", offset=-1)))
    kept = op("multiply", number(size("momentum", factor=-1, offset=1)), read("running", "c"))
    body = op("add", kept, op("multiply", number(size("momentum")), unbiased))
    inputs = [X, ("running", F32, "columns")]
    return program("running_variance", inputs, [output("c", BY_COLUMNS[1:], body)], SIZES, ("momentum",))


ALL = (
    softmax,
    layer_norm,
    cumulative,
    max_pool,
    argmin,
    cross_entropy,
    mean_of_all,
    running_variance,
)
