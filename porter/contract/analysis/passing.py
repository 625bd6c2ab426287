"""Follows a parameter to the functions that it is passed to unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.contract.analysis.body import written
from porter.contract.analysis.elements import element_type
from porter.contract.analysis.records import owner, symbol
from porter.contract.analysis.usage import Usage
from porter.contract.model.dtype import DType
from porter.contract.model.syntax import Name, Node
from porter.source.program import Function


def passed_on(usage: Usage, function: Function, name: str) -> Iterator[tuple[Function, str]]:
    """Yields `function` and every function that gets its parameter `name` unchanged, with the name it has there.

    A field `p.n` is passed on with its struct, an element `p[0]` with its list, and so is a field of a struct that a
    function fills: `Params p{x, n};`.
    """
    pending = [(function, *_parted(name))]
    seen = {_place(*pending[0])}
    while pending:
        current, whole, part = pending.pop(0)
        yield current, f"{whole}{part}"
        for place in (*_handed_on(usage, current, whole, part), *_filled(usage, current, f"{whole}{part}")):
            if _place(*place) not in seen:
                seen.add(_place(*place))
                pending.append(place)


def _place(function: Function, whole: str, part: str) -> tuple[object, ...]:
    return function.span, function.name, whole, part


def _handed_on(usage: Usage, function: Function, whole: str, part: str) -> Iterator[tuple[Function, str, str]]:
    """Yields the functions that `function` calls with `whole` as it is, with the name it has there."""
    for callee_name, arguments in usage.body(function).calls:
        places = [i for i, a in enumerate(arguments) if is_name(a, whole)]
        callee = usage.callee(callee_name, len(arguments)) if places else None
        if callee is not None:
            yield from ((callee, callee.params[place].name, part) for place in places)


def _filled(usage: Usage, function: Function, name: str) -> Iterator[tuple[Function, str, str]]:
    """Yields the structs that `function` declares of which a field is nothing but `name`, with that field."""
    given = usage.unfolded(function)
    own = {p.name for p in function.params}
    for struct, fields in given.structs.items():
        for part, field in fields.items() if struct not in own else ():
            nodes = given.body.definitions.get(field, ())
            if nodes and all(is_name(node, symbol(name)) for node in nodes):
                yield function, struct, part


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
