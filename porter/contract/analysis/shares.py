"""Finds shares: sizes that code divides by others, as channels into groups, or subtracts from others.

`channels / groups` implies at least one channel for each group, and most often as many for each; `slots - probes`
implies more slots than probes. Sizes are drafted so, and where an original breaks at others the condition is the first
that is tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from porter.contract.analysis.body import substitute, walk
from porter.contract.analysis.pointers import is_integer
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.model.contract import Contract
from porter.contract.model.expressions import evaluate, free_names, function_name, holds, names_in, render
from porter.contract.model.syntax import Binary, Call, Member, Name, Node, Number
from porter.source.program import Function

_DEEPEST_CALL = 4
_SHARE = re.compile(r"(\w+) % (.+) == 0")
_LESS = re.compile(r"(\w+) < (\w+)")
_FEWEST = 3  # elements of a size for each part
_DIVISORS = (2, 3, 5, 4)


@dataclass(frozen=True, slots=True)
class Share:
    """A division in terms of the analysed function, or a difference where `is_difference`."""

    whole: Node
    divisor: Node
    is_difference: bool = False


def shares(usage: Usage, function: Function, depth: int = 0) -> tuple[Share, ...]:
    """Returns the divisions of arguments by arguments, in `function` and in its callees.

    Differences of two parameters are included. They are found once, and each is named once: every parameter of every
    function is looked for among them, 788 times in a file of three launchers.
    """
    return usage.once(("shares", function, depth), lambda: tuple(dict.fromkeys(_shares(usage, function, depth))))


def _shares(usage: Usage, function: Function, depth: int) -> Iterator[Share]:
    scope, body = Scope(usage, function), usage.body(function)
    given = {p.name for p in function.params if not p.type.pointers}
    names = {Name(p.name) for p in function.params if is_integer(usage.types.of(p, function).base)}
    handed = [a for _, arguments in body.calls for a in arguments if a is not None]
    written = [n for nodes in body.definitions.values() for n in nodes]
    for node in (*written, *handed, *body.conditions):
        for part in walk(scope.resolve(node)):
            if isinstance(part, Binary) and part.operator == "/" and _are_given(part, given):
                yield Share(part.left, part.right)
            elif isinstance(part, Binary) and part.operator == "-" and {part.left, part.right} <= names:
                yield Share(part.left, part.right, is_difference=True)
    for name, arguments in body.calls if depth < _DEEPEST_CALL else ():
        callee = usage.callee(name, len(arguments))
        if callee is None or callee is function:
            continue
        known = {p.name: scope.resolve(a) for p, a in zip(callee.params, arguments, strict=False) if a is not None}
        for inner in shares(usage, callee, depth + 1):
            yield replace(inner, whole=substitute(inner.whole, known, 1), divisor=substitute(inner.divisor, known, 1))


def _are_given(division: Binary, given: set[str]) -> bool:
    """Returns whether both sides hang on arguments alone."""
    return all(free_names(side) and free_names(side) <= given for side in (division.left, division.right))


def divides_a_size(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether the parameter `name`, or a multiple of it, divides a size that `function` takes."""
    found = (s for s in shares(usage, function) if name in free_names(s.divisor) and not s.is_difference)
    return any(_is_extent(share.whole) and share.whole != Name(name) for share in found)


def _is_extent(node: Node) -> bool:
    return isinstance(node, Name) or (isinstance(node, Call) and isinstance(node.callee, Member))


def evenly(found: Iterable[Share], symbols: frozenset[str]) -> Iterator[str]:
    """Yields the conditions by which shares between `symbols` come out even, and differences are positive."""
    for share in dict.fromkeys(found):
        if share.is_difference:
            if free_names(share.whole) | free_names(share.divisor) <= symbols and share.whole != share.divisor:
                yield render(Binary("<", share.divisor, share.whole))
            continue
        divisor = free_names(share.divisor)
        whole = share.whole.name if isinstance(share.whole, Name) else ""
        if whole in symbols - divisor and divisor and divisor <= symbols and _is_computed(share.divisor):
            yield render(Binary("==", Binary("%", share.whole, share.divisor), Number(0)))


def _is_computed(node: Node) -> bool:
    """Returns whether contracts know every function that an expression calls."""
    calls = (part.callee for part in walk(node) if isinstance(part, Call))
    return all(isinstance(callee, Name) and function_name(callee.name) for callee in calls)


def shared_evenly(contract: Contract, sizes: Mapping[str, int]) -> bool:
    """Returns whether all shares come out even at `sizes`."""
    return all(holds(text, sizes) for text in contract.shares)


def with_shares(contract: Contract, targets: Mapping[str, int], step: int, *, evenly: bool = True) -> dict[str, int]:
    """Returns `targets` with a few elements of each divided size for each part, `evenly` or as it comes.

    Divisors become small, and change with `step`. A size that is subtracted from another one is less than it.
    """
    found = ordered(contract, targets)
    for place, (whole, divisor) in enumerate(_parsed((*contract.conditions, *contract.shares))):
        names = [name for name in names_in(divisor) if name in found]
        if whole not in found or not names:
            continue
        if found[whole] < _FEWEST * evaluate(divisor, found):
            found |= {name: min(found[name], _DIVISORS[(step + place) % len(_DIVISORS)]) for name in names}
        parts = evaluate(divisor, found)
        if found[whole] < _FEWEST * parts:
            found[whole] = (_FEWEST + 2 * (step % 2)) * parts
        elif evenly:
            found[whole] = found[whole] // parts * parts
    return found


def ordered(contract: Contract, targets: Mapping[str, int]) -> dict[str, int]:
    """Returns `targets` in which a size that is subtracted from another one is less than it."""
    found = dict(targets)
    for less, more in _ordered((*contract.conditions, *contract.shares)):
        if found.get(less, 0) > found.get(more, 0) > 0:
            found[less], found[more] = found[more], found[less]
    return found


def _parsed(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the size and the divisor of each condition that has this form."""
    yield from ((match[1], match[2]) for text in texts if (match := _SHARE.fullmatch(text)))


def _ordered(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the two sizes of each condition that says of one that it is less than the other."""
    yield from ((match[1], match[2]) for text in texts if (match := _LESS.fullmatch(text)))


def multiples_of(conditions: Iterable[str], symbol: str, known: Mapping[str, int]) -> Iterator[int]:
    """Yields of what `symbol` has to be a multiple by conditions whose other sizes are `known`."""
    for whole, divisor in _parsed(conditions):
        if whole == symbol and names_in(divisor) and names_in(divisor) <= known.keys():
            unit = evaluate(divisor, known)
            if unit > 1:
                yield unit


def divisors_first(symbols: Iterable[str], conditions: Iterable[str]) -> list[str]:
    """Returns `symbols` with those first that others have to be multiples of."""
    names = {name for _, divisor in _parsed(conditions) for name in names_in(divisor)}
    return sorted(symbols, key=lambda symbol: symbol not in names)
