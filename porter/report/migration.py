"""One migration on the terminal: what was found, what was compared, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from porter.evaluate.migration import EntryOutcome, Migration
from porter.evaluate.outcome import NotBuilt, Verified
from porter.report.columns import Cell, columns
from porter.report.diagnostic import diagnostic
from porter.report.speed import speeds_text
from porter.report.verdict import OUTCOME_STYLES, checks, describe, lanes_of, reason, verdict

LOG_LINES = 20  # enough for the first compiler error with its notes


def migration_text(migration: Migration, outputs: Sequence[Path]) -> Text:
    """Findings at their places, the comparison of every entry, the files written and the verdict."""
    text = Text()
    for finding in migration.findings:
        text.append_text(diagnostic(finding, migration.source)).append("\n")
    for entry in migration.entries:
        text.append_text(entry_text(entry, alone=len(migration.entries) == 1)).append("\n")
    if isinstance(migration.outcome, NotBuilt):
        text.append("\n".join(migration.outcome.log.splitlines()[:LOG_LINES]) + "\n\n", "dim")
    for path in outputs:
        text.append("wrote ", "dim").append(f"{path}\n")
    return text.append(verdict(migration), OUTCOME_STYLES[migration.outcome.label])


def entry_text(entry: EntryOutcome, *, alone: bool = True) -> Text:
    """The entry's name and outcome, and a line for each comparison.

    What a verdict leaves out is said behind it where the entry is not `alone`: else the sentence at the end says it.
    """
    text = Text(f"{entry.name}", "bold").append(": ")
    text.append(describe(entry.outcome), OUTCOME_STYLES[entry.outcome.label])
    checked = checks(entry.outcome)
    if entry.outcome.label != "verified":
        text.append(f": {reason(entry.outcome)}")
    elif not alone and isinstance(entry.outcome, Verified) and entry.outcome.caveat:
        text.append(f": {entry.outcome.caveat}")
    text.append("\n")
    if not checked:
        return text.append_text(speeds_text(entry))
    rows: list[Sequence[Cell]] = [("workload", "lanes", "max abs error", "max rel error", "")]
    for check in checked:
        passed = Text("equal", "green") if check.passed else Text(check.worst or "differs", "red")
        errors = (f"{check.max_abs_error:.3g}", f"{check.max_rel_error:.3g}")
        rows.append((check.name, lanes_of(check), *errors, passed))
    return text.append_text(columns(rows, indent="  ")).append_text(speeds_text(entry))
