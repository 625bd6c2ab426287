"""Tells a model what a search is about, in texts only, which are the same in every prompt of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from porter.agent.operator_words import operator_in_words, sizes_in_words
from porter.backend import Backend, Target
from porter.contract.model.contract import Contract
from porter.diagnostics.findings import Finding, Severity
from porter.evolve.axis import Axis
from porter.evolve.candidate import File
from porter.evolve.scoring.diagnosis import ScoredSize
from porter.evolve.scoring.subject import StandardKind
from porter.source_text import Source

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


@dataclass(frozen=True, slots=True)
class Task:
    """The task that a model is given: `original` is the source that counts, None where there are answers alone.

    `headers` are the user's that it includes, `findings` have the gravest first.

    `operator` says how its entries are called and what is right, `scored` at which sizes candidates are scored and what
    limits them there. `axes` are those by which the archive tells programs apart.
    """

    target: Target
    brief: str
    original: File | None
    headers: tuple[File, ...]
    operator: str
    scored: str
    findings: tuple[str, ...]
    axes: tuple[Axis, ...] = ()
    standard_kind: StandardKind = StandardKind.CUDA


def task(
    backend: Backend,
    target: Target,
    original: Source | None,
    headers: Iterable[Source],
    *,
    contracts: Iterable[Contract],
    scored: Sequence[ScoredSize],
    findings: Iterable[Finding],
    axes: tuple[Axis, ...] = (),
    standard_kind: StandardKind = StandardKind.CUDA,
) -> Task:
    """The task of writing what answers as `original` does, or as recorded, and making it fast at the sizes `scored`. A
    port of it has `findings`; other programs are told apart by `axes`.
    """
    ordered = sorted(findings, key=lambda finding: _ORDER.index(finding.severity))
    return Task(
        target,
        backend.brief(target),
        _file(original) if original else None,
        tuple(_file(header) for header in headers),
        "\n\n".join(operator_in_words(contract) for contract in contracts),
        sizes_in_words(scored, target.chip),
        tuple(dict.fromkeys(_told(finding) for finding in ordered)),
        axes,
        standard_kind,
    )


def _file(source: Source) -> File:
    return File(source.path.name, source.text)


def _told(finding: Finding) -> str:
    place = f"line {finding.span.line}: " if finding.span else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    return f"{finding.code}: {place}{finding.message}{hint}"
