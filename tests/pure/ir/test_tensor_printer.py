"""Tensor programs are read at a glance."""

from dataclasses import replace
from fractions import Fraction

import pytest

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import ArgReduce, Combine, Gathered, Number, Pointwise, Position, Range
from porter.ir.tensor.printer import printed
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from tests.pure.ir import tensor_programs as programs
from tests.pure.ir.tensor_programs import I64, at, largest, number, op, output, over, program, read, size, total, upto

SOFTMAX = """\
softmax(x: float32[rows, columns]) where rows, columns
  out: float32[rows, columns]
  m[i] = max[k < columns](x[i, k])
  out[i, j] = exp(x[i, j] - m[i]) / sum[k < columns](exp(x[i, k] - m[i]))
assuming: inputs are finite
"""
LAYER_NORM = """\
layer_norm(x: float32[rows, columns], weight: float32[columns], bias: float32[columns]) where rows, columns; eps
  out: float32[rows, columns]
  v[i] = sum[k < columns](x[i, k]) / columns
  out[i, j] = (x[i, j] - v[i]) * rsqrt(sum[k < columns]((x[i, k] - v[i]) ** 2) / columns + eps) * weight[j] + bias[j]
"""
MAX_POOL = """\
max_pool(x: float32[batch, length]) where batch, length, kernel, stride, padding, dilation
  out: float32[batch, ?]
  out[i, j] = max[k = stride * j - padding + dilation * t, t < kernel, 0 <= k < length](x[i, k])
"""
CROSS_ENTROPY = """\
cross_entropy(x: float32[rows, columns], target: int64[rows]) where rows, columns
  out: float32[rows]
  m[i] = max[k < columns](x[i, k])
  out[i] = m[i] + log(sum[k < columns](exp(x[i, k] - m[i]))) - x[i, target[i]]
"""
RUNNING_VARIANCE = """\
running_variance(x: float32[rows, columns], running: float32[columns]) where rows, columns; momentum
  out: float32[columns]
  s[i] = sum[k < rows](x[k, i])
  out[i] = (1 - momentum) * running[i] + momentum * sum[k < rows]((x[k, i] - s[i] / rows) ** 2) / (rows - 1)
"""
ARGMIN = """\
argmin(x: float32[rows, columns]) where rows, columns
  out: int64[rows]
  out[i] = argmin[k < columns](x[i, k]; k)
"""
MEAN = """\
mean(x: float32[rows, columns]) where rows, columns
  out: float32
  out = sum[k < rows, k2 < columns](x[k, k2]) / (columns * rows)
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (programs.softmax, SOFTMAX),
        (programs.layer_norm, LAYER_NORM),
        (programs.max_pool, MAX_POOL),
        (programs.cross_entropy, CROSS_ENTROPY),
        (programs.running_variance, RUNNING_VARIANCE),
        (programs.argmin, ARGMIN),
        (programs.mean_of_all, MEAN),
    ],
)
def test_programs(made, expected):
    assert printed(made()) == expected


def lines(body, dtype=DType.FLOAT32, **changes):
    made = program("op", [programs.X], [output("r c", programs.BY_COLUMNS, body, dtype=dtype)], programs.SIZES)
    return printed(replace(made, **changes)).splitlines()[2:]


def written(body):
    (line,) = lines(body)
    return line.removeprefix("  out[i, j] = ")


A, B, C = read("x", "r", "c"), read("x", "c", "r"), read("x", "r", Affine.of(0))
HALF = number(Fraction(1, 2))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (op("multiply", A, op("power", B, -1)), "x[i, j] / x[j, i]"),
        (op("multiply", A, op("power", B, -2), op("power", C, -1)), "x[i, j] / (x[j, i] ** 2 * x[i, 0])"),
        (op("power", B, -1), "1 / x[j, i]"),
        (op("power", op("negate", B), 3), "(-x[j, i]) ** 3"),
        (op("power", B, HALF), "x[j, i] ** (1/2)"),
        (op("add", A, op("multiply", -1, B)), "x[i, j] - x[j, i]"),
        (op("add", op("multiply", -1, B), A), "x[i, j] - x[j, i]"),
        (op("add", op("negate", A), op("negate", B)), "-x[i, j] - x[j, i]"),
        (op("subtract", A, op("subtract", B, C)), "x[i, j] - (x[j, i] - x[i, 0])"),
        (op("subtract", A, op("negate", B)), "x[i, j] + x[j, i]"),
        (op("subtract", A, op("multiply", -2, B)), "x[i, j] + 2 * x[j, i]"),
        (op("negate", op("add", A, B)), "-(x[i, j] + x[j, i])"),
        (op("negate", op("multiply", A, B)), "-x[i, j] * x[j, i]"),
        (op("multiply", op("add", A, 1), B, HALF), "1/2 * (x[i, j] + 1) * x[j, i]"),
        (op("divide", A, op("multiply", B, C)), "x[i, j] / (x[j, i] * x[i, 0])"),
        (op("divide", A, op("divide", B, C)), "x[i, j] / (x[j, i] / x[i, 0])"),
        (op("multiply", A, over("columns")), "x[i, j] / columns"),
        (op("add", A, -3), "x[i, j] - 3"),
        (op("select", op("less", A, op("add", B, 1)), 1, 0), "select(x[i, j] < x[j, i] + 1, 1, 0)"),
        (op("and", op("or", A, B), op("not", op("equal", A, B))), "(x[i, j] or x[j, i]) and not x[i, j] == x[j, i]"),
        (op("equal", op("less", A, B), C), "(x[i, j] < x[j, i]) == x[i, 0]"),
        (op("maximum", A, B, 0), "maximum(x[i, j], x[j, i], 0)"),
        (Position(at(("r", Quantity.of(-1)), constant=size("rows", offset=-1))), "rows - i - 1"),
        (Position(at(("c", size("rows")), (Floor("r", Quantity.of(4)), Quantity.of(-2)))), "rows * j - 2 * (i // 4)"),
        (read("x", at((Floor("r", size("rows", factor=2)), Quantity.of(1))), "c"), "x[i // (2 * rows), j]"),
        (read("x", "r", Gathered(at("c", constant=-1), A)), "x[i, j - 1 + x[i, j]]"),
        (total(Range("k", at("c"), Affine(size("columns"))), A), "sum[j <= k < columns](x[i, j])"),
        (total(Range("k", at("c", constant=-2), at("c", constant=1)), A), "sum[j - 2 <= k <= j](x[i, j])"),
        (total(Range("k", Affine.of(1), Affine.of(7)), A), "sum[1 <= k < 7](x[i, j])"),
    ],
)  # fmt: skip
def test_few_parentheses(body, expected):
    assert written(body) == expected


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        (Quantity.of(Fraction(1, 2)), "1/2"),
        (Quantity.of(Fraction(-2, 3)), "-2/3"),
        (Quantity.of(Fraction("0.044715")), "0.044715"),
        (Quantity.of(Fraction("12.5")), "25/2"),
        (Quantity.of(Fraction("1e-5")), "1e-5"),
        (Quantity.of(Fraction("1.25e-7")), "1.25e-7"),
        (Quantity.of(Fraction(1, 13)), "1/13"),
        (Quantity.of(Fraction("1.41421356237309")), "141421356237309/100000000000000"),
        (size("rows", factor=Fraction(3, 2)), "3 * rows / 2"),
        (size("rows", factor=Fraction("0.1")), "0.1 * rows"),
        (size("rows", "columns", offset=-1), "columns * rows - 1"),
        (size("rows", factor=-1, offset=1), "1 - rows"),
        (Quantity(Fraction(1), (("rows", 2),), Fraction(1), inverse=True), "1 / (rows ** 2 + 1)"),
        (Quantity(Fraction(-1), (("columns", -1), ("rows", -2))), "-1 / (columns * rows ** 2)"),
    ],
)
def test_quantities(quantity, expected):
    assert written(Number(quantity)) == expected


def test_an_inner_sum_has_a_line_where_it_does_not_depend_on_the_outer_one():
    inner = total(upto("m", "columns"), read("x", "r", "m"))
    assert lines(total(upto("k", "columns"), op("multiply", read("x", "r", "k"), inner))) == [
        "  s[i] = sum[k < columns](x[i, k])",
        "  out[i, j] = sum[k < columns](x[i, k] * s[i])",
    ]
    dependent = total(upto("k", "rows"), op("exp", largest(upto("m", "columns"), read("x", "k", "m"))))
    assert written(dependent) == "sum[k < rows](exp(max[k2 < columns](x[k, k2])))"


def test_a_shared_reduction_within_another_one_is_a_function_of_its_coordinate():
    def highest(bound):
        return largest(upto(bound, "columns"), read("x", "k", bound))

    body = total(upto("k", "rows"), op("multiply", op("exp", highest("a")), highest("b")))
    assert lines(body) == [
        "  m[k] = max[k2 < columns](x[k, k2])",
        "  out[i, j] = sum[k < rows](exp(m[k]) * m[k])",
    ]


def test_what_differs_in_more_than_a_name_is_not_shared():
    body = op("add", total(upto("a", "columns"), read("x", "r", "a")), total(upto("b", "columns"), read("x", "b", "r")))
    assert written(body) == "sum[k < columns](x[i, k]) + sum[k < columns](x[k, i])"


def test_names_keep_clear_of_those_of_the_program():
    total_of_k = total(upto("z", "k"), read("i", "z"))
    body = op("multiply", total_of_k, op("exp", total_of_k))
    made = program("op", [("i", DType.FLOAT32, "k")], [output("r", (size("s"),), body)], ("k", "s"))
    assert printed(made).splitlines()[2:] == ["  s2 = sum[k2 < k](i[k2])", "  out[j] = s2 * exp(s2)"]


def test_the_precision_of_a_sum_is_told_where_it_is_not_that_of_the_output():
    (line,) = lines(total(upto("k", "columns"), read("x", "r", "k")), DType.BFLOAT16)
    assert line == "  out[i, j] = sum.float32[k < columns](x[i, k])"


def test_a_payload_is_told():
    ranges = (upto("a", "rows"), upto("b", "columns"))
    payload = op("add", op("multiply", Position(at("a")), number(size("columns"))), Position(at("b")))
    body = ArgReduce(Combine.MAXIMUM, ranges, read("x", "a", "b"), payload)
    assert lines(body, I64) == ["  out[i, j] = argmax[k < rows, k2 < columns](x[k, k2]; columns * k + k2)"]


def test_what_is_shared_many_times_over_is_printed_once():
    body = total(upto("k", "columns"), read("x", "r", "k"))
    for _ in range(60):
        body = Pointwise("multiply", (body, body))
    assert lines(body)[-1] == "  out[i, j] = v59[i] * v59[i]"
    assert len(lines(body)) == 61


def test_each_output_has_its_lines():
    made = programs.softmax()
    highest = largest(upto("k", "columns"), read("x", "r", "k"))
    outputs = (*made.outputs, output("r", programs.BY_COLUMNS[:1], op("exp", highest), name="top"))
    assert printed(replace(made, outputs=outputs)).splitlines()[4:6] == [
        "  top: float32[rows]",
        "  top[i] = exp(max[k < columns](x[i, k]))",
    ]
