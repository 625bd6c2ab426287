"""Which variables a piece of host code sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from porter.syntax.nodes import (
    Assign,
    Block,
    Call,
    Continue,
    For,
    ForEach,
    Member,
    Name,
    Subscript,
    Unary,
    Update,
    While,
)


def assigned(node: object) -> Counter[str]:
    """How often each variable is assigned, updated, or handed on by its address in `node`; declarations aside.

    An assignment to a member counts for the variable and for the member: `grid.x = 2` for `grid` and `grid.x`.
    """
    found: Counter[str] = Counter()
    for inner in walk(node):
        target: object = None
        if isinstance(inner, Call) and isinstance(inner.callee, Name) and inner.callee.name in ("std::swap", "swap"):
            found.update(a.name for a in inner.arguments if isinstance(a, Name))
        if isinstance(inner, Assign):
            target = inner.target
        elif isinstance(inner, Update) or (isinstance(inner, Unary) and inner.operator == "&"):
            target = inner.operand
        if isinstance(target, Member) and isinstance(target.owner, Name):
            found[f"{target.owner.name}.{target.name}"] += 1
        while isinstance(target, Member | Subscript):
            target = target.owner
        if isinstance(target, Name):
            found[target.name] += 1
    return found


def contains_continue(body: Block) -> bool:
    """Whether a `continue` in `body` belongs to the loop around it."""
    return any(isinstance(n, Continue) for n in _own(body))


def walk(node: object) -> Iterator[object]:
    """`node` and every tree in it."""
    if is_dataclass(node):
        yield node
        for field in fields(node):
            yield from walk(getattr(node, field.name))
    elif isinstance(node, tuple):
        for item in node:
            yield from walk(item)


def _own(node: object) -> Iterator[object]:
    """As `walk`, without what stands in loops further in."""
    if is_dataclass(node):
        yield node
        for field in fields(node):
            inner = getattr(node, field.name)
            if not isinstance(inner, For | ForEach | While):
                yield from _own(inner)
    elif isinstance(node, tuple):
        for item in node:
            if not isinstance(item, For | ForEach | While):
                yield from _own(item)
