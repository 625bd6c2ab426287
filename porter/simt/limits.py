"""Calls of `min` and `max` of which one operand is plain, so that it can be read twice: `min(blocks, 4096)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from porter.source.lexer import Token, TokenKind, match_bracket

_NAMES = frozenset(("min", "max", "fmin", "fmax", "fminf", "fmaxf"))
_BEFORE = frozenset(("return", "else", "case"))
_PLAIN = re.compile(r"[\w.]+(?: [-+*/%] [\w.]+)*")
_LONGEST = 12

Operand = tuple[int, int]  # its first token, and the one behind its last


@dataclass(frozen=True, slots=True)
class Limit:
    """A call from token `first` to token `last`: its operand `one`, which is plain, and the `other`."""

    first: int
    last: int
    one: Operand
    other: Operand


def limits(code: Sequence[Token]) -> Iterator[Limit]:
    """Yields the calls among the tokens of `code`."""
    for i, token in enumerate(code):
        if token.text not in _NAMES or i + 1 == len(code) or code[i + 1].text != "(":
            continue
        close, first = match_bracket(code, i + 1), _beginning(code, i)
        if close is None or first is None:
            continue
        operands = _operands(code, i + 2, close)
        plain = [operand for operand in reversed(operands) if _is_plain(code, operand)]
        if len(operands) == 2 and plain:
            one = next((operand for operand in plain if _is_constant(code, operand)), plain[0])
            yield Limit(first, close, one, operands[operands[0] == one])


def _beginning(code: Sequence[Token], at: int) -> int | None:
    """Returns where the name that ends at `at` begins; None where it is declared, or that of a member."""
    first = at
    if first and code[first - 1].text == "::":
        first -= 2 if first > 1 and code[first - 2].text == "std" else 1
    before = code[first - 1] if first else None
    if before is None or before.text in (".", "->", "::", "#define", "define"):
        return None
    if before.text == ">" and code[first].text == "::":  # `Pick<float>::min(a, b)`
        return None
    return None if before.kind is TokenKind.IDENTIFIER and before.text not in _BEFORE else first


def _operands(code: Sequence[Token], first: int, close: int) -> list[Operand]:
    found, begin, depth = list[Operand](), first, 0
    for i in range(first, close):
        depth += (code[i].text in ("(", "[", "{")) - (code[i].text in (")", "]", "}"))
        if code[i].text == "," and depth == 0:
            found.append((begin, i))
            begin = i + 1
    return [*found, (begin, close)] if begin < close else []


def _is_plain(code: Sequence[Token], operand: Operand) -> bool:
    """Returns whether it is arithmetic of names and numbers, without a call or a subscript."""
    tokens = code[slice(*operand)]
    if len(tokens) > _LONGEST:
        return False
    pairs = pairwise(tokens)
    if any((a.kind is TokenKind.IDENTIFIER and b.text == "(") or (a.text, b.text) == (")", "(") for a, b in pairs):
        return False
    text = " ".join(t.text for t in tokens if t.text not in "()").replace(" . ", ".")
    return _PLAIN.fullmatch(text) is not None


def _is_constant(code: Sequence[Token], operand: Operand) -> bool:
    """Returns whether it looks like a constant: a number, or a name in capitals."""
    first = code[operand[0]].text
    return operand[1] == operand[0] + 1 and (first[0].isdigit() or first == first.upper())
