"""What an expression is made of."""

from __future__ import annotations

from porter.syntax.nodes import Binary, Expression, Name
from porter.syntax.walk import walk


def mentions(node: object, name: str) -> bool:
    """Returns whether the name stands anywhere in `node`."""
    return any(isinstance(n, Name) and n.name == name for n in walk(node))


def conjuncts(condition: Expression | None) -> list[Expression]:
    """Returns what all has to hold where `condition` does, in the order of the source; nothing without one."""
    if isinstance(condition, Binary) and condition.operator == "&&":
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [] if condition is None else [condition]
