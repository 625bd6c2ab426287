"""Shows a verdict on a candidate, to people and to programs."""

from __future__ import annotations

from rich.text import Text

from porter.diagnostics.findings import Finding
from porter.evaluate.model.verdict import Verdict
from porter.report.findings.listing import findings_text
from porter.report.findings.view import EVERYTHING, Detail, View
from porter.report.migration.document import entry_document, finding_document, workload_rows
from porter.report.migration.speed import device_document, speeds_document
from porter.report.migration.text import entry_text, log_text
from porter.report.migration.verdict import OUTCOME_STYLES, describe, how_obtained, reason
from porter.writing.document import Json


def judgement_text(verdict: Verdict, view: View = EVERYTHING) -> Text:
    """Returns findings, the comparison of every entry, and the verdict; the verdict alone where it is quiet."""
    text = Text()
    if view.detail is not Detail.QUIET:
        text.append_text(findings_text(verdict.findings, verdict.standard, view))
        for entry in verdict.entries:
            text.append_text(entry_text(entry, view, alone=len(verdict.entries) == 1)).append("\n")
        text.append_text(log_text(verdict.outcome))
    return text.append(_sentence(verdict), OUTCOME_STYLES[verdict.outcome.label])


def _sentence(verdict: Verdict) -> str:
    """Returns the sentence that a report on a candidate ends with."""
    target = f"{verdict.target.backend} {verdict.target.arch}"
    return (
        f"{describe(verdict.outcome)}: {verdict.candidate.path.name} for {target}, checked against "
        f"{verdict.standard.path.name}: {reason(verdict.outcome)} ({how_obtained(verdict)}; seed {verdict.seed})"
    )


def judgement_document(verdict: Verdict) -> dict[str, Json]:
    """Returns one verdict. Scripts rely on these names; they stay stable. Nothing that was emulated has a time."""
    return {
        "candidate": str(verdict.candidate.path),
        "against": str(verdict.standard.path),
        "target": verdict.target.backend,
        "outcome": verdict.outcome.label,
        "fidelity": verdict.fidelity.value,
        "because": reason(verdict.outcome),
        "rules": [_rule(finding) for finding in verdict.rules],
        "warp_sizes": list(verdict.warp_sizes),
        "entries": [entry_document(entry) for entry in verdict.entries],
        "workloads": list(workload_rows(verdict.entries)),
        "findings": [finding_document(finding) for finding in verdict.findings],
        **speeds_document(verdict.entries),
        "device": device_document(verdict.entries),
        "environment": dict(verdict.environment),
        "seed": verdict.seed,
        "seconds": round(verdict.seconds, 3),
    }


def _rule(finding: Finding) -> Json:
    """Returns a broken rule, at its line of the candidate."""
    return {"id": finding.code, "message": finding.message, "line": finding.span.line if finding.span else None}
