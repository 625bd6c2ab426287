"""Adds the parts of a port around the user's text: porter's own line, the runtime's header, helper functions."""

from __future__ import annotations

from porter.backend import Target
from porter.source.lexer import TokenKind, inside_directive, significant, tokens
from porter.source_text import Source
from porter_maca.stamp import stamp

_RUNTIME = "#include <mc_runtime.h>\n"


def framed(text: str, source: Source, target: Target, helpers: str, *, needs_runtime: bool) -> str:
    """Returns `text` with porter's line in front and `helpers` behind its first includes.

    nvcc includes the runtime's header by itself; `needs_runtime` says that no file of the port does so.
    """
    if helpers:
        place = after_includes(text)
        text = f"{text[:place]}\n{helpers.rstrip()}\n{text[place:]}" if place else f"{helpers.rstrip()}\n{text}"
        needs_runtime = needs_runtime or not place
    return stamp(source, target) + (_RUNTIME if needs_runtime else "") + text


def after_includes(text: str) -> int:
    """Returns the offset of the line after the includes before the first brace; 0 when there are none.

    An include within `#if` counts from its `#endif` on, except within an `#if` around all of the text.
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
    """Returns the number of conditionals around all code of the text: a header's guard, the `#ifdef` of a platform."""
    open_: list[int] = []
    around: list[int] | None = None
    branches = 0
    for token in tokens(text):
        if token.kind is TokenKind.DIRECTIVE:
            words = significant(inside_directive(token, text))
            head = words[0].text if words else ""
            branches += 1
            if head in ("else", "elif", "endif"):
                del open_[-1:]
            if head in ("if", "ifdef", "ifndef", "else", "elif"):
                open_.append(branches)
        elif token.kind not in (TokenKind.BLANK, TokenKind.COMMENT):
            around = list(open_) if around is None else around
            while around != open_[: len(around)]:
                del around[-1:]
    return len(around or ())


def _next_line(text: str, offset: int) -> int:
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1
