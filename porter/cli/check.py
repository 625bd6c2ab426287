"""`porter migrate --check`: what is dangerous in sources and what the port does about it; nothing is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from rich.text import Text

from porter.cli.build import Build, Built
from porter.cli.console import Console
from porter.cli.result_files import write_text
from porter.cli.sources import named_sources
from porter.diagnostics.allowances import allow
from porter.diagnostics.findings import Finding, Severity
from porter.errors import DONE, FELL_SHORT
from porter.evaluate.model.migration import MigrateOptions
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.findings.listing import findings_text
from porter.report.findings.sarif import sarif_document
from porter.report.findings.view import Detail
from porter.report.migration.document import finding_document
from porter.report.source.inspection import Inspection
from porter.source.load import load
from porter.source_text import Source
from porter.writing.counting import counted, enumerated
from porter.writing.document import Json, encode_json


@dataclass(frozen=True, slots=True)
class Checked:
    """One source that was read and ported for `target`, and what that found."""

    source: Source
    target: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """Returns how many errors the project does not allow."""
        return self._count(Severity.ERROR)

    @property
    def counts(self) -> dict[Severity, int]:
        """Returns how many findings of each severity the project does not allow."""
        return {severity: self._count(severity) for severity in Severity}

    def _count(self, severity: Severity) -> int:
        return sum(one.severity is severity and not one.allowed for one in self.findings)


def check_all(
    paths: Sequence[Path],
    asked: Sequence[MigrateOptions],
    build: Build,
    console: Console,
    sarif: Path | None,
) -> int:
    """Read and port every source under `paths`, show what was found, and give the exit code: 1 where there are errors.

    Raises `PorterError` for a source that cannot be read.
    """
    found: list[Checked] = []
    for named, options in product(named_sources(paths), asked):
        for one in _checked(named.path, options, build.of(named.path), console):
            found.append(one)
            if not console.json and console.view.detail is not Detail.QUIET:
                _show(findings_text(one.findings, one.source, console.view), console)
    if sarif is not None:
        write_text(sarif, encode_json(sarif_document([(one.source, one.findings) for one in found], full_catalogue())))
    console.document(_document(found)) if console.json else console.show(_summary(found))
    return FELL_SHORT if any(one.errors for one in found) else DONE


def _show(text: Text, console: Console) -> None:
    text.rstrip()
    if text:
        console.show(text.append("\n"))


def _checked(path: Path, options: MigrateOptions, built: Built, console: Console) -> list[Checked]:
    loaded = load(path)
    checked: list[Checked] = []
    for at, source in enumerate(loaded.sources):
        with console.progress() as step:
            step(f"reading {path}")
            inspection = Inspection(
                source,
                options.target,
                options.arch,
                options.kernels,
                include_dirs=built.include_dirs,
                defines=built.defines,
            )
            findings = (*built.findings, *(loaded.findings if at == 0 else ()), *inspection.findings)
            checked.append(Checked(source, options.target, allow(findings, source, console.allowances)))
    return checked


def _summary(found: Sequence[Checked]) -> Text:
    targets = enumerated(list(dict.fromkeys(one.target for one in found)))
    sources = counted(len({one.source.path for one in found}), "source")
    counts = [
        counted(total, severity.value) for severity in Severity if (total := sum(one.counts[severity] for one in found))
    ]
    allowed = sum(bool(finding.allowed) for one in found for finding in one.findings)
    counts += [f"{allowed} allowed"] if allowed else []
    said = enumerated(counts) if counts else "nothing found"
    style = "bold red" if any(one.errors for one in found) else "bold green"
    return Text(f"checked {sources} for {targets}: {said} (nothing was executed)", style)


def _document(found: Sequence[Checked]) -> Json:
    """Returns what was found in each source; the errors that the project does not allow decide the exit code."""
    return {
        "checks": [
            {
                "source": str(one.source.path),
                "target": one.target,
                "errors": one.errors,
                "findings": [finding_document(finding) for finding in one.findings],
            }
            for one in found
        ]
    }
