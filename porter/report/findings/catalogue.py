"""The catalogue of findings as text, JSON and the page of the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from rich.text import Text

from porter.diagnostics.findings import CatalogueEntry, Effort, Severity
from porter.writing.columns import columns
from porter.writing.document import Json, as_json

SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
ROOMS = {
    "1": "Portability of the kernel",
    "2": "Reading the source",
    "3": "Contract",
    "4": "What execution showed",
    "5": "Verdict",
    "6": "Whose work it is",
}
EFFORTS = {
    Effort.NONE: "nothing left to do",
    Effort.MINUTES: "minutes of work",
    Effort.HOURS: "hours of work",
    Effort.REWRITE: "a rewrite",
}


def room_of(entry: CatalogueEntry) -> str:
    """Returns the title of a code's range: `PORT1007` is in "Portability of the kernel"."""
    return ROOMS.get(entry.code[4], "Other")


def entry_text(entry: CatalogueEntry) -> Text:
    """Returns one entry in full."""
    head = Text.assemble((entry.code, "bold"), " ", (entry.severity.value, SEVERITY_STYLES[entry.severity]))
    head.append(f": {entry.title}\n\n{textwrap.fill(entry.explanation, 100)}\n\n")
    return head.append(f"{room_of(entry)}; by hand: {EFFORTS[entry.effort]}.")


def listing_text(entries: Sequence[CatalogueEntry]) -> Text:
    """Returns all entries, a line each, under the titles of their ranges."""
    text = Text()
    for room, members in groupby(entries, room_of):
        text.append(f"{room}\n", "bold")
        rows = [(e.code, Text(e.severity.value, SEVERITY_STYLES[e.severity]), e.title) for e in members]
        text.append_text(columns(rows, indent="  "))
    text.rstrip()
    return text


def entry_document(entry: CatalogueEntry) -> Json:
    """Returns one entry as JSON."""
    return as_json(entry)


def listing_document(entries: Sequence[CatalogueEntry]) -> Json:
    """Returns all entries as JSON."""
    return {"findings": [as_json(entry) for entry in entries]}


def reference_page(entries: Sequence[CatalogueEntry]) -> str:
    """Returns the page `docs/tables/findings.md`."""
    parts = ["# Findings\n\nGenerated from the catalogue by `make docs`; `porter explain CODE` prints one entry.\n"]
    for room, members in groupby(entries, room_of):
        parts.append(f"\n## {room}\n")
        for entry in members:
            facts = f"*{entry.severity}*; by hand: {EFFORTS[entry.effort]}."
            parts.append(f"\n### {entry.code}: {entry.title}\n\n{facts}\n\n{textwrap.fill(entry.explanation, 120)}\n")
    return "".join(parts)
