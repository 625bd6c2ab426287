"""What a port adds around the user's text: porter's own line, the runtime's header, helper functions."""

from __future__ import annotations

from porter.backend import Target
from porter.source.lexer import TokenKind, inside_directive, significant, tokens
from porter.source.text import Source
from porter_maca.stamp import stamp

_RUNTIME = "#include <mc_runtime.h>\n"


def framed(text: str, source: Source, target: Target, helpers: str, *, needs_runtime: bool) -> str:
    """`text` with porter's line in front and `helpers` behind its first includes.

    nvcc includes the runtime's header by itself; `needs_runtime` says that no file of the port does it by hand.
    """
    if helpers:
        place = after_includes(text)
        text = f"{text[:place]}\n{helpers.rstrip()}\n{text[place:]}" if place else f"{helpers.rstrip()}\n{text}"
        needs_runtime = needs_runtime or not place
    return stamp(source, target) + (_RUNTIME if needs_runtime else "") + text


def after_includes(text: str) -> int:
    """The offset of the line after the includes that come before the first brace; 0 when there are none.

    An include within `#if` counts from its `#endif` on; the guard of a header is no such `#if`.
    """
    place = depth = 0
    guard = _guard_depth(text)
    pending = False
    for token in tokens(text):
        if token.kind is TokenKind.PUNCTUATION and token.text == "{" and depth <= guard:
            break
        if token.kind is not TokenKind.DIRECTIVE:
            continue
        words = significant(inside_directive(token, text))
        head = words[0].text if words else ""
        depth += head in ("if", "ifdef", "ifndef")
        depth -= head == "endif"
        pending = pending or head == "include"
        if pending and depth <= guard:
            place, pending = _next_line(text, token.end), False
    return place


def _guard_depth(text: str) -> int:
    """1 where the whole text stands between `#ifndef NAME`, `#define NAME` and `#endif`, else 0."""
    directives = [t for t in tokens(text) if t.kind is TokenKind.DIRECTIVE][:2]
    words = [[w.text for w in significant(inside_directive(d, text))] for d in directives]
    is_guard = len(words) == 2 and words[0][:1] == ["ifndef"] and words[1][:1] == ["define"]
    return int(is_guard and words[0][1:2] == words[1][1:2])


def _next_line(text: str, offset: int) -> int:
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1
