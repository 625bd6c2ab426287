"""Finds what a kernel asserts whatever it is handed: not where its own parameters decide whether it comes to that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from porter.contract.analysis.body import ASSERTIONS, Body
from porter.contract.model.syntax import Node
from porter.source.lexer import Token, TokenKind, match_bracket

_CHOOSING = frozenset(("if", "while", "switch"))
_Governed = tuple[int, int, int]  # where a condition begins, and where what it governs begins and ends


def asserted_anyway(body: Body, parameters: Collection[str]) -> Iterator[Node]:
    """Yields the conditions of assertions that stand under no `if` and behind no return that `parameters` decide."""
    words = body.words
    heads = tuple(_governed(words))
    leaves = (i for i, w in enumerate(words) if w.text == "return" and _is_chosen(words, heads, i, parameters))
    leaving = next(leaves, len(words))
    for at, name, arguments in body.sites:
        stated = arguments[0] if name in ASSERTIONS and arguments else None
        if stated is not None and at < leaving and not any(begin <= at < end for _, begin, end in heads):
            yield stated


def _is_chosen(words: Sequence[Token], heads: Sequence[_Governed], at: int, parameters: Collection[str]) -> bool:
    """Returns whether a condition on parameters alone, or none, leads to the word at `at`."""
    conditions = [words[head:begin] for head, begin, end in heads if begin <= at < end]
    names = {w.text for words_ in conditions for w in words_ if w.kind is TokenKind.IDENTIFIER} - _CHOOSING - {"else"}
    return names <= set(parameters)


def _governed(words: Sequence[Token]) -> Iterator[_Governed]:
    """Yields the statements that a condition governs."""
    for i, word in enumerate(words[:-1]):
        close = match_bracket(words, i + 1) if word.text in _CHOOSING and words[i + 1].text == "(" else None
        begin = i + 1 if word.text == "else" else None if close is None else close + 1
        if begin is not None and begin < len(words):
            yield i, begin, _end(words, begin)


def _end(words: Sequence[Token], begin: int) -> int:
    """Returns the end of the statement at `begin`."""
    end = match_bracket(words, begin) if words[begin].text == "{" else None
    return (
        end + 1 if end is not None else next((i for i in range(begin, len(words)) if words[i].text == ";"), len(words))
    )
