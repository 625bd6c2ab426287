"""Parameters that only select, and the values that the source tells apart: kernels, modes, flags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.contract.body import Body, comparisons, parsed, truths, written
from porter.contract.passing import is_name, passed_on
from porter.contract.scope import Scope
from porter.contract.syntax import Name, Node, Number
from porter.contract.usage import Usage
from porter.source.lexer import Token, match_bracket
from porter.source.program import Function

_MOST = 10
_COMPARED = r"(?<![\w.>]){0}[!=]=|[!=]={0}\b"
_CUSTOMARY_BLOCK = 256


def choices(usage: Usage, function: Function, name: str) -> tuple[str, ...]:
    """The values to try for a parameter that only selects, the first of them to begin with; none for any other one.

    It is switched on, compared for equality, or asked whether it is true, be it beside other conditions. A value that
    is not named stands for all such.
    """
    found: list[int] = []
    for inner, alias in passed_on(usage, function, name):
        body = usage.body(inner)
        scope = Scope(usage, inner)
        if cases := list(_cases(scope, body.words, alias)):
            return _texts([_CUSTOMARY_BLOCK, *cases] if _CUSTOMARY_BLOCK in cases else cases)
        equal = list(_equalities(scope, body, alias))
        bare = sum(1 for node in body.conditions for asked in truths(node) if asked == Name(alias))
        forwarded = sum(1 for _, args in body.calls for a in args if is_name(a, alias))
        if _uses(body, alias) > len(equal) + bare + forwarded:
            return ()
        found += equal
        found += [max(equal) + 1] if equal else [1, 0] if bare else []
    return _texts(found)


def is_marker(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether all that kernels do with a parameter is to compare numbers of theirs with it: `label ==
    ignored`.
    """
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
    """The whole numbers that a parameter, which may also be computed with, is asked for: `if (beta == 0.f)`."""
    found: list[int] = []
    for inner, alias in passed_on(usage, function, name):
        found += _equalities(Scope(usage, inner), usage.body(inner), alias)
    return _texts(found)


def _texts(values: Sequence[int]) -> tuple[str, ...]:
    return tuple(map(str, dict.fromkeys(values)))[:_MOST]


def _uses(body: Body, name: str) -> int:
    return len(re.findall(rf"(?<![\w.]){re.escape(name)}(?!\w)", written(body.words)))


def _equalities(scope: Scope, body: Body, name: str) -> Iterator[int]:
    """The numbers that `name` is compared with for equality."""
    for comparison in (c for node in body.conditions for c in comparisons(node) if c.operator in ("==", "!=")):
        if comparison.left == Name(name) and (value := _number(scope, comparison.right)) is not None:
            yield value


def _cases(scope: Scope, words: Sequence[Token], name: str) -> Iterator[int]:
    """The labels of every `switch` on `name`, and a value that has none where there is a `default`."""
    for i, word in enumerate(words[:-3]):
        if word.text != "switch" or [w.text for w in words[i + 1 : i + 5]] != ["(", name, ")", "{"]:
            continue
        end = match_bracket(words, i + 4)
        labels = list(_labels(scope, words[i + 5 : end]))
        yield from labels
        if labels and any(w.text == "default" for w in words[i + 5 : end]):
            yield max(labels) + 1


def _labels(scope: Scope, words: Sequence[Token]) -> Iterator[int]:
    """The values of the cases in a `switch`, without those of another one inside."""
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
    """The value of a constant expression; None where it has none."""
    resolved = scope.resolve(node) if node is not None else None
    return int(resolved.value) if isinstance(resolved, Number) and float(resolved.value).is_integer() else None
