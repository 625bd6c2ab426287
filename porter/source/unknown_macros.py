"""Macros nobody defines where porter can see it, told by what no C++ allows beside a name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from porter.source.lexer import Token, TokenKind, match_bracket
from porter.source.vocabulary import AFTER_DECLARATOR, EXPRESSION_KEYWORDS, NEVER_AFTER_TYPE

_SHORTEST = 3  # letters; shorter names in capitals are template parameters
_JOINS_TYPES = frozenset(("unsigned", "signed", "long", "short", "int", "const", "volatile"))
_STARTS = frozenset((";", "{", "}", ":", ")"))
_AFTER_NAME = AFTER_DECLARATOR - {"const"}
_LOOK_AHEAD = 400  # tokens read to see what follows a call or template arguments


class Guess(Enum):
    """The ways in which a name in capitals reads."""

    NAME = auto()  # as any name
    NOTHING = auto()  # as a qualifier, a hint or a pragma: without it the code is C++
    STATEMENT = auto()  # as a call that lacks its semicolon


def guess(stream: Sequence[Token], index: int, end: int, previous: str) -> Guess:
    """Returns how the unknown identifier at `index` reads, or the call `stream[index:end]`, after the token
    `previous`.
    """
    name = stream[index].text
    if (
        len(name) < _SHORTEST
        or not name.isupper()
        or previous in EXPRESSION_KEYWORDS
        or previous in ("::", ".", "->", "&", "<")
    ):
        return Guess.NAME
    first, second = _following(stream, end, 2)
    if first is None:
        return Guess.NAME
    if end > index + 1:
        return _call(first, previous)
    if first.text in NEVER_AFTER_TYPE:
        return Guess.NOTHING
    if first.kind is not TokenKind.IDENTIFIER or first.text in _JOINS_TYPES or name in _JOINS_TYPES:
        return Guess.NAME
    second = _after_template(stream, end) if second is not None and second.text in ("<", "::") else second
    plain = second is not None and second.kind is TokenKind.IDENTIFIER and second.text not in _AFTER_NAME
    return Guess.NOTHING if plain else Guess.NAME


def _call(first: Token, previous: str) -> Guess:
    """A call in capitals before `first`: nothing C++ lets two of them stand side by side."""
    begins = first.kind is TokenKind.IDENTIFIER or first.text == "}" or first.kind is TokenKind.DIRECTIVE
    if not begins or first.text in AFTER_DECLARATOR:
        return Guess.NAME
    if previous in _STARTS or not previous:
        return Guess.STATEMENT
    return Guess.NOTHING


def _following(stream: Sequence[Token], index: int, count: int) -> list[Token | None]:
    found: list[Token | None] = []
    for token in stream[index : index + _LOOK_AHEAD]:
        if token.kind not in (TokenKind.BLANK, TokenKind.COMMENT, TokenKind.DIRECTIVE):
            found.append(token)
            if len(found) == count:
                return found
    return [*found, *[None] * (count - len(found))]


def _after_template(stream: Sequence[Token], index: int) -> Token | None:
    """The token after the `a::b<...>` that begins at `index`."""
    words = [
        t
        for t in stream[index : index + _LOOK_AHEAD]
        if t.kind not in (TokenKind.BLANK, TokenKind.COMMENT, TokenKind.DIRECTIVE)
    ]
    at = 1
    while at < len(words):
        if words[at].text == "::":
            at += 2
        elif words[at].text == "<" and (close := match_bracket(words, at)) is not None:
            at = close + 1
        else:
            return words[at]
    return None
