"""Operands of `&&` and `||`: each may decide alone, and code that forgets one is right until it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.source.lexer import Token, TokenKind, match_bracket

# What a chain of operands has none of outside of brackets: another operator binds weaker, or it is no expression.
_WEAKER = frozenset(
    ("?", ":", ",", ";", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "return", "throw")
)
_BEGINS_NONE = frozenset((">", ")", "]", "==", "!=", "<", "<=", ">=", "*", "/", "%", "|", "^"))


@dataclass(frozen=True, slots=True)
class Operand:
    """The tokens from `first` up to `last` of an operand; `decides` is its truth that decides alone."""

    first: int
    last: int
    decides: bool


@dataclass(frozen=True, slots=True)
class _Chain:
    """Operands of one operator, each from a token up to another."""

    parts: tuple[tuple[int, int], ...]
    decides: bool


def operands(code: Sequence[Token], first: int, last: int) -> Iterator[Operand]:
    """Yields the operands of the expression `code[first:last]`, also those of operands; none where it is no chain.

    An operand whose own operands decide as it does, `(a && b) && c`, is left out for the sake of these.
    """
    chain, _ = _inside(code, first, last)
    for start, end in chain.parts if chain else ():
        inner, is_negated = _inside(code, start, end)
        if chain and (inner is None or (inner.decides != is_negated) != chain.decides):
            yield Operand(start, end, chain.decides)
        yield from operands(code, start, end)


def _inside(code: Sequence[Token], first: int, last: int) -> tuple[_Chain | None, bool]:
    """The chain that `code[first:last]` is, within parentheses perhaps, and whether it is negated as a whole."""
    is_negated = False
    while first < last:
        opening = first + (code[first].text == "!")
        if opening == last or code[opening].text != "(" or match_bracket(code, opening) != last - 1:
            break
        is_negated ^= opening > first
        first, last = opening + 1, last - 1
    return _chain(code, first, last), is_negated


def _chain(code: Sequence[Token], first: int, last: int) -> _Chain | None:
    outside = list(_outside_of_brackets(code, first, last))
    texts = {code[i].text for i in outside}
    operator = next((word for word in ("||", "&&") if word in texts), None)
    if operator is None or texts & _WEAKER or _has_template_argument(code, outside):
        return None
    ends = [i for i in outside if code[i].text == operator]
    parts = tuple(zip((first, *(i + 1 for i in ends)), (*ends, last), strict=True))
    if any(start >= end or code[start].text in _BEGINS_NONE for start, end in parts):
        return None
    return _Chain(parts, decides=operator == "||")


def _has_template_argument(code: Sequence[Token], outside: Sequence[int]) -> bool:
    """Returns whether `&&` may stand in an argument of a template: `Both<A && B>::value`, `Both<A && B>()`."""
    behind = [[t.text for t in code[i + 1 : i + 3]] for i in outside if code[i].text == ">"]
    return any(texts[:1] in (["::"], ["{"]) or texts == ["(", ")"] for texts in behind)


def _outside_of_brackets(code: Sequence[Token], first: int, last: int) -> Iterator[int]:
    depth = 0
    for i in range(first, last):
        if code[i].kind is TokenKind.PUNCTUATION and code[i].text in ")]}":
            depth -= 1
        if depth == 0:
            yield i
        if code[i].kind is TokenKind.PUNCTUATION and code[i].text in "([{":
            depth += 1
