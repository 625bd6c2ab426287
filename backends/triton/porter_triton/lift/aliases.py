"""What a tail of a tree spells otherwise: by a call of a function, by another pointer to the array."""

from __future__ import annotations

from porter.syntax.nodes import Call, Cast, Declare, Evaluate, Expression, Name, Statement, Variable
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import bare, called, flat, is_name, mapped


def expanded(facts: Facts, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """A single call of a function of the source as the statements of its body."""
    if len(statements) != 1 or not isinstance(statements[0], Evaluate):
        return statements
    call = statements[0].expression
    found = facts.unit.named(called(call)) if called(call) else ()
    if not isinstance(call, Call) or len(found) != 1 or len(found[0].parameters) != len(call.arguments):
        return statements
    given = {p.name: bare(a) for p, a in zip(found[0].parameters, call.arguments, strict=True)}
    return tuple(_renamed(s, given) for s in flat(found[0].body))


def unaliased(statements: tuple[Statement, ...], array: str) -> tuple[Statement, ...]:
    """Statements without `volatile float* v = a`, with `a` for `v`."""
    names: dict[str, Expression] = {}
    kept = []
    for statement in statements:
        if isinstance(statement, Declare) and all(_strips_to(v, array) for v in statement.variables):
            names |= {v.name: Name(array) for v in statement.variables}
        else:
            kept.append(statement)
    return tuple(_renamed(s, names) for s in kept)


def _strips_to(variable: Variable, array: str) -> bool:
    value = variable.value
    while isinstance(value, Cast):
        value = value.operand
    return variable.type.pointers == 1 and is_name(value, array)


def _renamed(statement: Statement, names: dict[str, Expression]) -> Statement:
    return mapped(bare(statement), lambda n: names.get(n.name, n) if isinstance(n, Name) and not n.template else n)
