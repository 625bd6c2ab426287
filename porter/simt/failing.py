"""Sides of branches that end in an error: what a source does where it is called as it may not be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.source.lexer import Token, TokenKind, match_bracket

_ENDS = re.compile(r"(?i).*(throw|abort|fatal|fail|error|trap|unreachable|terminate)")
_EXITS = frozenset(("exit", "_exit", "quick_exit"))
_CHECKS = re.compile(r"(?i).*(check|assert|enforce|require)")
_ERROR_VALUE = re.compile(r"(?i).*(error|invalid|fail|unsupported|not_?supported|not_?implemented|unknown)")
_SUCCESS = re.compile(r"\w*(?:Success|SUCCESS)")
_STREAMS = frozenset(("stderr", "cerr"))
_CONDITIONAL = ("if", "while", "for", "switch")


def fails_if(code: Sequence[Token], first: int, last: int, arm: int) -> tuple[bool, bool]:
    """Returns whether the true and the false side of an `if` fail: its condition is `code[first:last]`, `arm` where it
    leads.

    So does the side on which what a call returned is no success.
    """
    words = [t.text for t in code[first:last]]
    end = statement_end(code, arm)
    otherwise = end + 2 if end + 1 < len(code) and code[end + 1].text == "else" else None
    true = _fails(code, arm, end)
    false = otherwise is not None and _fails(code, otherwise, statement_end(code, otherwise))
    about_success = any(_SUCCESS.fullmatch(word) for word in words)
    return true or (about_success and "!=" in words), false or (about_success and "==" in words)


def fails_in_case(code: Sequence[Token], first: int, end: int) -> bool:
    """Returns whether what stands behind a label, from `first` up to `end` of the switch at most, fails."""
    last = None
    at = first
    while at < end and code[at].text not in ("case", "default", "break", "}"):
        last, at = at, statement_end(code, at) + 1
    return last is not None and _fails(code, last, at - 1)


def statement_end(code: Sequence[Token], at: int) -> int:
    """The index of the last token of the statement that begins at `at`."""
    if at >= len(code):
        return len(code) - 1
    text = code[at].text
    if text == "{":
        return match_bracket(code, at) or len(code) - 1
    if text in _CONDITIONAL:
        opening = next((i for i in range(at, min(at + 3, len(code))) if code[i].text == "("), at)
        close = match_bracket(code, opening) if opening != at else None
        end = statement_end(code, close + 1) if close is not None else len(code) - 1
        has_other = text == "if" and end + 1 < len(code) and code[end + 1].text == "else"
        return statement_end(code, end + 2) if has_other else end
    return _simple_end(code, at)


def _simple_end(code: Sequence[Token], at: int) -> int:
    i = at
    while i < len(code) and code[i].text != ";":
        if code[i].kind is TokenKind.PUNCTUATION and code[i].text in ("(", "[", "{"):
            i = match_bracket(code, i) or len(code) - 1
        elif code[i].text == "}":
            return i - 1
        i += 1
    return min(i, len(code) - 1)


def _fails(code: Sequence[Token], first: int, last: int) -> bool:
    """Returns whether the statement from `first` to `last` ends in an error."""
    if first > last:
        return False
    if any(t.text in _STREAMS for t in code[first : last + 1]) and not any(
        t.kind is TokenKind.LAUNCH_OPEN for t in code[first : last + 1]
    ):
        return True
    statements = list(_statements(code, first, last))
    return bool(statements) and _gives_up([t.text for t in code[statements[-1][0] : statements[-1][1] + 1]])


def _statements(code: Sequence[Token], first: int, last: int) -> Iterator[tuple[int, int]]:
    if code[first].text != "{":
        yield first, last
        return
    at = first + 1
    while at < last:
        end = min(statement_end(code, at), last)
        if code[at].text != ";":
            yield at, end
        at = max(end, at) + 1


def _gives_up(words: Sequence[str]) -> bool:
    named = [word for word in words if word not in ("std", "::", "(", "void", ")")]
    if not named:
        return False
    if named[0] == "return":
        value = named[1:]
        return (
            value[:1] == ["-"]
            or any(map(_ERROR_VALUE.fullmatch, value[:3]))
            or bool(value and _ERROR_VALUE.match(value[0]))
        )
    if named[0] in _EXITS or named[0] == "throw":
        return True
    called = "(" in words and named[0].isidentifier()
    refuses = bool(_CHECKS.match(named[0])) and ("false" in named[1:3] or "0" in named[1:2])
    return called and (bool(_ENDS.match(named[0])) or refuses)
