"""Writes the JSON of migrations. Scripts rely on these names; they stay stable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from porter.branch_coverage import BranchCoverage, Side
from porter.diagnostics.findings import Finding
from porter.evaluate.judge.unexecuted import missing
from porter.evaluate.model.migration import EntryOutcome, Followed, Migration
from porter.evaluate.model.outcome import Checked, Equal
from porter.report.migration.speed import device_document, speeds_document
from porter.report.migration.verdict import checks, reason
from porter.writing.document import Json


def migration_document(migration: Migration, outputs: Sequence[Path]) -> dict[str, Json]:
    """Returns one migration. `speedup` is null where no device measured: nothing that was emulated has a speed."""
    return {
        "source": str(migration.source.path),
        "target": migration.target.backend,
        "outcome": migration.outcome.label,
        "fidelity": migration.fidelity.value,
        "because": reason(migration.outcome),
        "written_by": migration.written_by or "porter",
        "follows": followed_document(migration.followed),
        "warp_sizes": list(migration.warp_sizes),
        "entries": [entry_document(entry) for entry in migration.entries],
        "workloads": list(workload_rows(migration.entries)),
        "findings": [finding_document(finding) for finding in migration.findings],
        "outputs": [str(path) for path in outputs],
        **speeds_document(migration.entries),
        "device": device_document(migration.entries),
        "seconds": round(migration.seconds, 3),
        "stages": {stage: round(seconds, 3) for stage, seconds in migration.stages.items()},
    }


def followed_document(followed: Followed | None) -> Json:
    """Returns what the port was written from, and why; empty where it was asked for, null for a language model's."""
    return None if followed is None else {"what": followed.what.value, "because": followed.because}


def finding_document(finding: Finding) -> dict[str, Json]:
    """Returns one finding; `line` is null where it is about the whole file.

    Where the message names a header first, `line` counts in that.
    """
    line = finding.span.line if finding.span else None
    message = f"{finding.source.path.name}: {finding.message}" if finding.source else finding.message
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "line": line,
        "message": message,
        "allowed": finding.allowed or None,
    }


def entry_document(entry: EntryOutcome) -> Json:
    """Returns the outcome of one entry, and the reason."""
    return {
        "name": entry.name,
        "kind": entry.contract.entry.kind.value,
        "kernels": list(entry.kernels),
        "launched": list(entry.launched),
        "outcome": entry.outcome.label,
        "because": reason(entry.outcome),
        "branch_coverage": {"original": _share(entry.branches.original), "port": _share(entry.branches.port)},
        "not_executed": [side_document(side) for side in missing(entry)],
        "compiled_for": list(entry.outcome.compiled_for) if isinstance(entry.outcome, Equal) else [],
    }


def _share(coverage: BranchCoverage) -> float | None:
    """Returns the part of the sides of branches that was taken; None where it was not measured."""
    return round(coverage.share, 3) if coverage.present else None


def side_document(side: Side) -> Json:
    """Returns a side of a branch that no workload took: `n > 4096` is never `true`."""
    return {"file": side.file, "line": side.line, "branch": side.text, "never": side.way}


def workload_rows(entries: Sequence[EntryOutcome]) -> list[dict[str, Json]]:
    """Returns a row for each workload, with its largest errors over the warp sizes.

    With several entries it is named `entry/workload`.
    """
    rows: list[dict[str, Json]] = []
    for entry in entries:
        prefix = f"{entry.name}/" if len(entries) > 1 else ""
        by_name: dict[str, list[Checked]] = {}
        for check in checks(entry.outcome):
            by_name.setdefault(check.name, []).append(check)
        rows.extend(_workload(prefix + name, checked) for name, checked in by_name.items())
    return rows


def _workload(name: str, checked: Sequence[Checked]) -> dict[str, Json]:
    return {
        "name": name,
        "max_abs_error": _largest([check.max_abs_error for check in checked]),
        "max_rel_error": _largest([check.max_rel_error for check in checked]),
        "passed": all(check.passed for check in checked),
    }


def _largest(errors: Sequence[float]) -> float | None:
    """Returns the largest error; None where one is not finite, for which JSON has no number."""
    return max(errors) if all(map(math.isfinite, errors)) else None
