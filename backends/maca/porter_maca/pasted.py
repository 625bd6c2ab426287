"""Finds names that a source's macros paste together: `cuda##Malloc` is a name like any other, but not in the text."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from porter.source.lexer import TokenKind, inside_directive, tokens
from porter.source_text import Source

_INCLUDE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?:include|import)\b.*$", re.MULTILINE)
_PASTES = re.compile(r"##|%:%:")


@dataclass(frozen=True, slots=True)
class Pasted:
    """The `names` that the macros of `source` make, its `text` with these, and where it first pastes."""

    source: Source
    names: frozenset[str]
    text: str
    start: int
    end: int


def pasted(sources: Iterable[Source]) -> Iterable[Pasted]:
    """Returns the pasted names of each source by itself; none where there is no preprocessor."""
    for source in sources:
        place = _PASTES.search(source.text)
        if place is None or shutil.which("g++") is None:
            continue
        text = expanded(without_includes(source.text))
        yield Pasted(source, _identifiers(text) - _identifiers(source.text), text, place.start(), place.end())


def without_includes(text: str) -> str:
    """Returns `text` that includes nothing."""
    return _INCLUDE.sub("", text)


def expanded(text: str, defines: Mapping[str, str] = MappingProxyType({})) -> str:
    """Returns `text` with its own macros and these `defines` expanded, and no others."""
    given = [f"-D{name}={value}" for name, value in defines.items()]
    command = ["g++", "-E", "-P", "-undef", "-nostdinc", "-w", *given, "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60).stdout


def _identifiers(text: str) -> frozenset[str]:
    found = set[str]()
    for token in tokens(text):
        inner = inside_directive(token, text) if token.kind is TokenKind.DIRECTIVE else (token,)
        found.update(t.text for t in inner if t.kind is TokenKind.IDENTIFIER)
    return frozenset(found)
