"""Macros that a build sets, told by headers that hold nothing without them: `#ifdef WITH_CUDA` around all of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.source.arithmetic_types import arithmetic
from porter.source.directives import outermost_macro
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.program import Program
from porter.source.text import Source

_CONDITION = re.compile(r"^[ \t]*#[ \t]*if(?:def\s|\s+defined)", re.MULTILINE)
_DEFINE = re.compile(r"#[ \t]*define[ \t]+(\w+)")
_TYPE = re.compile(
    r"\btypedef\b[^;{}]*?\b(\w+)\s*;|\}\s*(\w+)\s*;|\busing\s+(\w+)\s*=|\b(?:struct|class|union|enum)\s+(\w+)\s*[{:]"
)
_OF_C = frozenset(("uint", "ushort", "ulong"))  # types that the C library's headers declare


def macros_of_build(program: Program) -> tuple[str, ...]:
    """The macros around all of a local header that declares a type or a macro which `program` uses, and nobody else
    declares: without them it does not compile. What begins with an underscore is a compiler's to set.
    """
    headers = [header for _, header in program.headers]
    guards = {header: guard for header in dict.fromkeys(headers) if (guard := _guard(header.text))}
    if not guards:
        return ()
    others = (program.source.text, *(header.text for header in headers if header not in guards))
    elsewhere = frozenset[str]().union(*map(_declared, others))
    used = frozenset(t.text for t in tokens(program.source.text) if t.kind is TokenKind.IDENTIFIER)
    set_already = _set_by((*others, *(h.text for h in guards)), program.defines)
    wanted = (
        guard
        for header, guard in guards.items()
        if guard not in set_already and not guard.startswith("_") and used & _declared(header.text) - elsewhere
    )
    return tuple(dict.fromkeys(wanted))


def _guard(text: str) -> str:
    """The macro that `#ifdef` asks for around all code of a header; empty where there is none."""
    if not _CONDITION.search(text):
        return ""
    code = [t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE]
    if not code:
        return ""
    first, last = (outermost_macro(text, token.start) for token in (code[0], code[-1]))
    return first if first == last else ""


def _declared(text: str) -> frozenset[str]:
    """The types and macros that `text` declares, without those of C and C++."""
    types = (name for match in _TYPE.finditer(text) for name in match.groups() if name)
    found = {*types, *_DEFINE.findall(text)}
    return frozenset(name for name in found if arithmetic(name) is None and name not in _OF_C)


def _set_by(texts: Iterable[str], defines: Iterable[str]) -> frozenset[str]:
    def names() -> Iterator[str]:
        yield from (define.partition("=")[0] for define in defines)
        for text in texts:
            yield from _DEFINE.findall(text)

    return frozenset(names())


def said(macro: str, source: Source) -> str:
    """Returns what is said of a macro that was set."""
    return f"{macro} is set, without which a header of {source.path.name} holds nothing"
