"""Puts `#pragma unroll` before the innermost loops of kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, Edits, edited_knob
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, match_bracket, significant, tokens
from porter.source.program import Function, Program

_TURNS = (1, 2, 4, 8)
_LOOPS = frozenset(("for", "while", "do"))


def loops(program: Program) -> Iterator[EditedKnob]:
    """Yields a knob for each kernel that has an innermost `for` in its own text."""
    words = significant(tokens(program.source.text))
    for kernel in program.kernels:
        found = list(_pragmas(program.source.text, words, kernel))
        if found:
            yield edited_knob(f"{kernel.qualified}.unroll", _TURNS, partial(_written, found))


def _written(found: Sequence[tuple[int, int, str]], value: Value) -> Edits:
    return [Edit(start, end, f"#pragma unroll {value}{rest}") for start, end, rest in found]


def _pragmas(text: str, words: Sequence[Token], kernel: Function) -> Iterator[tuple[int, int, str]]:
    """Yields where a pragma stands or would stand before each loop, and what follows it there."""
    for i, word in enumerate(words):
        if word.text != "for" or not kernel.body.start <= word.start < kernel.body.end or not _is_innermost(words, i):
            continue
        before = words[i - 1]
        if before.kind is TokenKind.DIRECTIVE:
            if before.text.split()[:2] == ["#pragma", "unroll"]:
                yield before.start, before.end, ""
            continue
        line = text.rfind("\n", 0, word.start) + 1
        indent = text[line : word.start]
        if not indent.strip():
            yield word.start, word.start, f"\n{indent}"


def _is_innermost(words: Sequence[Token], index: int) -> bool:
    """Returns whether the `for` at `index` holds no other loop."""
    head = match_bracket(words, index + 1) if words[index + 1 : index + 2] and words[index + 1].text == "(" else None
    if head is None or head + 1 >= len(words):
        return False
    stop = head + 1
    if words[stop].text == "{":
        stop = match_bracket(words, stop) or len(words)
    else:
        while stop < len(words) and words[stop].text != ";":
            stop += 1
    return not any(word.text in _LOOPS for word in words[head + 1 : stop])
