"""Trees compared and asked for the function that they call."""

from __future__ import annotations

from dataclasses import Field, replace
from typing import TypeVar

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Name

_T = TypeVar("_T")


def bare(node: _T) -> _T:
    """Returns `node` without lines, so that equal text is equal."""
    if isinstance(node, tuple):
        return tuple(map(bare, node))  # type: ignore[return-value]
    fields: dict[str, Field[object]] = getattr(type(node), "__dataclass_fields__", {})
    if not fields:
        return node
    values = {name: 0 if name == "line" else bare(getattr(node, name)) for name in fields}
    return replace(node, **values)  # type: ignore[type-var]


def called(node: object) -> str:
    """Returns the plain name of the function that a call calls; empty for anything else."""
    return unqualified(node.callee.name) if isinstance(node, Call) and isinstance(node.callee, Name) else ""
