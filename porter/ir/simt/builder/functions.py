"""Functions as values: one by name, the one at an index of several, and tables of them."""

from __future__ import annotations

from porter.ir.simt.builder import arithmetic, expressions
from porter.ir.simt.builder.c_types import INT
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Closure, FunctionName, FunctionTable, Number, OneOf, RValue
from porter.syntax.nodes import Braces, Expression, Variable


def table(b: Builder, variable: Variable) -> FunctionTable:
    """The array `{f, g, h}`."""
    if not isinstance(variable.value, Braces) or len(variable.extents) != 1:
        raise b.problem(f"the table of functions '{variable.name}' is not one list", variable.line)
    return FunctionTable(tuple(value(b, item, variable.line) for item in variable.value.items))


def value(b: Builder, node: Expression, line: int) -> RValue:
    """The function that an expression is."""
    found = expressions.value(b, node)
    if not isinstance(found, FunctionName | Closure | OneOf):
        raise b.problem("which function this is cannot be told", line)
    return found


def at(b: Builder, held: FunctionTable, index: Number) -> RValue:
    """The function at an index, which threads may have different ones of."""
    known = b.emitter.known(index.value)
    if isinstance(known, int) and 0 <= known < len(held.functions):
        return held.functions[known]
    named = tuple(one for one in held.functions if isinstance(one, FunctionName | Closure))
    if len(named) != len(held.functions):
        raise b.problem("which functions a table has cannot be told")
    return OneOf(arithmetic.convert(b, index, INT), named)


def either(b: Builder, decision: Number, yes: RValue, no: RValue) -> RValue | None:
    """One of two functions, or of what they may be; None where they are none."""
    one, other = several(b, yes), several(b, no)
    if one is None or other is None:
        return None
    behind = Number(b.emitter.constant(len(one.functions), INT), INT)
    moved = expressions.operate(b, "+", other.index, behind)
    index = expressions.selected(b, decision, one.index, moved)
    assert isinstance(index, Number)
    return OneOf(index, one.functions + other.functions)


def several(b: Builder, held: RValue) -> OneOf | None:
    """A function as one of several, of which there may be one; None for what is none."""
    if isinstance(held, FunctionName | Closure):
        return OneOf(Number(b.emitter.constant(0, INT), INT), (held,))
    return held if isinstance(held, OneOf) else None
