"""A source without its host functions: its kernels may be whole where those need what is not there."""

from __future__ import annotations

import re

from porter.source.edit import Edit, apply_edits
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.parse import parse
from porter.source.program import Function, Program
from porter.source.text import Source

_CLASS = re.compile(r"\b(?:class|struct|union)\s[^;{(]*")


def kernels_only(source: Source, defines: tuple[str, ...] = ()) -> Source:
    """`source` without host functions that nothing else mentions; every line stays where it was.

    Members stay, since what holds them would be another class without.
    """
    program = parse(source, defines=defines)
    dropped = _free(program)
    while mentioned := {f for f in dropped if f.name in _words(_without(source, dropped))}:
        dropped -= mentioned
    return Source(source.path, _without(source, dropped), source.first_line)


def _free(program: Program) -> set[Function]:
    """Host functions that belong to no class and share their text with no function that stays."""
    classes = {word for match in _CLASS.finditer(program.source.text) for word in re.findall(r"\w+", match.group())}
    hosts = {f for f in program.host_functions if f.space == "host" and not classes.intersection(f.scope)}
    others = {*program.kernels, *program.device_functions, *program.host_functions} - hosts
    return {f for f in hosts if all(f.span.end <= o.span.start or o.span.end <= f.span.start for o in others)}


def _without(source: Source, functions: set[Function]) -> str:
    spans = [f.span for f in functions]
    outermost = [s for s in spans if not any(o != s and o.start <= s.start and s.end <= o.end for o in spans)]
    gone = (Edit(s.start, s.end, "\n" * source.text.count("\n", s.start, s.end)) for s in outermost)
    return apply_edits(source.text, gone)


def _words(text: str) -> set[str]:
    """What the text names, in directives, too."""
    stream = significant(tokens(text))
    directives = (word for t in stream if t.kind is TokenKind.DIRECTIVE for word in re.findall(r"\w+", t.text))
    return {*(t.text for t in stream if t.kind is TokenKind.IDENTIFIER), *directives}
