"""Findings: what porter noticed, where, how bad it is, and what to do about it.

A code (`PORT1007`) is stable for ever; its severity, effort and explanation stand in a catalogue of TOML tables:
`grammars/findings/*.toml` for the core, `findings.toml` in a backend's package for its own.
    1xxx portability of the kernel   2xxx reading the source   3xxx contract   4xxx what execution showed   5xxx verdict
    6xxx whose work it is
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from porter.source_text import Source, Span


class Severity(StrEnum):
    """`ERROR` blocks the verdict, `WARNING` was dangerous (and may be mended), `NOTE` is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Effort(StrEnum):
    """The amount of work that is left for the user to do by hand."""

    NONE = "none"
    MINUTES = "minutes"
    HOURS = "hours"
    REWRITE = "rewrite"


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation. `message` is about this place; `hint` says what porter did or what the user should do.

    `source` is the file `span` counts in where that is not the program's own: a local header. `allowed` is the reason
    for which the project accepts it; empty where it does not.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    hint: str = ""
    effort: Effort = Effort.NONE
    source: Source | None = None
    allowed: str = ""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A row of the catalogue: everything about a code that does not depend on the place."""

    code: str
    title: str
    severity: Severity
    effort: Effort
    explanation: str

    def at(self, span: Span | None, message: str, hint: str = "", effort: Effort | None = None) -> Finding:
        """This code's finding at `span`."""
        return Finding(self.code, self.severity, message, span, hint, effort or self.effort)
