"""The truth of `#if`, `#ifdef` and their kin."""

from __future__ import annotations

from collections.abc import Callable

from porter.source.folding import Environment, evaluate
from porter.source.lexer import Token, inside_directive, match_bracket, significant
from porter.source.macros import MacroTable


def is_true(
    kind: str, directive: Token, text: str, table: MacroTable, has_header: Callable[[str], bool] = lambda _: False
) -> bool:
    """Returns whether the branch behind `directive` is compiled; `kind` is "if", "ifdef", "ifndef" (or the rest of an
    `#elif`).

    A name nobody defines counts as 0, as the standard has it; an expression that makes no sense counts as true, so
    that its branch is at least read. `has_header` says whether `__has_include` finds a header.
    """
    words = significant(inside_directive(directive, text))[1:]
    if kind.endswith("def"):
        defined = bool(words) and words[0].text in table.definitions
        return defined != kind.endswith("ndef")
    result = evaluate(_answered(words, table, has_header), Environment(macros=table, undefined_is_zero=True))
    return result is None or result != 0


def _answered(words: list[Token], table: MacroTable, has_header: Callable[[str], bool]) -> str:
    """The condition with every `defined X` and `__has_include(...)` replaced by 1 or 0."""
    parts: list[str] = []
    index = 0
    while index < len(words):
        text = words[index].text
        opening = index + 1 < len(words) and words[index + 1].text == "("
        if text == "defined":
            at = index + (2 if opening else 1)
            parts.append(str(int(at < len(words) and words[at].text in table.definitions)))
            index = at + (2 if opening else 1)
        elif text.startswith("__has_") and opening:  # attributes and others' headers are taken to be absent
            close = match_bracket(words, index + 1) or len(words)
            name = "".join(t.text for t in words[index + 2 : close]).strip('<>"')
            parts.append(str(int(text.startswith("__has_include") and has_header(name))))
            index = close + 1
        else:
            parts.append(text)
            index += 1
    return " ".join(parts)
