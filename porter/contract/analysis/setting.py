"""Tells whether code sets an object that it is handed by reference, or any part of it."""

from __future__ import annotations

from collections.abc import Sequence

from porter.contract.analysis.body import Body
from porter.source.lexer import Token, match_bracket

_MEMBERS = (".", "->", "::")
_SETTING = frozenset(("(", "=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"))
_BEFORE = ("++", "--")
_OPERANDS = (")", "]")  # behind which `&` is an operator


def sets(body: Body, name: str) -> bool:
    """Returns whether `body` sets `name` or a member of it, takes the address of either, or calls a method of it."""
    return any(_is_set(body.words, place) for place in _places(body, name))


def wholes(body: Body, name: str) -> int:
    """Returns how often `body` mentions the object `name` as a whole, and no member of it."""
    return sum(_end_of_members(body.words, place) == place + 1 for place in _places(body, name))


def leads_further(body: Body, name: str) -> bool:
    """Returns whether `body` goes on through a pointer among the members of the object `name`: `p.next->n`."""
    words = body.words
    paths = (words[place : _end_of_members(words, place)] for place in _places(body, name))
    return any(word.text == "->" for path in paths for word in path)


def _places(body: Body, name: str) -> list[int]:
    words = body.words
    return [i for i, w in enumerate(words) if w.text == name and not (i and words[i - 1].text in _MEMBERS)]


def _is_set(words: Sequence[Token], place: int) -> bool:
    before = words[place - 1].text if place else ""
    if before in _BEFORE or (before == "&" and _is_address(words, place - 1)):
        return True
    end = _end_of_members(words, place)
    return end < len(words) and words[end].text in _SETTING


def _is_address(words: Sequence[Token], place: int) -> bool:
    """Returns whether the `&` at `place` has no left operand."""
    before = words[place - 1].text if place else ""
    return not (before in _OPERANDS or before[:1].isalnum() or before[:1] == "_") or before == "return"


def _end_of_members(words: Sequence[Token], place: int) -> int:
    """Returns where `p.x[i].n`, which begins at `place`, ends."""
    end = place + 1
    while end < len(words):
        if words[end].text in (".", "->"):
            end += 2
        elif words[end].text == "[":
            end = (match_bracket(words, end) or len(words)) + 1
        else:
            break
    return end
