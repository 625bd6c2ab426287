"""Barriers between accesses to memory: one is enough, and none is needed before the first or behind the last."""

from __future__ import annotations

from porter_triton.lower.emit import Branch, Line, Loop, Node, Suite, suites_of
from porter_triton.lower.independent import BARRIER


def settle_barriers(suite: Suite) -> None:
    """Drop those of a function's body that order nothing: nobody touches memory between it and another, or an end."""
    _behind(suite, touched=False)
    _before(suite, touched=False)


def _behind(suite: Suite, *, touched: bool) -> bool:
    """Drop barriers behind which all is ordered; whether something is `touched` behind the last barrier."""
    kept: list[Node] = []
    for node in suite.nodes:
        if _is_barrier(node):
            if touched:
                kept.append(node)
            touched = False
            continue
        kept.append(node)
        inner = touched or _acts(node) or (isinstance(node, Loop) and _touches(node))  # in the turn before
        ends = [_behind(part, touched=inner) for part in suites_of(node)]
        touched = any(ends) if isinstance(node, Branch) else touched or _acts(node) or any(ends)
    suite.nodes = kept
    return touched


def _before(suite: Suite, *, touched: bool) -> bool:
    """Drop barriers that nothing follows; whether something is `touched` from here on."""
    kept: list[Node] = []
    for node in reversed(suite.nodes):
        if _is_barrier(node) and not touched:
            continue
        kept.append(node)
        inner = touched or (isinstance(node, Loop) and _touches(node))  # in the turn after
        starts = [_before(part, touched=inner) for part in suites_of(node)]
        touched = touched or any(starts) or _acts(node)
    suite.nodes = kept[::-1]
    return touched


def _touches(node: Node) -> bool:
    """Returns whether anything in a statement touches memory."""
    return _acts(node) or any(_touches(part) for inner in suites_of(node) for part in inner.nodes)


def _acts(node: Node) -> bool:
    """Returns whether a statement itself does."""
    if isinstance(node, Line):
        return (node.effect or node.loads) and not _is_barrier(node)
    return isinstance(node, Branch | Loop) and "load" in (node.condition if isinstance(node, Branch) else node.header)


def _is_barrier(node: Node) -> bool:
    return isinstance(node, Line) and node.text == BARRIER
