"""A source without its host functions: its kernels may be whole where those need what is not there."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.source.edit import Edit, apply_edits
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.parse import parse
from porter.source.program import Function, Program
from porter.source_text import Source

_INCLUDE = re.compile(r"#\s*include")
_CLASS = re.compile(r"\b(?:class|struct|union)\s[^;{(]*")


def kernels_only(source: Source, headers: Sequence[Source] = (), defines: tuple[str, ...] = ()) -> tuple[Source, ...]:
    """`source` and its local `headers` without host functions that nothing else mentions; lines stay where they were.

    What a header says of a function of the source is a declaration; what any file says of a header's may be a use.
    Members stay, since what holds them would be another class without.
    """
    programs = [parse(file, defines=defines) for file in (source, *headers)]
    gone, rest = [_free(p) for p in programs], [p.source.text for p in programs]
    kept = None
    while kept != gone:
        kept = gone
        rest = [_without(p.source, functions) for p, functions in zip(programs, gone, strict=True)]
        own, *others = map(_words, rest)
        every = own.union(*others)
        words = [own, *(every for _ in others)]
        gone = [{f for f in functions if f.name not in said} for functions, said in zip(gone, words, strict=True)]
    texts = zip((source, *headers), rest, strict=True)
    return tuple(Source(file.path, text, file.first_line) for file, text in texts)


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
    """Returns what the text names, in directives, too, but for the files it includes."""
    stream = significant(tokens(text))
    directives = (t.text for t in stream if t.kind is TokenKind.DIRECTIVE and not _INCLUDE.match(t.text))
    said = (word for line in directives for word in re.findall(r"\w+", line))
    return {*(t.text for t in stream if t.kind is TokenKind.IDENTIFIER), *said}
