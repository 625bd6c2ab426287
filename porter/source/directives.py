"""Reads preprocessor lines: macros and includes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from porter.source import lexer
from porter.source.lexer import Token, TokenKind, inside_directive, significant
from porter.source.program import Include, Macro
from porter.source_text import Source

_INCLUDE = re.compile(r'#[ \t]*include(?:_next)?\s*(?:<([^>\n]+)>|"([^"\n]+)")')
_DEFINED = re.compile(r"#\s*if(?:def\s+|\s+defined[\s(]+|\s+)([A-Za-z_]\w*)\s*\)?\s*$")
_CONTINUATION = re.compile(r"\\[ \t]*\r?\n")


@lru_cache(maxsize=512)
def directives(text: str) -> tuple[Token, ...]:
    """The preprocessor lines of `text`; kept, because the files of a folder share their headers."""
    return tuple(lexer.directives(text))


def directive_name(directive: Token, text: str) -> str:
    """`define`, `if`, ...; empty for a lone `#`."""
    found = re.match(r"#[ \t]*(\w*)", text[directive.start : directive.end])
    return found.group(1) if found else ""


def macros(source: Source, stream: Sequence[Token]) -> Iterator[Macro]:
    """Every `#define` among the tokens of `source`, in order."""
    for token in stream:
        if token.kind is TokenKind.DIRECTIVE and directive_name(token, source.text) == "define":
            macro = read_macro(source, token)
            if macro is not None:
                yield macro


def read_macro(source: Source, directive: Token) -> Macro | None:
    """The macro a `#define` line defines; None when it names nothing."""
    words = inside_directive(directive, source.text)
    named = [i for i, t in enumerate(words) if t.kind is TokenKind.IDENTIFIER]
    if len(named) < 2:
        return None
    at = named[1]
    params: tuple[str, ...] | None = None
    body = at + 1
    if body < len(words) and words[body].text == "(":  # no blank between: a function macro
        close = next((i for i in range(body, len(words)) if words[i].text == ")"), len(words) - 1)
        params = _params(words[body + 1 : close])
        body = close + 1
    return Macro(words[at].text, params, _body(source.text, words[body:]), source.span(directive.start, directive.end))


def _params(words: Sequence[Token]) -> tuple[str, ...]:
    names = [t.text for t in significant(words) if t.text != ","]
    if len(names) > 1 and names[-1] == "...":  # a named rest, `args...`, keeps its name before the dots
        comma_before_dots = [t.text for t in significant(words)][-2] == ","
        return tuple(names) if comma_before_dots else (*names[:-2], names[-2] + "...")
    return tuple(names)


def _body(text: str, words: Sequence[Token]) -> str:
    """The replacement, comments and continuations gone."""
    parts = [" " if t.kind is TokenKind.COMMENT else text[t.start : t.end] for t in words]
    return _CONTINUATION.sub(" ", "".join(parts)).strip()


def includes(source: Source, stream: Sequence[Token]) -> Iterator[Include]:
    """Every `#include` among the tokens of `source`, in order."""
    for token in stream:
        if token.kind is TokenKind.DIRECTIVE and (found := _INCLUDE.match(token.text)):
            angled, quoted = found.groups()
            yield Include(angled or quoted, angled is not None, source.span(token.start, token.end))


def outermost_macro(text: str, at: int) -> str:
    """The macro that alone decides the outermost `#ifdef` or `#if` around `text[at]`; empty where there is none."""
    around: list[str] = []
    for directive in (d for d in directives(text) if d.start < at):
        name = directive_name(directive, text)
        if name.startswith("if"):
            around.append(text[directive.start : directive.end])
        elif name.startswith("el"):
            around[-1:] = [""]
        elif name == "endif":
            del around[-1:]
    return next((found[1] for line in around if (found := _DEFINED.match(line))), "")
