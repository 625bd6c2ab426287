"""Macros that a build sets, told by what they hide: a whole header, the line that names one, or a macro in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from porter.source.arithmetic_types import arithmetic
from porter.source.chosen_branches import OF_C, values_of_build
from porter.source.directives import directives, includes, macros, outermost_macro
from porter.source.headers import HeaderFinder, is_installed
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.program import Program
from porter.source.prototypes import prototypes
from porter.source.vocabulary import COORDINATES
from porter.source_text import Source

_CONDITION = re.compile(r"^[ \t]*#[ \t]*if(?:def\s|\s+\w)", re.MULTILINE)
_DEFINE = re.compile(r"#[ \t]*define[ \t]+(\w+)")
_TYPE = re.compile(
    r"\btypedef\b[^;{}]*?\b(\w+)\s*;|\}\s*(\w+)\s*;|\busing\s+(\w+)\s*=|\b(?:struct|class|union|enum)\s+(\w+)\s*[{:]"
)


def macros_of_build(program: Program, finder: HeaderFinder) -> tuple[str, ...]:
    """The macros without which `program` holds nothing, and those that hide a local header which declares what it uses
    and nobody else declares. They stand around all of a file, or around the line of a header that includes it. So do
    those that hide the only definition of a macro of kernels which the program uses (`CUDA_KERNEL_LOOP`), and those by
    whose value a type of numbers is chosen, or a function declared (`chosen_branches.py`).

    What begins with an underscore is a compiler's to set. Of headers that several macros hide, and that declare the
    same, the first counts.
    """
    headers = tuple(dict.fromkeys(header for _, header in program.headers))
    set_already = _set_by((program.source, *headers), program.defines)
    found = _hiding(program, headers, finder, set_already)
    return (*found, *values_of_build((program.source, *headers), set_already.union(found), finder))


def _hiding(
    program: Program, headers: tuple[Source, ...], finder: HeaderFinder, set_already: frozenset[str]
) -> tuple[str, ...]:
    """Returns the macros that hide what the program uses."""
    hidden = [*_guarded((program.source, *headers)), *_included(headers, finder)]
    within = _within((program.source, *headers))
    if not hidden and not within:
        return ()
    set_already |= _set_by((header for _, header in hidden), ())
    others = (program.source.text, *(h.text for h in headers if all(h is not header for _, header in hidden)))
    used = {t.text for t in tokens(program.source.text) if t.kind is TokenKind.IDENTIFIER}
    lacking = used.difference(*map(_declared, others))
    wanted = dict[str, None]()
    for macro, file in hidden:
        found = lacking & _declared(file.text)
        is_needed = file is program.source or (found and _is_whole(file, finder))
        if is_needed and macro not in set_already and not macro.startswith("_"):
            wanted[macro] = None
            lacking -= found
    wanted |= dict.fromkeys(macro for macro in within if macro not in set_already and not macro.startswith("_"))
    return tuple(wanted)


def _within(files: Sequence[Source]) -> tuple[str, ...]:
    """Returns the macros that alone hide each definition of a macro which the first of `files` uses without asking for
    them, and which says where a thread stands: no host code has such a macro, and no other build the kernels.
    """
    source = files[0]
    uses = dict[str, int]()
    for token in tokens(source.text):
        if token.kind is TokenKind.IDENTIFIER:
            uses.setdefault(token.text, token.start)
    around = dict[str, set[str]]()
    of_kernels = set[str]()
    for file in files:
        for macro in (m for m in macros(file, directives(file.text)) if m.name in uses):
            around.setdefault(macro.name, set()).add(outermost_macro(file.text, macro.span.start))
            if any(token.text in COORDINATES for token in tokens(macro.body, line_start=False)):
                of_kernels.add(macro.name)
    alone = ((name, next(iter(around[name]))) for name in around if name in of_kernels and len(around[name]) == 1)
    found = (macro for name, macro in alone if macro and outermost_macro(source.text, uses[name]) != macro)
    return tuple(dict.fromkeys(found))


def _guarded(files: Iterable[Source]) -> Iterator[tuple[str, Source]]:
    """The files that hold nothing without a macro, each behind its macro."""
    return ((macro, file) for file in files if (macro := _guard(file.text)))


def _included(headers: Iterable[Source], finder: HeaderFinder) -> Iterator[tuple[str, Source]]:
    """The headers that one of `headers` includes where a macro is set, each behind its macro."""
    for header in (h for h in headers if _CONDITION.search(h.text)):
        for include in includes(header, directives(header.text)):
            if (macro := outermost_macro(header.text, include.span.start)) and (one := finder(include.path, header)):
                yield macro, one


def _is_whole(header: Source, finder: HeaderFinder) -> bool:
    """Returns whether all is at hand that a header includes; one that wants a library is another platform's."""
    named = includes(header, directives(header.text))
    return all(is_installed(i.path) or finder(i.path, header) is not None for i in named)


def _guard(text: str) -> str:
    """The macro that is asked for around all code of a file; empty where there is none."""
    if not _CONDITION.search(text):
        return ""
    code = [t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE]
    if not code:
        return ""
    first, last = (outermost_macro(text, token.start) for token in (code[0], code[-1]))
    return first if first == last else ""


def _declared(text: str) -> frozenset[str]:
    """The types, macros and functions without a body that `text` declares, without types of C and C++."""
    types = (name for match in _TYPE.finditer(text) for name in match.groups() if name)
    found = {*types, *_DEFINE.findall(text), *prototypes(text)}
    return frozenset(name for name in found if arithmetic(name) is None and name not in OF_C)


def _set_by(files: Iterable[Source], defines: Iterable[str]) -> frozenset[str]:
    def names() -> Iterator[str]:
        yield from (define.partition("=")[0] for define in defines)
        for file in files:
            yield from _DEFINE.findall(file.text)

    return frozenset(names())


def said(macro: str, source: Source) -> str:
    """Returns what is said of a macro that was set."""
    return f"{macro} is set, without which {source.path.name} or a header of its lacks what the kernels use"
