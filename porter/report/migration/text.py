"""Shows one migration on the terminal: what was found, what was compared, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from porter.evaluate.model.migration import EntryOutcome, Migration
from porter.evaluate.model.outcome import NotBuilt, Outcome, Verified
from porter.report.findings.listing import findings_text
from porter.report.findings.view import EVERYTHING, Detail, View
from porter.report.migration.comparisons import comparisons_text
from porter.report.migration.speed import speeds_text
from porter.report.migration.verdict import OUTCOME_STYLES, checks, describe, reason, verdict

LOG_LINES = 20  # enough for the first compiler error with its notes


def migration_text(migration: Migration, outputs: Sequence[Path], view: View = EVERYTHING) -> Text:
    """Returns findings, comparisons, the files written and the verdict; the verdict alone where it is quiet."""
    text = Text()
    if view.detail is not Detail.QUIET:
        text.append_text(findings_text(migration.findings, migration.source, view))
        for entry in migration.entries:
            alone = len(migration.entries) == 1 and entry.outcome is migration.outcome
            text.append_text(entry_text(entry, view, alone=alone)).append("\n")
        text.append_text(log_text(migration.outcome)).append_text(_outputs_text(outputs))
    return text.append(verdict(migration), OUTCOME_STYLES[migration.outcome.label])


def log_text(outcome: Outcome) -> Text:
    """Returns the first lines of what a compiler said of a port that does not build."""
    if not isinstance(outcome, NotBuilt):
        return Text()
    return Text("\n".join(outcome.log.splitlines()[:LOG_LINES]) + "\n\n", "dim")


def _outputs_text(outputs: Sequence[Path]) -> Text:
    """Returns a line for each folder that was written to."""
    text = Text()
    for folder in dict.fromkeys(path.parent for path in outputs):
        names = ", ".join(path.name for path in outputs if path.parent == folder)
        text.append("wrote to ", "dim").append(f"{folder}").append(f": {names}\n")
    return text


def entry_text(entry: EntryOutcome, view: View = EVERYTHING, *, alone: bool = True) -> Text:
    """Returns the entry's name and outcome, and its comparisons.

    The reason, and what a verdict leaves out, follow where the entry is not `alone`: else the last sentence says them.
    """
    text = Text(f"{entry.name}", "bold").append(": ")
    text.append(describe(entry.outcome), OUTCOME_STYLES[entry.outcome.label])
    if entry.outcome.label != "verified":
        text.append("" if alone else f": {reason(entry.outcome)}")
    elif not alone and isinstance(entry.outcome, Verified) and entry.outcome.caveat:
        text.append(f": {entry.outcome.caveat}")
    text.append("\n")
    if checked := checks(entry.outcome):
        text.append_text(comparisons_text(checked, view))
    return text.append_text(speeds_text(entry))
