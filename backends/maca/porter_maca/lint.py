"""Finds CUDA's names in MACA source, by the table that ports are made with: none may be left in any file.

Comments, strings, branches that MACA's compiler does not read and names that the files declare themselves are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath

from porter.diagnostics.findings import Finding
from porter.source.lexer import tokens
from porter.source.preprocess import preprocess
from porter.source_text import Source
from porter_maca.api import OTHER_BRAND, ApiTable, Entry, Renamed, Unsupported
from porter_maca.catalogue import finding
from porter_maca.declared import Declared, declared
from porter_maca.headers import inclusions
from porter_maca.names import asks_whether_defined, uses
from porter_maca.pasted import pasted
from porter_maca.spelling import executor_names

# What MACA's compiler defines, as the executor does (keywords.h); nothing that says CUDA.
_DEFINED = ("__MACA__=1", "__MACACC__=1", "__MXCC__=1", "__MACA_ARCH__=1000", "__cplusplus=201703L", "__linux__=1")


def lint(sources: Iterable[Source], table: ApiTable) -> Iterator[Finding]:
    """Yields a finding for each name and header of `sources` that is CUDA's, with the file as its source.

    The sources are the files of one program: a name declared in one of them is the user's own in all.
    """
    files = tuple(sources)
    own = declared(source.text for source in files)
    for source in files:
        yield from sorted(
            _names_left(source, files, own, table), key=lambda found: found.span.start if found.span else 0
        )
    for made in pasted(files):
        for name in sorted(made.names):
            if (table.is_exact(name) or name in executor_names()) and (row := table.look_up(name)) is not None:
                yield from _left(made.source, made.start, made.end, row)


def _names_left(source: Source, files: tuple[Source, ...], own: Declared, table: ApiTable) -> Iterator[Finding]:
    skipped = _skipped(source, files)
    for use in uses(source.text, table, own):
        if use.entry is None or asks_whether_defined(use) or _is_in(skipped, use.start):
            continue
        # A family's name that the executor lacks compiles nowhere here, unless the user declares it.
        if table.is_exact(use.token.text) or use.token.text in executor_names():
            yield from _left(source, use.start, use.token.end, use.entry)
    for found in inclusions(source.text):
        if not _is_in(skipped, found.start) and (header := table.header(found.path)) is not None:
            yield from _left(source, found.start, found.end, header)


def _skipped(source: Source, files: tuple[Source, ...]) -> tuple[tuple[int, int], ...]:
    """Returns the extents of `source` that MACA's compiler does not read."""
    by_name = {file.path.name: file for file in files}

    def header(name: str, _: Source) -> Source | None:
        return by_name.get(PurePath(name).name)

    return preprocess(source, tokens(source.text), headers=header, predefined=_DEFINED).skipped


def _is_in(extents: tuple[tuple[int, int], ...], offset: int) -> bool:
    return any(start <= offset < end for start, end in extents)


def _left(source: Source, start: int, end: int, row: Entry) -> Iterator[Finding]:
    match row:
        case Renamed(kind=kind) if kind == OTHER_BRAND:
            return
        case Renamed(cuda, maca):
            hint = f"on MACA it is {maca or 'left out'}"
        case Unsupported(cuda, _, reason):
            hint = f"MACA has no counterpart: {reason}"
    found = finding("PORT1191", source.span(start, end), f"{cuda} is CUDA's name", hint)
    yield replace(found, source=source)
