"""Judges MACA source by the table that made it: no CUDA name may be left, whoever wrote the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.findings import Finding
from porter.source.text import Source
from porter_maca.api import OTHER_BRAND, ApiTable, Renamed
from porter_maca.catalogue import finding
from porter_maca.declared import declared
from porter_maca.headers import inclusions
from porter_maca.names import uses


def lint(sources: Iterable[Source], table: ApiTable) -> Iterator[Finding]:
    """A finding for each name and header of `sources` that the table has another name for on MACA.

    The sources are the files of one program: what one of them declares is the user's own in all.
    """
    files = tuple(sources)
    own = declared(source.text for source in files)
    for source in files:
        for use in uses(source.text, table, own):
            if isinstance(use.entry, Renamed) and use.entry.kind != OTHER_BRAND:
                yield _left(source, use.start, use.token.end, use.entry)
        for found in inclusions(source.text):
            header = table.header(found.path)
            if isinstance(header, Renamed):
                yield _left(source, found.start, found.end, header)


def _left(source: Source, start: int, end: int, row: Renamed) -> Finding:
    return finding(
        "PORT1191", source.span(start, end), f"{row.cuda} is CUDA's name", f"on MACA it is {row.maca or 'left out'}"
    )
