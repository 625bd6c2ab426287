"""Tells what a macro's body is to a C++ grammar that sees only the macro's name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise

from porter.source.lexer import Token, TokenKind, match_bracket, significant
from porter.source.vocabulary import SPACES, STATEMENTS, STORAGE, TYPES

_STATEMENT_MARKS = frozenset((";", "{", "}", "#", "##"))
_NEVER_AT_ENDS = frozenset((",", "=", "?", ":", "<", ".", "->", "/", "%", "|", "^", "==", "!=", "||"))
_NEVER_FIRST = _NEVER_AT_ENDS | frozenset((">", "&&", ")", "]"))
_NEVER_LAST = _NEVER_AT_ENDS | frozenset(("+", "-", "(", "[", "::"))
_TYPE_BEGINNINGS = TYPES | frozenset(("const", "typename"))
_WITH_BLOCK = frozenset(("if", "for", "while", "switch", "{"))


class MacroKind(Enum):
    """The ways in which a use of a macro reads without its body."""

    EXPRESSION = auto()  # as a name or a call
    STATEMENT = auto()  # as a call with a semicolon: `do {...} while (0)`, `switch (x) {...}`, `[&] {...}()`
    SYNTAX = auto()  # not at all: declarations, qualifiers, loop heads, halves of brackets, nothing


def macro_kind(body: Sequence[Token]) -> MacroKind:
    """The kind of a macro with this body."""
    words = significant(body)
    if not words or words[0].text in _NEVER_FIRST or words[-1].text in _NEVER_LAST or not _balanced(words):
        return MacroKind.SYNTAX
    if _is_statement(words):
        return MacroKind.STATEMENT
    outside = _outside_brackets(words)
    syntax = any(t.text in _STATEMENT_MARKS or t.text in STATEMENTS for t in words)
    return MacroKind.SYNTAX if syntax or any(t.text == "," for t in outside) else MacroKind.EXPRESSION


def generates(body: Sequence[Token]) -> bool:
    """Returns whether the body launches a kernel, defines a function for the device or declares device storage."""
    return any(t.kind is TokenKind.LAUNCH_OPEN or t.text in SPACES or t.text in STORAGE for t in body)


def names_types(call: Sequence[Token]) -> bool:
    """Returns whether an argument within the parenthesis `call` is a type, which no call of a function takes."""
    depth = 0
    fresh = False
    for word, following in pairwise(significant(call)):
        if fresh and depth == 1 and word.text in _TYPE_BEGINNINGS and following.text not in ("(", "{"):
            return True
        fresh = depth <= 1 and word.text in ("(", ",")
        depth += (word.text in ("(", "[", "{")) - (word.text in (")", "]", "}"))
    return False


def statements_in_call(stream: Sequence[Token], index: int, end: int) -> int | None:
    """Index of the first statement among the arguments of the call `stream[index:end]`; None when all are expressions.

    An argument is statements if a semicolon stands in it outside brackets, or if it is a block.
    """
    depth, inside = 0, index
    argument: int | None = None
    block = False
    for i in range(index + 1, end):
        token = stream[i]
        if i <= inside or token.kind in (TokenKind.BLANK, TokenKind.COMMENT, TokenKind.DIRECTIVE):
            continue
        if token.kind is TokenKind.PUNCTUATION:
            if token.text == ";" and (depth == 1 or block):
                return argument
            depth -= token.text in (")", "]", "}")
        if depth == 1 and argument is None:
            argument, block = i, token.text == "{"
        if depth == 1 and (token.kind is TokenKind.LAUNCH_OPEN or token.text == "<"):
            inside = match_bracket(stream, i) or i  # `k<T, 4><<<g, b>>>` is of one argument
        if token.kind is TokenKind.PUNCTUATION:
            if token.text == "," and depth == 1:
                argument, block = None, False
            depth += token.text in ("(", "[", "{")
    return None


def _is_statement(words: Sequence[Token]) -> bool:
    """Returns whether the body is one complete statement or a call of a lambda."""
    first, last = words[0].text, words[-1].text
    if any(t.text == "##" for t in words):
        return False
    ends = [t for t in _outside_brackets(words) if t.text == ";"]
    if first == "do":
        return len(ends) <= 1 and last in (")", ";")
    if first in _WITH_BLOCK:
        return not ends and last == "}"
    return first in ("[", "(") and not ends and last in (")", ";") and any(t.text == "{" for t in words)


def _outside_brackets(words: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    index = 0
    while index < len(words):
        close = match_bracket(words, index) if words[index].text in ("(", "[", "{") else None
        if close is None:
            found.append(words[index])
        index = index + 1 if close is None else close + 1
    return found


def _balanced(words: Sequence[Token]) -> bool:
    depth = 0
    for word in words:
        depth += (word.text in ("(", "[", "{")) - (word.text in (")", "]", "}"))
        if depth < 0:
            return False
    return depth == 0
