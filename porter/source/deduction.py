"""Template arguments that follow from types: `float* x` for the parameter `T* x` means that `T` is `float`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from porter.source.dispatch import spelled
from porter.source.lexer import Token, match_bracket, significant, split_arguments, tokens
from porter.source.program import Function
from porter.source.signature import declarator
from porter.source.vocabulary import CV, QUALIFIERS

_LEFT_OUT = CV | QUALIFIERS | {"typename"}
_INDIRECTIONS = frozenset(("*", "&", "&&"))


def deduced_from_types(function: Function, written: Sequence[Sequence[Token]]) -> Mapping[str, str]:
    """Returns what the parameters of a declaration, as `written`, make of the template parameters of `function`.

    Nothing when it cannot be the same function, because it has not as many parameters.
    """
    if len(written) != len(function.params):
        return {}
    names = {t.name for t in function.template}
    found: dict[str, str] = {}
    for param, words in zip(function.params, written, strict=True):
        _, kind, extents = declarator(words)
        _unify(_plain(significant(tokens(param.type.text))), _plain([*kind, *chain(*extents)]), names, found)
    return found


def _plain(words: Sequence[Token]) -> list[Token]:
    """The type without what may differ between two spellings of it: an array parameter is a pointer."""
    kept: list[Token] = []
    until = 0
    for i, token in enumerate(words):
        if token.text == "[" and i >= until:
            until = (match_bracket(words, i) or i) + 1
            kept.append(Token(token.kind, "*", token.start, token.end))
        elif i >= until and token.text not in _LEFT_OUT:
            kept.append(token)
    return kept


def _unify(declared: Sequence[Token], given: Sequence[Token], names: set[str], found: dict[str, str]) -> None:
    """Fit the type `given` to the type `declared`: what stands where a template parameter does is its argument."""
    while declared and declared[-1].text in _INDIRECTIONS:
        if not given or given[-1].text != declared[-1].text:
            return
        declared, given = declared[:-1], given[:-1]
    if len(declared) == 1 and declared[0].text in names:
        found.setdefault(declared[0].text, spelled(given))
        return
    inside = [_arguments(words) for words in (declared, given)]
    for ours, theirs in zip(*inside, strict=False):
        _unify(_plain(ours), _plain(theirs), names, found)


def _arguments(words: Sequence[Token]) -> list[list[Token]]:
    """The template arguments at the end of a type: `float` and `4` of `Vec<float, 4>`."""
    opening = next(
        (i for i, t in enumerate(words) if t.text == "<" and match_bracket(words, i) == len(words) - 1), None
    )
    return [] if opening is None else split_arguments(words, opening)
