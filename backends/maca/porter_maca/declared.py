"""Finds the names a file gives to its own things: they are never renamed, whatever they look like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from porter.source.lexer import Token, TokenKind, inside_directive, match_bracket, significant, tokens

_TYPE_HEADS = frozenset({"struct", "class", "enum", "union", "using", "namespace", "typename"})
_NO_TYPE = frozenset(
    {
        *(
            "return",
            "case",
            "goto",
            "else",
            "do",
            "new",
            "delete",
            "throw",
            "co_return",
            "if",
            "while",
            "not",
            "and",
            "or",
        ),
        *("sizeof", "alignof", "decltype", "operator", "using", "namespace", "typename"),
        *("const", "constexpr", "volatile", "static", "extern", "inline", "register", "mutable"),
        *("struct", "class", "enum", "union"),
    }
)
_ENDS_DECLARATOR = frozenset({"(", ")", ";", "=", ",", "[", "{"})


@dataclass(frozen=True, slots=True)
class Declared:
    """`functions` are defined with a body; `others` are macros, variables, parameters and types.

    `called` are the macros that take arguments.
    """

    functions: frozenset[str]
    others: frozenset[str]
    called: frozenset[str] = frozenset()


def declared(texts: Iterable[str]) -> Declared:
    """Returns what the files `texts` declare, by the shape of tokens: `type name;`, `name(...) {`, `#define name`."""
    functions: set[str] = set()
    others: set[str] = set()
    called: set[str] = set()
    for text in texts:
        stream = tokens(text)
        for token in stream:
            if token.kind is TokenKind.DIRECTIVE:
                line = significant(inside_directive(token, text))
                others.update(_macro(line))
                called.update(_macro(line) if _takes_arguments(line) else ())
        code = [t for t in significant(stream) if t.kind is not TokenKind.DIRECTIVE]
        functions.update(_functions(code))
        others.update(_variables(code))
    return Declared(frozenset(functions), frozenset(others), frozenset(called))


def _macro(line: Sequence[Token]) -> Iterable[str]:
    if len(line) > 1 and line[0].text == "define":
        yield line[1].text


def _takes_arguments(line: Sequence[Token]) -> bool:
    """Returns whether it is `#define name(`, without a space."""
    return len(line) > 2 and line[2].text == "(" and line[2].start == line[1].end


def _functions(code: Sequence[Token]) -> Iterable[str]:
    """Yields `name(...) {`, with qualifiers in between."""
    for i in range(1, len(code) - 1):
        if code[i].kind is TokenKind.IDENTIFIER and code[i + 1].text == "(" and _names_function(code[i - 1]):
            close = match_bracket(code, i + 1)
            after = close + 1 if close is not None else len(code)
            while after < len(code) and code[after].text in ("const", "noexcept", "override"):
                after += 1
            if after < len(code) and code[after].text == "{":
                yield code[i].text


def _names_function(before: Token) -> bool:
    """Returns whether what stands before `name(` can be a return type."""
    if before.kind is TokenKind.IDENTIFIER:
        return before.text not in _NO_TYPE
    return before.text in ("*", "&", ">")


def _variables(code: Sequence[Token]) -> Iterable[str]:
    """Yields `type name;`, `type name = …`, `struct name {` and `using name =`."""
    for before, name, after in zip(code, code[1:], code[2:], strict=False):
        if name.kind is not TokenKind.IDENTIFIER or before.kind is not TokenKind.IDENTIFIER:
            continue
        if before.text in _TYPE_HEADS:
            if after.text in ("{", "=", ":"):
                yield name.text
        elif before.text not in _NO_TYPE and after.text in _ENDS_DECLARATOR:
            yield name.text
