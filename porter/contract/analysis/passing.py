"""Follows a parameter to the functions that it is passed to unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.contract.analysis.body import written
from porter.contract.analysis.elements import element_type
from porter.contract.analysis.records import owner
from porter.contract.analysis.usage import Usage
from porter.contract.model.dtype import DType
from porter.contract.model.syntax import Name, Node
from porter.source.program import Function


def passed_on(usage: Usage, function: Function, name: str) -> Iterator[tuple[Function, str]]:
    """Yields `function` and every function that gets its parameter `name` unchanged, with the name it has there.

    A field `p.n` is passed on with its struct, an element `p[0]` with its list.
    """
    name, part = _parted(name)
    pending, seen = [(function, name)], {(function.span, function.name, name)}
    while pending:
        current, alias = pending.pop(0)
        yield current, f"{alias}{part}"
        for callee_name, arguments in usage.body(current).calls:
            places = [i for i, a in enumerate(arguments) if is_name(a, alias)]
            callee = usage.callee(callee_name, len(arguments)) if places else None
            for place in places if callee is not None else ():
                assert callee is not None
                key = (callee.span, callee.name, callee.params[place].name)
                if key not in seen:
                    seen.add(key)
                    pending.append((callee, callee.params[place].name))


def _parted(name: str) -> tuple[str, str]:
    """Returns a parameter's name, and what of it is meant, if not all."""
    whole = owner(name)
    return whole, name.removeprefix(whole)


def is_name(node: Node | None, name: str) -> bool:
    """Returns whether `node` is the name, cast or not."""
    while node is not None and hasattr(node, "operand"):
        node = node.operand
    return node == Name(name)


def behind_void(usage: Usage, function: Function, name: str) -> DType | None:
    """Returns the type behind the parameter `name`, a `void*`: the first that a cast or a callee takes it for."""
    found = map(element_type, taken_for(usage, function, name))
    return next((dtype for dtype in found if dtype is not None), None)


def taken_for(usage: Usage, function: Function, name: str) -> Iterator[str]:
    """Yields the types of elements that casts and callees take a `void*` for."""
    for inner, alias in passed_on(usage, function, name):
        kind = next((p.type for p in inner.params if p.name == alias), None)
        if kind is None:  # a field of a struct
            continue
        cast = rf"(?:\(|_cast<)(?:const )?([\w:]+)(?: const)? ?\*(?: ?__restrict__)?(?:\)|>\(){re.escape(alias)}\b"
        bases = (kind.base, *re.findall(cast, written(usage.body(inner).words)))
        yield from (usage.named_type(base) for base in bases if base != "void")


def handles_of(usage: Usage, function: Function, name: str) -> Iterator[str]:
    """Yields the types that are no pointers by their text and that a `void*` is cast to: `(cudaStream_t)stream`."""
    for inner, alias in passed_on(usage, function, name):
        cast = rf"(?:\(|_cast<)([\w:]+)(?:\)|>\(){re.escape(alias)}\b"
        yield from map(usage.named_type, re.findall(cast, written(usage.body(inner).words)))
