"""Finds names that MACA has as well, but that do something else there."""

from __future__ import annotations

from collections.abc import Iterator

from porter.diagnostics.findings import Finding
from porter.source.lexer import TokenKind, significant, tokens
from porter.source_text import Source
from porter_maca.api import ApiTable
from porter_maca.declared import Declared
from porter_maca.places import Places


def cautions(source: Source, table: ApiTable, own: Declared, places: Places) -> Iterator[Finding]:
    """Yields one finding for each row of the table that applies to `source`."""
    code = [t for t in significant(tokens(source.text)) if t.kind is TokenKind.IDENTIFIER]
    for row in table.cautions:
        found = [t for t in code if t.text in row.names and t.text not in own.functions]
        if found:
            spans = [source.span(t.start, t.end) for t in found]
            names = ", ".join(dict.fromkeys(t.text for t in found))
            yield places.finding(row.code, spans, f"{row.what}: {names}", row.hint)
