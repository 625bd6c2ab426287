"""Writes ATen operators that compute each element by itself as expressions of the tensor IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf, isinf, isnan, pi

from porter.ir.tensor.expressions import Expression, Number, Pointwise
from porter.ir.tensor.quantities import Quantity
from porter.lift.exported.indices import fraction

Function = Callable[..., Expression]


def number(value: float | Fraction) -> Expression:
    """Returns a number; an infinity is the logarithm of 0, or its negative, NaN is the difference of two of them."""
    if isinstance(value, float) and isnan(value):
        return apply("subtract", number(inf), number(inf))
    if isinstance(value, float) and isinf(value):
        lowest = apply("log", number(0))
        return lowest if value < 0 else apply("negate", lowest)
    exact = value if isinstance(value, Fraction) else fraction(value)
    return Number(Quantity.of(exact))


def apply(op: str, *operands: Expression) -> Expression:
    """Returns an operation of the tensor IR."""
    return Pointwise(op, operands)


def constant(expression: Expression) -> Fraction | None:
    """Returns the number that an expression is; None where it is computed."""
    return expression.quantity.constant if isinstance(expression, Number) else None


def add(left: Expression, right: Expression) -> Expression:
    """Returns a sum, without a part that is 0."""
    if constant(left) == 0:
        return right
    return left if constant(right) == 0 else apply("add", left, right)


def multiply(left: Expression, right: Expression) -> Expression:
    """Returns a product, without a factor that is 1."""
    if constant(left) == 1:
        return right
    return left if constant(right) == 1 else apply("multiply", left, right)


def _weighted_add(left: Expression, right: Expression, alpha: Expression) -> Expression:
    return add(left, multiply(alpha, right))


def _weighted_subtract(left: Expression, right: Expression, alpha: Expression) -> Expression:
    return apply("subtract", left, multiply(alpha, right))


def less_or_equal(left: Expression, right: Expression) -> Expression:
    """Returns whether the first is at most the second; false where one is NaN."""
    return apply("or", apply("less", left, right), apply("equal", left, right))


def as_number(truth: Expression) -> Expression:
    """Returns a truth value as 0 or 1."""
    return apply("select", truth, number(1), number(0))


def is_not_zero(value: Expression) -> Expression:
    """Returns a number as a truth value."""
    return apply("not", apply("equal", value, number(0)))


def power(base: Expression, exponent: Expression) -> Expression:
    """Returns a power; by an operator of its own where there is one."""
    match constant(exponent):
        case Fraction(numerator=1, denominator=1):
            return base
        case Fraction(numerator=1, denominator=2):
            return apply("sqrt", base)
        case Fraction(numerator=-1, denominator=2):
            return apply("rsqrt", base)
        case Fraction(numerator=-1, denominator=1):
            return apply("divide", number(1), base)
    return apply("power", base, exponent)


def sigmoid(value: Expression) -> Expression:
    """Returns the logistic function."""
    return apply("divide", number(1), add(number(1), apply("exp", apply("negate", value))))


def sign(value: Expression) -> Expression:
    """Returns -1, 0 or 1."""
    below = apply("select", apply("less", value, number(0)), number(-1), number(0))
    return apply("select", apply("less", number(0), value), number(1), below)


def _floor_remainder(left: Expression, right: Expression) -> Expression:
    return apply("subtract", left, apply("multiply", right, apply("floor", apply("divide", left, right))))


def _truncated_remainder(left: Expression, right: Expression) -> Expression:
    return apply("remainder", left, right)


def _is_infinite(value: Expression) -> Expression:
    return apply("equal", apply("absolute", value), number(inf))


def _own(op: str) -> Function:
    return lambda *operands: apply(op, *operands)


# Operators of which all arguments are operands, by the word for each; overloads are one.
POINTWISE: Mapping[str, Function] = {
    **{
        name: _own(op)
        for name, op in (
            ("abs", "absolute"),
            ("neg", "negate"),
            ("exp", "exp"),
            ("exp2", "exp2"),
            ("expm1", "expm1"),
            ("log", "log"),
            ("log2", "log2"),
            ("log1p", "log1p"),
            ("sqrt", "sqrt"),
            ("rsqrt", "rsqrt"),
            ("sin", "sin"),
            ("cos", "cos"),
            ("tan", "tan"),
            ("tanh", "tanh"),
            ("sinh", "sinh"),
            ("cosh", "cosh"),
            ("asin", "asin"),
            ("acos", "acos"),
            ("atan", "atan"),
            ("atan2", "atan2"),
            ("erf", "erf"),
            ("erfc", "erfc"),
            ("lgamma", "lgamma"),
            ("floor", "floor"),
            ("ceil", "ceil"),
            ("round", "round"),
            ("maximum", "maximum"),
            ("minimum", "minimum"),
            ("mul", "multiply"),
            ("eq", "equal"),
            ("lt", "less"),
            ("where", "select"),
        )
    },
    "log10": lambda value: apply("divide", apply("log", value), number(2.302585092994045684)),
    "reciprocal": lambda value: apply("divide", number(1), value),
    "sigmoid": sigmoid,
    "relu": lambda value: apply("maximum", value, number(0)),
    "sign": sign,
    "pow": power,
    "ne": lambda left, right: apply("not", apply("equal", left, right)),
    "gt": lambda left, right: apply("less", right, left),
    "le": less_or_equal,
    "ge": lambda left, right: less_or_equal(right, left),
    "fmod": _truncated_remainder,
    "remainder": _floor_remainder,
    "isnan": lambda value: apply("not", apply("equal", value, value)),
    "isinf": _is_infinite,
    "deg2rad": lambda value: multiply(number(pi / 180), value),
    "logical_not": lambda value: apply("not", value),
    "logical_and": _own("and"),
    "logical_or": _own("or"),
    "logical_xor": lambda left, right: apply("not", apply("equal", as_number(left), as_number(right))),
}
# Of these the operands are truth values whatever they were.
OF_TRUTH = frozenset(("logical_not", "logical_and", "logical_or", "logical_xor"))
# Of truth values these are what the logical ones are of anything.
BITWISE = {
    "bitwise_not": "logical_not",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
}
# Sums and differences, whose second operand may have a weight.
WEIGHTED: Mapping[str, Function] = {"add": _weighted_add, "sub": _weighted_subtract}
