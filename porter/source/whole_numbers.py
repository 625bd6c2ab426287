"""The whole numbers that a C++ source names (tiles, steps, limits), and products and shifts of two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.source.lexer import Token, TokenKind, inside_directive, significant, tokens

_INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlLzZ]*")
_LARGEST_SHIFT = 63


def whole_numbers(text: str) -> frozenset[int]:
    """Every whole number in `text`, macros included."""
    return frozenset(_numbers(text))


def _numbers(text: str) -> Iterator[int]:
    stream = significant(tokens(text))
    for directive in (token for token in stream if token.kind is TokenKind.DIRECTIVE):
        yield from _in_order(significant(inside_directive(directive, text)))
    yield from _in_order(stream)


def _in_order(stream: list[Token]) -> Iterator[int]:
    for index, token in enumerate(stream):
        first = _value(token)
        if first is None:
            continue
        yield first
        second = _value(stream[index + 2]) if index + 2 < len(stream) else None
        if second is not None and stream[index + 1].text == "*":
            yield first * second
        elif second is not None and stream[index + 1].text == "<<" and second <= _LARGEST_SHIFT:
            yield first << second


def _value(token: Token) -> int | None:
    found = _INTEGER.fullmatch(token.text) if token.kind is TokenKind.NUMBER else None
    if found is None:
        return None
    digits = found[1].replace("'", "")
    is_octal = len(digits) > 1 and digits.isdecimal() and digits.startswith("0")
    return int(digits, 8 if is_octal and not set(digits) & {"8", "9"} else 10 if is_octal else 0)
