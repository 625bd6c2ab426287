"""Branches that constants of the source and its templates decide: what is compiled of them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from porter.syntax.nodes import Binary, Block, Declare, Expression, If, Name, Statement, Unary
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import bare, mapped
from porter_triton.lower.assigned import acts

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def without_branches(facts: Facts) -> FunctionTree:
    """The function with one side of each branch on constants, its statements among those around it."""
    body = mapped(facts.function.body, lambda node: _decided(facts, node))
    return facts.function if body is facts.function.body else replace(facts.function, body=body)


def _decided(facts: Facts, node: object) -> object:
    if not isinstance(node, Block) or not any(_side(facts, s) is not None for s in node.statements):
        return node
    return replace(node, statements=tuple(_spliced(facts, node.statements)))


def _spliced(facts: Facts, statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        side = _side(facts, statement)
        if side is None:
            yield statement
        else:
            yield from side


def _side(facts: Facts, statement: Statement) -> tuple[Statement, ...] | None:
    """Returns what is compiled of a branch; None where it is not known, or cannot stand among what is around it."""
    if not isinstance(statement, If) or (holds := _truth(facts, bare(statement.condition))) is None:
        return None
    inner = {v.name for n in walk(statement) if isinstance(n, Declare) for v in n.variables}
    if _mentions(statement.condition, inner):
        return None  # it means another variable of that name
    block = statement.yes if holds else statement.no
    inside = () if block is None else block.statements
    own = {v.name for s in inside if isinstance(s, Declare) for v in s.variables}
    hides = _mentions(facts.function.body, own) > _mentions(inside, own)  # what the name means around the branch
    return inside if own <= facts.declared.keys() and not hides else None


def _mentions(node: object, names: set[str]) -> int:
    return sum(isinstance(n, Name) and n.name in names for n in walk(node))


def _truth(facts: Facts, condition: Expression) -> bool | None:
    """Returns whether a condition holds for constants alone; one that does more than compare has to be evaluated."""
    if acts(condition) or any(isinstance(node, Unary) for node in walk(condition)):
        return None
    if isinstance(condition, Binary) and condition.operator in {"&&", "||"}:
        sides = _truth(facts, condition.left), _truth(facts, condition.right)
        decisive = condition.operator == "||"
        return decisive if decisive in sides else None if None in sides else not decisive
    if not isinstance(condition, Binary) or condition.operator not in _COMPARISONS:
        return None
    left, right = facts.value(condition.left), facts.value(condition.right)
    return None if left is None or right is None else _COMPARISONS[condition.operator](left, right)
