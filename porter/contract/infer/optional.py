"""Finds pointers that may be null: those that the source compares with null."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.contract.analysis.body import Body, written
from porter.contract.analysis.passing import is_name, passed_on
from porter.contract.analysis.usage import Usage
from porter.contract.model.syntax import Binary, Choice, Node, Unary
from porter.source.program import Function, Param

_COMPARED = r"\b{0}[!=]=(?:nullptr|NULL)\b|\b(?:nullptr|NULL)[!=]={0}\b"


def is_optional(usage: Usage, function: Function, param: Param) -> bool:
    """Returns whether `function`, or a callee of it, compares `param` with null, unless that refuses the call."""
    if "optional<" in param.type.text:
        return True
    return param.type.pointers == 1 and any(
        _asks(usage.body(inner), alias) for inner, alias in passed_on(usage, function, param.name)
    )


def _asks(body: Body, name: str) -> bool:
    compared = re.search(_COMPARED.format(re.escape(name)), written(body.words))
    return bool(compared) or any(is_name(part, name) for node in body.conditions for part in _truths(node))


def _truths(node: Node) -> Iterator[Node]:
    """Yields what is taken for true or false within a condition."""
    match node:
        case Choice(condition, _, _) | Unary("!", condition):
            yield from _truths(condition)
        case Binary("&&" | "||", left, right):
            yield from _truths(left)
            yield from _truths(right)
        case _:
            yield node
