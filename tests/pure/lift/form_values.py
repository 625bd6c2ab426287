"""The values of normal forms, by which tests compare them with what they were made of."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from porter.lift.forms import (
    Argument,
    Extreme,
    Form,
    Forms,
    Number,
    Operation,
    Product,
    Read,
    Sum,
)

Value = Fraction | float
Inputs = Mapping[str, Sequence[Value]]  # the elements of each input, row by row


def value_of(forms: Forms, form: Form, inputs: Inputs) -> Value:
    """Returns the number that a form is for the elements of inputs: exact where those and all operations are."""
    match forms[form]:
        case Number(_, value):
            return value
        case Read(_, tensor, at):
            return inputs[tensor][at]
        case Sum(_, constant, terms):
            return sum((weight * value_of(forms, term, inputs) for term, weight in terms), start=constant)
        case Product(_, factors):
            powers = (power_of(value_of(forms, factor, inputs), power) for factor, power in factors)
            return math.prod(powers, start=Fraction(1))
        case Extreme(kind, items):
            best = max if kind == "maximum" else min
            return best(value_of(forms, item, inputs) for item in items)
        case Argument(_, extreme, pairs):
            best = max if extreme == "maximum" else min
            keys = [value_of(forms, key, inputs) for key, _ in pairs]
            return value_of(forms, pairs[keys.index(best(keys))][1], inputs)
        case Operation(kind, operands):
            return applied(kind, [value_of(forms, operand, inputs) for operand in operands])
    raise AssertionError(forms[form])


def power_of(base: Value, power: Value) -> Value:
    """Returns a power, exact where the exponent is whole."""
    exponent = Fraction(power)
    if exponent.denominator == 1 and isinstance(base, Fraction):
        return base**exponent.numerator
    return math.pow(base, power)


def applied(op: str, operands: Sequence[Value]) -> Value:
    """Returns an operation's value; a truth value is 0 or 1."""
    return _OPERATIONS[op](*operands)


_OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negate": operator.neg,
    "absolute": abs,
    "maximum": lambda *items: max(items),
    "minimum": lambda *items: min(items),
    "power": power_of,
    "exp": math.exp,
    "exp2": lambda exponent: math.pow(2, exponent),
    "log": math.log,
    "sqrt": math.sqrt,
    "rsqrt": lambda of: 1 / math.sqrt(of),
    "tanh": math.tanh,
    "select": lambda condition, then, otherwise: then if condition else otherwise,
    "less": lambda one, other: Fraction(one < other),
    "equal": lambda one, other: Fraction(one == other),
    "and": lambda *items: Fraction(all(items)),
    "or": lambda *items: Fraction(any(items)),
    "not": lambda of: Fraction(not of),
}
