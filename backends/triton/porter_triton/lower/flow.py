"""Which statements may leave, and which always do."""

from __future__ import annotations

from porter.syntax.nodes import Block, Break, Continue, For, ForEach, If, Return, Statement, Switch, Throw, While

_NONE: frozenset[str] = frozenset()


def leaves(node: Statement) -> frozenset[str]:
    """Returns how a statement may leave for what does not follow it: by return, break or continue."""
    if isinstance(node, Return | Throw):
        return frozenset({"return"})
    if isinstance(node, Break):
        return frozenset({"break"})
    if isinstance(node, Continue):
        return frozenset({"continue"})
    if isinstance(node, Block):
        return frozenset().union(*(leaves(s) for s in node.statements))
    if isinstance(node, If):
        return leaves(node.yes) | (leaves(node.no) if node.no is not None else _NONE)
    if isinstance(node, For | ForEach | While):
        return leaves(node.body) - {"break", "continue"}
    if isinstance(node, Switch):
        return frozenset().union(*(leaves(c.body) for c in node.cases)) - {"break"}
    return _NONE


def always_leaves(node: Statement | None) -> bool:
    """Returns whether nothing after the statement runs."""
    if isinstance(node, Return | Throw | Break | Continue):
        return True
    if isinstance(node, Block):
        return any(always_leaves(s) for s in node.statements)
    if isinstance(node, If):
        return always_leaves(node.yes) and always_leaves(node.no)
    return False
