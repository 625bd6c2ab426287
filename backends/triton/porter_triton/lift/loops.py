"""Loops over steps that are powers of two, and the statements that combine a value with another one."""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.nodes import (
    Assign,
    Binary,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    Literal,
    Name,
    Statement,
)
from porter_triton.lift.trees import bare, called, is_name, mapped, number

BY_CALL = {
    "max": "max", "fmaxf": "max", "fmax": "max", "__hmax": "max",
    "min": "min", "fminf": "min", "fmin": "min", "__hmin": "min", "__hadd": "sum",
}  # fmt: skip
BY_OPERATOR = {"+": "sum", "*": "product", "&": "and", "|": "or", "^": "xor"}


@dataclass(frozen=True, slots=True)
class Steps:
    """A loop in which `name` takes the powers of two from `extent / 2` to `least`, or (`rising`) the other way round.

    `extent` has no lines.
    """

    name: str
    extent: Expression
    least: int
    rising: bool


@dataclass(frozen=True, slots=True)
class Combine:
    """`target = target op other`; `operation` is sum, product, max, min, and, or, xor. Nothing has lines."""

    operation: str
    target: Expression
    other: Expression


def steps(loop: Statement) -> Steps | None:
    """`loop` as a loop over powers of two."""
    if not isinstance(loop, For) or len(loop.start) != 1 or not isinstance(loop.start[0], Declare):
        return None
    declare = loop.start[0]
    variable = declare.variables[0] if len(declare.variables) == 1 else None
    if variable is None or variable.value is None or variable.extents or variable.type.pointers:
        return None
    change = bare(loop.step)
    if _scales(change, variable.name, {">>": 1, "/": 2}):
        extent, least = _twice(bare(variable.value)), _least(loop.condition, variable.name)
        return None if extent is None or least is None else Steps(variable.name, extent, least, rising=False)
    if number(variable.value) == 1 and _scales(change, variable.name, {"<<": 1, "*": 2}):
        rising = _bound(loop.condition, variable.name)
        return None if rising is None else Steps(variable.name, rising, 1, rising=True)
    return None


def combine(statement: Statement) -> Combine | None:
    """`statement` as one that combines a variable with another value."""
    if not isinstance(statement, Evaluate) or not isinstance(statement.expression, Assign):
        return None
    made = bare(statement.expression)
    if made.operator:
        operation = BY_OPERATOR.get(made.operator)
        return Combine(operation, made.target, made.value) if operation else None
    parts = operands(made.value)
    if parts is None:
        return None
    operation, left, right = parts
    if left == made.target:
        return Combine(operation, made.target, right)
    return Combine(operation, made.target, left) if right == made.target else None


def inlined(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Statements with variables that are declared and read once after that written where they are read."""
    result: list[Statement] = []
    values: dict[str, Expression | None] = {}
    for statement in statements:
        known = _substituted(statement, values)
        if isinstance(known, Declare) and all(v.value is not None and not v.extents for v in known.variables):
            values |= {v.name: v.value for v in known.variables}
        else:
            result.append(known)
    return tuple(result)


def _substituted(statement: Statement, values: dict[str, Expression | None]) -> Statement:
    return mapped(statement, lambda n: values.get(n.name) or n if isinstance(n, Name) and not n.template else n)


def operands(value: Expression) -> tuple[str, Expression, Expression] | None:
    """The operation that `value` is - sum, product, max, min, and, or, xor - and what it combines."""
    if isinstance(value, Binary) and value.operator in BY_OPERATOR:
        return BY_OPERATOR[value.operator], value.left, value.right
    if isinstance(value, Call) and called(value) in BY_CALL and len(value.arguments) == 2:
        return BY_CALL[called(value)], value.arguments[0], value.arguments[1]
    return None


def _scales(change: object, name: str, by: dict[str, int]) -> bool:
    """Returns whether `change` is `name op= n` or `name = name op n` for one of `by`."""
    if not isinstance(change, Assign) or not is_name(change.target, name):
        return False
    if change.operator:
        return change.operator in by and number(change.value) == by[change.operator]
    value = change.value
    if not isinstance(value, Binary) or value.operator not in by or not is_name(value.left, name):
        return False
    return number(value.right) == by[value.operator]


def _twice(half: Expression) -> Expression | None:
    """Returns what `half` is the half of: 16 is that of 32, `n / 2` that of n."""
    value = number(half)
    if value is not None:
        return Literal(2 * value, "int") if value > 0 and value & (value - 1) == 0 else None
    if isinstance(half, Binary) and number(half.right) == {"/": 2, ">>": 1}.get(half.operator):
        return half.left
    return None


def _least(condition: Expression | None, name: str) -> int | None:
    """The smallest power of two that satisfies `name > n` and its like."""
    if is_name(condition, name):
        return 1
    if not isinstance(condition, Binary) or not is_name(condition.left, name):
        return None
    bound = number(condition.right)
    if bound is None or bound < 0:
        return None
    if condition.operator == ">" or (condition.operator == "!=" and bound == 0):
        return 1 << bound.bit_length()
    return max(1, 1 << (bound - 1).bit_length()) if condition.operator == ">=" and bound > 0 else None


def _bound(condition: Expression | None, name: str) -> Expression | None:
    """The extent of a rising loop: that of `name < n` is n, that of `name <= n / 2` too."""
    if not isinstance(condition, Binary) or not is_name(condition.left, name):
        return None
    if condition.operator == "<":
        value = number(condition.right)
        return bare(condition.right) if value is None or (value > 1 and value & (value - 1) == 0) else None
    return _twice(bare(condition.right)) if condition.operator == "<=" else None
