"""Macros by whose value alone a source or its headers choose what a name means: `#if PRECISION == 2` around
`typedef double real;`, `#ifdef USE_CUDA` around the prototype of a function that the source calls. Without one the name
means nothing, and each value is a build of its own; the first counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from porter.source.arithmetic_types import arithmetic
from porter.source.directives import directive_name, directives, includes
from porter.source.headers import HeaderFinder, is_installed
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.mask import blank
from porter.source.prototypes import prototypes
from porter.source_text import Source

_EQUAL = re.compile(r"#\s*(?:el)?if\s*\(?\s*([A-Za-z]\w*)\s*==\s*(\d+)\s*\)?\s*$")
_SET = re.compile(r"#\s*(?:ifdef\s+|(?:el)?if\s+defined[\s(]+|(?:el)?if\s+)([A-Za-z]\w*)\s*\)?\s*$")
_ALIAS = re.compile(
    r"\btypedef\s+(?P<typedef>[\w\s]+?)\s+(?P<named>\w+)\s*;|\busing\s+(?P<name>\w+)\s*=\s*(?P<alias>[\w\s]+?)\s*;"
    r"|^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)[ \t]+(?P<body>[\w \t]+?)[ \t]*$",
    re.MULTILINE,
)
_DECLARED = re.compile(
    r"\btypedef\b[^;{}]*?\b(\w+)\s*;|\}\s*(\w+)\s*;|\busing\s+(\w+)\s*=|\b(?:struct|class|union|enum)\s+(\w+)\s*[{:]"
    r"|#[ \t]*define[ \t]+(\w+)|\b(?:typename|class)\s+(\w+)\s*[,>=]"
)
_MEMBERS = (".", "->")
OF_C = frozenset(("uint", "ushort", "ulong"))  # types that the C library's headers declare
_VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|(?:__)?half2?|__nv_bfloat16")


@dataclass(frozen=True, slots=True)
class _Branch:
    """The text that is compiled where a macro has a value."""

    macro: str
    value: str
    file: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text of the branch, without the conditions around it."""
        return self.file.text[self.start : self.end]


def values_of_build(files: Sequence[Source], defined: Collection[str], finder: HeaderFinder) -> tuple[str, ...]:
    """Returns the macros, `NAME=VALUE`, under which a name that the first of `files` uses is a type of numbers, or a
    function, where it is none without them. Those that are `defined` have a value already.

    What begins with an underscore is a compiler's to set, and what wants headers that are not there another build's.
    """
    branches = [branch for file in files for branch in _branches(file) if branch.macro not in defined]
    if not branches:
        return ()
    lame = {b.macro for b in branches if not _is_whole(b.text, b.file, finder)}
    outside = [_without(file, branches) for file in files]
    lacking = _used(outside[0]).difference(*map(_declared, outside))
    chosen = dict[str, str]()
    for branch in (b for b in branches if b.macro not in lame):
        found = lacking & (_numbers(branch.text) | _functions(branch.text, outside))
        if found and chosen.setdefault(branch.macro, branch.value) == branch.value:
            lacking -= found
    return tuple(f"{macro}={value}" for macro, value in chosen.items())


def _functions(text: str, outside: Sequence[str]) -> frozenset[str]:
    """The functions of which `text` has a prototype, that the source calls and that nobody mentions elsewhere."""
    found = prototypes(text) if "(" in text else ()
    source, *headers = outside
    return frozenset(name for name in found if _is_called(name, source) and not _is_mentioned(name, headers))


def _is_called(name: str, text: str) -> bool:
    """Returns whether `text` calls a function that it does not define or declare."""
    is_own = re.search(rf"\b{name}\s*\([^;{{}}]*\)[^;{{}}()]*\{{", text) or name in prototypes(text)
    return not is_own and re.search(rf"\b{name}\s*\(", text) is not None


def _is_mentioned(name: str, texts: Iterable[str]) -> bool:
    return any(re.search(rf"\b{name}\b", text) for text in texts)


def _is_whole(text: str, file: Source, finder: HeaderFinder) -> bool:
    """Returns whether all is at hand that a branch of `file` includes."""
    part = Source(file.path, text)
    named = includes(part, directives(text))
    return all(is_installed(i.path) or finder(i.path, file) is not None for i in named)


def _used(text: str) -> frozenset[str]:
    """The names in `text` that are no members and no types of C."""
    words = significant(tokens(text))
    named = (w.text for before, w in pairwise(words) if w.kind is TokenKind.IDENTIFIER and before.text not in _MEMBERS)
    return frozenset(name for name in named if arithmetic(name) is None and name not in OF_C)


def _declared(text: str) -> frozenset[str]:
    """The names that `text` gives some meaning to."""
    return frozenset(name for match in _DECLARED.finditer(text) for name in match.groups() if name)


def _numbers(text: str) -> frozenset[str]:
    """The names that are types of numbers in `text`."""
    found = ((match["named"] or match["name"] or match["macro"], match) for match in _ALIAS.finditer(text))
    types = ((name, match["typedef"] or match["alias"] or match["body"]) for name, match in found)
    return frozenset(name for name, type_ in types if arithmetic(type_.strip()) is not None or _VECTOR.fullmatch(type_))


def _branches(file: Source) -> Iterator[_Branch]:
    """Yields the branches of a file that one macro alone decides on."""
    around: list[tuple[str, str, int]] = []
    for directive in directives(file.text):
        name, text = directive_name(directive, file.text), file.text[directive.start : directive.end].rstrip()
        if name.startswith("el") or name == "endif":
            if around and around[-1][0]:
                yield _Branch(around[-1][0], around[-1][1], file, around[-1][2], directive.start)
            del around[-1:]
        if name.startswith(("if", "el")):
            around.append((*_condition(text), directive.end))


def _condition(text: str) -> tuple[str, str]:
    """The macro that a condition asks for, and the value with which it holds; empty where it is any other."""
    if equal := _EQUAL.match(text):
        return equal[1], equal[2]
    found = _SET.match(text)
    return (found[1], "1") if found else ("", "")


def _without(file: Source, branches: Iterable[_Branch]) -> str:
    """The text of a file with blanks for the branches in it."""
    text = file.text
    for branch in branches:
        if branch.file is file:
            text = text[: branch.start] + blank(text[branch.start : branch.end]) + text[branch.end :]
    return text
