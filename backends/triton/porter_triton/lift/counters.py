"""Loops that count with a variable from before: `int i = t; ... while (i < n) { ...; i += s; }` is a `for` of its own.

Then where the loop begins is told from its text, and that every thread begins within one step of the first.
"""

from __future__ import annotations

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Declare,
    Evaluate,
    Expression,
    For,
    Lambda,
    Literal,
    Member,
    Name,
    Statement,
    TypeName,
    Unary,
    Variable,
    While,
)
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.after import readers, writes
from porter_triton.lift.facts import Facts
from porter_triton.lower import counting
from porter_triton.lower.assigned import assigned_names
from porter_triton.lower.flow import leaves

_COMPUTED = (Binary, Cast, Literal, Member, Name, TypeName)


def own_counter(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The loop at the statement `at` with a counter that it declares, where nobody reads the counter afterwards."""
    loop = _as_for(block.statements[at])
    found = counting.told(facts.unit, loop) if loop is not None else None
    name = found.name if found is not None else ""
    begin = _begin(facts, block.statements[:at], name) if name else None
    if loop is None or begin is None or any(_is_shared(facts, other) for other in (name, *_names(begin[1]))):
        return None
    later = readers(facts.function.body, block.statements[at], lambda s: writes(s, name))
    if any(mentions(r.node, name) for r in later):
        return None
    start = Declare((Variable(name, begin[0], value=begin[1], line=loop.line),), loop.line)
    new = For((start,), loop.condition, loop.step, loop.body, loop.unroll, loop.line)
    return 1, Block((*block.statements[:at], new, *block.statements[at + 1 :]), block.line)


def _as_for(loop: Statement) -> For | None:
    """A `for` that starts nothing, or a `while` whose last statement is the step."""
    if isinstance(loop, For):
        return None if loop.start else loop
    last = loop.body.statements[-1] if isinstance(loop, While) and loop.body.statements else None
    if not isinstance(loop, While) or loop.first or not isinstance(last, Evaluate) or "continue" in leaves(loop.body):
        return None
    body = Block(loop.body.statements[:-1], loop.body.line)
    return For((), loop.condition, last.expression, body, line=loop.line)


def _begin(facts: Facts, before: tuple[Statement, ...], name: str) -> tuple[TypeName, Expression] | None:
    """The type of the counter and its value before the loop, made of what is the same there as where it was set."""
    for position in range(len(before) - 1, -1, -1):
        if not writes(before[position], name):
            continue
        value, kind = _value(before[position], name), _declared(facts, name)
        between = before[position + 1 :]
        changed = assigned_names(facts.unit, between) | _declares(between)
        if value is None or kind is None or name in changed or not all(isinstance(n, _COMPUTED) for n in walk(value)):
            return None
        return None if any(mentions(value, other) for other in changed) else (kind, value)
    return None


def _value(statement: Statement, name: str) -> Expression | None:
    if isinstance(statement, Declare):
        return next(v.value for v in statement.variables if v.name == name)
    assert isinstance(statement, Evaluate)
    assert isinstance(statement.expression, Assign)
    return statement.expression.value


def _declared(facts: Facts, name: str) -> TypeName | None:
    """The type of a number, which is the same wherever the name is declared."""
    declares = [n for n in walk(facts.function.body) if isinstance(n, Declare)]
    found = [v for d in declares for v in d.variables if v.name == name]
    types = {v.type for v in found} | {p.type for p in facts.function.parameters if p.name == name}
    plain = not any(v.extents or v.storage or v.type.pointers or v.type.reference for v in found)
    return types.pop() if len(types) == 1 and found and plain else None


def _names(node: Expression) -> frozenset[str]:
    return frozenset(n.name for n in walk(node) if isinstance(n, Name))


def _declares(statements: tuple[Statement, ...]) -> frozenset[str]:
    return frozenset(v.name for n in walk(statements) if isinstance(n, Declare) for v in n.variables)


def _is_shared(facts: Facts, name: str) -> bool:
    """Returns whether something else may stand for the variable: a pointer or a reference to it, in a lambda
    perhaps.
    """
    for node in walk(facts.function.body):
        if isinstance(node, Lambda) and mentions(node, name):
            return True
        if isinstance(node, Unary) and node.operator == "&" and mentions(node.operand, name):
            return True
        if isinstance(node, Declare) and any(v.type.reference and mentions(v.value, name) for v in node.variables):
            return True
    return False
