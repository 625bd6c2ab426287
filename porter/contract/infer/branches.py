"""Finds what host code chooses by sizes: kernels for short rows or long ones, vectors for multiples of 4."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from porter.contract.analysis.body import clauses, comparisons, negated
from porter.contract.analysis.instances import Instance
from porter.contract.model.expressions import free_names, holds, render
from porter.contract.model.parser import parse
from porter.contract.model.syntax import Binary, Choice, ExpressionError, Node

_DEEPEST_CALL = 4
_MOST = 6
_SIZES = (1, 2, 3, 31, 4096)


def branches(entry: Instance, expressed: Callable[[Node], Node], symbols: frozenset[str]) -> tuple[str, ...]:
    """Returns the conditions on `symbols` alone by which `entry`, and host functions that get its arguments, choose.

    Of a conjunction it returns the parts that are such conditions; `expressed` writes host code's expressions in the
    symbols.
    """
    found = (_about(expressed(node), symbols) for node in _chosen_by(entry, 0))
    return tuple(dict.fromkeys(text for text in found if text and _tells_apart(text, symbols)))[:_MOST]


def _tells_apart(branch: str, symbols: frozenset[str]) -> bool:
    """Returns whether `branch` has a value, and not the same for all sizes, as `0 < n` of a loop has."""
    try:
        return not all(holds(branch, dict.fromkeys(symbols, size)) for size in _SIZES)
    except ExpressionError:
        return False


def taken(side: str, sizes: Mapping[str, int]) -> bool:
    """Returns whether host code chooses `side` at these sizes; false where it has no value: a division by zero."""
    try:
        return holds(side, sizes)
    except ExpressionError:
        return False


def sides(branch: str) -> tuple[str, str]:
    """Returns the condition and its opposite."""
    return branch, render(negated(parse(branch)))


def _chosen_by(instance: Instance, depth: int) -> Iterator[Node]:
    """Yields each condition of host code, in terms of the entry's arguments."""
    if instance.function.space != "host":
        return
    for node in instance.usage.body(instance.function).conditions:
        yield instance.expressed(node.condition if isinstance(node, Choice) else node)
    for callee in instance.callees() if depth < _DEEPEST_CALL else ():
        yield from _chosen_by(callee, depth + 1)


def _about(condition: Node, symbols: frozenset[str]) -> str:
    """Returns the parts of a conjunction that compare sizes, as text; empty where none does."""
    parts = [c for c in clauses(condition) if _compares(c) and free_names(c) and free_names(c) <= symbols]
    if not parts:
        return ""
    whole = parts[0]
    for part in parts[1:]:
        whole = Binary("&&", whole, part)
    return render(whole)


def _compares(node: Node) -> bool:
    return any(True for _ in comparisons(node))
