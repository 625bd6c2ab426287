"""What a search is about, as a model is told it: texts only, the same in every prompt of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porter.backend import Backend, Target
from porter.contract.contract import Contract
from porter.contract.toml import dumps
from porter.evolve.candidate import File
from porter.findings import Finding, Severity
from porter.source.text import Source

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Task:
    """`original` is the CUDA that counts, `headers` what of the user's it includes; `findings` the gravest first."""

    target: Target
    brief: str
    original: File
    headers: tuple[File, ...]
    contract: str
    findings: tuple[str, ...]


def task(
    backend: Backend,
    target: Target,
    original: Source,
    headers: Iterable[Source],
    *,
    contracts: tuple[Contract, ...],
    findings: Iterable[Finding],
) -> Task:
    """The task of porting `original`, whose port has `findings`, and making it fast."""
    ordered = sorted(findings, key=lambda finding: _ORDER.index(finding.severity))
    return Task(
        target,
        backend.brief(target),
        _file(original),
        tuple(_file(header) for header in headers),
        dumps(contracts),
        tuple(dict.fromkeys(_told(finding) for finding in ordered)),
    )


def _file(source: Source) -> File:
    return File(source.path.name, source.text)


def _told(finding: Finding) -> str:
    place = f"line {finding.span.line}: " if finding.span else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{finding.code}: {place}{finding.message}{hint}"
