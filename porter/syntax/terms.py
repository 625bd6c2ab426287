"""The terms that an expression is made of."""

from __future__ import annotations

from porter.syntax.nodes import Binary, Expression


def conjuncts(condition: Expression | None) -> list[Expression]:
    """Returns what all has to hold where `condition` does, in the order of the source; nothing without one."""
    if isinstance(condition, Binary) and condition.operator == "&&":
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [] if condition is None else [condition]
