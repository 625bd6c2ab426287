"""Trees compared, walked and changed: what every rule needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, replace
from typing import Any, TypeVar

from porter.source.qualified import unqualified
from porter.syntax.nodes import Block, Call, Cast, Evaluate, Expression, Literal, Name, Skipped, Statement
from porter.syntax.walk import walk

_T = TypeVar("_T")


def mapped(node: _T, change: Callable[[Any], Any]) -> _T:
    """`node` with `change` applied to every node, children first; what does not change stays the same object."""
    if isinstance(node, tuple):
        items = tuple(mapped(item, change) for item in node)
        return node if all(a is b for a, b in zip(items, node, strict=True)) else items  # type: ignore[return-value]
    fields: dict[str, Field[object]] = getattr(type(node), "__dataclass_fields__", {})
    if not fields:
        return node
    changed = {}
    for name in fields:
        value = getattr(node, name)
        if (new := mapped(value, change)) is not value:
            changed[name] = new
    return change(replace(node, **changed) if changed else node)  # type: ignore[no-any-return,type-var]


def bare(node: _T) -> _T:
    """`node` without lines, so that equal text is equal."""
    return mapped(node, lambda n: replace(n, line=0) if getattr(n, "line", 0) else n)


def is_name(node: object, name: str) -> bool:
    """Returns whether `node` is this plain name."""
    return isinstance(node, Name) and node.name == name and not node.template


def number(node: object) -> int | None:
    """The value of an integer literal, in a cast or not."""
    while isinstance(node, Cast):
        node = node.operand
    return int(node.value) if isinstance(node, Literal) and isinstance(node.value, int | bool) else None


def called(node: object) -> str:
    """The plain name of the function that a call calls; empty for anything else."""
    if isinstance(node, Evaluate):
        node = node.expression
    return unqualified(node.callee.name) if isinstance(node, Call) and isinstance(node.callee, Name) else ""


def is_barrier(statement: Statement) -> bool:
    """Returns whether a statement only waits."""
    return isinstance(statement, Skipped) or called(statement) in {"__syncthreads", "__syncwarp"}


def flat(block: Block | None) -> tuple[Statement, ...]:
    """The statements of a block, inner blocks without declarations dissolved."""
    found: list[Statement] = []
    for statement in block.statements if block is not None else ():
        found += flat(statement) if isinstance(statement, Block) else [statement]
    return tuple(found)


def suites(node: object) -> Iterator[Block]:
    """Every block, outer ones first."""
    return (n for n in walk(node) if isinstance(n, Block))


def intrinsic(name: str, *arguments: Expression, line: int = 0) -> Call:
    """A call of a function that only lifting writes."""
    return Call(Name(f"porter::{name}", line=line), arguments, line)
