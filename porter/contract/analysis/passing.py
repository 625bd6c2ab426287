"""Follows a parameter to the functions that it is passed to unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from porter.contract.analysis.body import written
from porter.contract.analysis.elements import element_type
from porter.contract.analysis.records import owner, symbol
from porter.contract.analysis.usage import Usage
from porter.contract.model.dtype import DType
from porter.contract.model.syntax import Name, Node
from porter.source.lexer import Token, match_bracket, split_arguments
from porter.source.program import Function

Bound = Mapping[str, str]  # template arguments, by the names of their parameters
_Step = tuple[Function, str, str, Bound]  # a function, the parameter that is followed, what of it is meant


def passed_on(usage: Usage, function: Function, name: str) -> Iterator[tuple[Function, str]]:
    """Yields `function` and every function that gets its parameter `name` unchanged, with the name it has there.

    A field `p.n` is passed on with its struct, an element `p[0]` with its list, and so is a field of a struct that a
    function fills: `Params p{x, n};`.
    """
    yield from ((current, alias) for current, alias, _ in _followed(usage, function, name))


def _followed(usage: Usage, function: Function, name: str) -> Iterator[tuple[Function, str, Bound]]:
    """Yields what `passed_on` does, with the template arguments that were written on the way: `run<half>(p)`."""
    pending: list[_Step] = [(function, *_parted(name), {})]
    seen = {_place(*pending[0])}
    while pending:
        current, whole, part, bound = pending.pop(0)
        yield current, f"{whole}{part}", bound
        filled = ((*place, bound) for place in _filled(usage, current, f"{whole}{part}"))
        for step in (*_handed_on(usage, current, whole, part, bound), *filled):
            if _place(*step) not in seen:
                seen.add(_place(*step))
                pending.append(step)


def _place(function: Function, whole: str, part: str, _: Bound) -> tuple[object, ...]:
    return function.span, function.name, whole, part


def _handed_on(usage: Usage, function: Function, whole: str, part: str, bound: Bound) -> Iterator[_Step]:
    """Yields the functions that `function` calls with `whole` as it is, with the name it has there."""
    words = usage.body(function).words
    for at, callee_name, arguments in usage.body(function).sites:
        places = [i for i, a in enumerate(arguments) if is_name(a, whole)]
        callee = usage.callee(callee_name, len(arguments)) if places else None
        if callee is not None:
            given = [written(argument) for argument in _template(words, at + 1)]
            own = {t.name: bound.get(text, text) for t, text in zip(callee.template, given, strict=False)}
            yield from ((callee, callee.params[place].name, part, own) for place in places)


def _template(words: Sequence[Token], opening: int) -> list[list[Token]]:
    """Returns the template arguments that begin at `opening`; none where nothing of the kind stands there."""
    closed = words[opening].text == "<" and match_bracket(words, opening) is not None
    return split_arguments(words, opening) if closed else []


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
    for inner, alias, bound in _followed(usage, function, name):
        kinds = [p.type.base for p in inner.params if p.name == alias]  # none of a field of a struct
        cast = rf"(?:\(|_cast<)(?:const )?([\w:]+)(?: const)? ?\*(?: ?__restrict__)?(?:\)|>\(){re.escape(alias)}\b"
        bases = (*kinds, *re.findall(cast, written(usage.body(inner).words)))
        yield from (usage.named_type(bound.get(base, base)) for base in bases if base != "void")


def handles_of(usage: Usage, function: Function, name: str) -> Iterator[str]:
    """Yields the types that are no pointers by their text and that a `void*` is cast to: `(cudaStream_t)stream`."""
    for inner, alias in passed_on(usage, function, name):
        cast = rf"(?:\(|_cast<)([\w:]+)(?:\)|>\(){re.escape(alias)}\b"
        yield from map(usage.named_type, re.findall(cast, written(usage.body(inner).words)))
