"""Finds parameters that only select, and the values that the source distinguishes: kernels, modes, flags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from porter.contract.analysis.body import Body, comparisons, parsed, truths, written
from porter.contract.analysis.passing import is_name, passed_on
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.model.syntax import Binary, Name, Node, Number
from porter.source.arithmetic_types import ArithmeticType, Kind
from porter.source.lexer import Token, match_bracket
from porter.source.program import Function

_MOST = 10
_COMPARED = r"(?<![\w.>]){0}[!=]=|[!=]={0}\b"
_CUSTOMARY_BLOCK = 256
_MOST_LOW_BITS = 16


def choices(usage: Usage, function: Function, name: str, type_: ArithmeticType) -> tuple[str, ...]:
    """Returns the values to try for a parameter that only selects, beginning with the first; none for any other.

    It is switched on, compared for equality, or tested for truth as a whole or by bits, also among other conditions.
    Values that are not named stand for all others: ports test `> 0`, `== 1` or `& 1` instead of the source's condition,
    and only some numbers show the difference.
    """
    found: list[int] = []
    for inner, alias in passed_on(usage, function, name):
        body = usage.body(inner)
        scope = Scope(usage, inner)
        if cases := list(_cases(scope, body.words, alias)):
            return _texts([_CUSTOMARY_BLOCK, *cases] if _CUSTOMARY_BLOCK in cases else cases)
        equal = list(_equalities(scope, body, alias))
        masks = list(_masks(scope, body, alias))
        bare = sum(1 for node in body.conditions for asked in truths(node) if asked == Name(alias))
        forwarded = sum(1 for _, args in body.calls for a in args if is_name(a, alias))
        if _uses(body, alias) > len(equal) + len(masks) + bare + forwarded:
            return ()
        found += [*equal, *([1, 0] if bare and not equal else [])]
        found += [reduce(or_, masks), *masks, 0] if masks else []
    return _texts([*found, *_others(found, type_)] if found else [])


def _others(named: Sequence[int], type_: ArithmeticType) -> Iterator[int]:
    """Yields numbers other than those `named`.

    They are an odd one above them, unless these are truth values, and one without low bits, below zero where the type
    has such numbers.
    """
    if set(named) != {0, 1}:
        yield max(named) + 1 | 1
    without_low_bits = 1 << min(_MOST_LOW_BITS, 4 * type_.bytes)
    yield -without_low_bits if type_.kind is Kind.SIGNED else without_low_bits


def _masks(scope: Scope, body: Body, name: str) -> Iterator[int]:
    """Yields the bits that are tested: 2 of `if (flags & 2)`, and of `if ((flags & 2) != 0)`."""
    for asked in (part for node in body.conditions for part in truths(node)):
        masked = asked.left if isinstance(asked, Binary) and asked.operator in ("==", "!=") else asked
        if isinstance(masked, Binary) and masked.operator == "&" and masked.left == Name(name):
            value = _number(scope, masked.right)
            if value is not None:
                yield value


def is_marker(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether kernels only compare a parameter with their own numbers: `label == ignored`."""
    compared = 0
    for inner, alias in passed_on(usage, function, name):
        body = usage.body(inner)
        forwarded = sum(1 for _, args in body.calls for a in args if is_name(a, alias))
        pattern = _COMPARED.format(re.escape(alias))
        equal = 0 if inner.space == "host" else len(re.findall(pattern, written(body.words)))
        if _uses(body, alias) > equal + forwarded:
            return False
        compared += equal
    return compared > 0


def special_values(usage: Usage, function: Function, name: str) -> tuple[str, ...]:
    """Returns the whole numbers that a parameter is compared with, even if it computes as well: `if (beta == 0.f)`."""
    found: list[int] = []
    for inner, alias in passed_on(usage, function, name):
        found += _equalities(Scope(usage, inner), usage.body(inner), alias)
    return _texts(found)


def _texts(values: Sequence[int]) -> tuple[str, ...]:
    return tuple(map(str, dict.fromkeys(values)))[:_MOST]


def _uses(body: Body, name: str) -> int:
    return len(re.findall(rf"(?<![\w.]){re.escape(name)}(?!\w)", written(body.words)))


def _equalities(scope: Scope, body: Body, name: str) -> Iterator[int]:
    """Yields the numbers that `name` is compared with for equality."""
    for comparison in (c for node in body.conditions for c in comparisons(node) if c.operator in ("==", "!=")):
        if comparison.left == Name(name) and (value := _number(scope, comparison.right)) is not None:
            yield value


def _cases(scope: Scope, words: Sequence[Token], name: str) -> Iterator[int]:
    """Yields the labels of every `switch` on `name`, and another value where there is a `default`."""
    for i, word in enumerate(words[:-3]):
        if word.text != "switch" or [w.text for w in words[i + 1 : i + 5]] != ["(", name, ")", "{"]:
            continue
        end = match_bracket(words, i + 4)
        labels = list(_labels(scope, words[i + 5 : end]))
        yield from labels
        if labels and any(w.text == "default" for w in words[i + 5 : end]):
            yield max(labels) + 1


def _labels(scope: Scope, words: Sequence[Token]) -> Iterator[int]:
    """Yields the values of the cases in a `switch`, without those of another one inside."""
    i = 0
    while i < len(words):
        if words[i].text == "switch":
            opening = next((j for j in range(i, len(words)) if words[j].text == "{"), len(words) - 1)
            i = match_bracket(words, opening) or len(words)
        elif words[i].text == "case":
            colon = next((j for j in range(i, len(words)) if words[j].text == ":"), len(words))
            value = _number(scope, parsed(words[i + 1 : colon]))
            if value is not None:
                yield value
            i = colon
        i += 1


def _number(scope: Scope, node: Node | None) -> int | None:
    """Returns the value of a constant expression; None where it has none."""
    resolved = scope.resolve(node) if node is not None else None
    return int(resolved.value) if isinstance(resolved, Number) and float(resolved.value).is_integer() else None
