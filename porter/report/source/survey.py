"""Surveys a tree of CUDA sources, and how hard each will be to port: reads the text, and executes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from porter.diagnostics.findings import Effort, Finding, Severity
from porter.report.findings.catalogue import EFFORTS, SEVERITY_STYLES
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.findings.view import View
from porter.writing.columns import Cell, columns
from porter.writing.counting import counted, enumerated
from porter.writing.document import Json

_MOST_NAMED = 3
_ORDER = list(Effort)
_WORST = list(Severity)
_STYLES = {Effort.NONE: "green", Effort.MINUTES: "green", Effort.HOURS: "yellow", Effort.REWRITE: "red"}


@dataclass(frozen=True, slots=True)
class Surveyed:
    """One source: how many kernels and launches it has, how it offers them, and the findings of porting it."""

    path: Path
    form: str
    kernels: int
    launches: int
    findings: tuple[Finding, ...]

    @property
    def effort(self) -> Effort:
        """The work left to do by hand: that of the worst finding."""
        return max((finding.effort for finding in self.findings), key=_ORDER.index, default=Effort.NONE)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A source that could not be read, and why."""

    path: Path
    because: str


@dataclass(frozen=True, slots=True)
class Kind:
    """One code over the whole tree: the files with it, its places, and the first of them."""

    code: str
    severity: Severity
    effort: Effort
    files: int
    places: int
    first: str


@dataclass(frozen=True, slots=True)
class Survey:
    """A tree of sources for one target."""

    target: str
    sources: tuple[Surveyed, ...]
    unreadable: tuple[Unreadable, ...]

    @property
    def by_effort(self) -> dict[Effort, list[Surveyed]]:
        """The sources by the work left to do by hand, the easiest first."""
        return {effort: [one for one in self.sources if one.effort is effort] for effort in Effort}

    @property
    def kinds(self) -> list[Kind]:
        """Every code that was found, the hardest first."""
        found: dict[str, list[tuple[Path, Finding]]] = {}
        for one in self.sources:
            for finding in one.findings:
                found.setdefault(finding.code, []).append((one.path, finding))
        kinds = [_kind(code, places) for code, places in found.items()]
        return sorted(kinds, key=lambda kind: (-_ORDER.index(kind.effort), _WORST.index(kind.severity), -kind.files))


def _kind(code: str, places: Sequence[tuple[Path, Finding]]) -> Kind:
    path, first = places[0]
    place = (first.source.path if first.source else path, first.span.line if first.span else 0)
    return Kind(
        code=code,
        severity=min((finding.severity for _, finding in places), key=_WORST.index),
        effort=max((finding.effort for _, finding in places), key=_ORDER.index),
        files=len({path for path, _ in places}),
        places=len(places),
        first=f"{place[0]}:{place[1]}" if place[1] else str(place[0]),
    )


def survey_text(survey: Survey, view: View) -> Text:
    """Shows how many sources need how much work, every kind of finding, and in a verbose view every source."""
    text = _heading(survey).append("\n\nLeft to do by hand\n", "bold")
    rows: list[Sequence[Cell]] = [
        (Text(EFFORTS[effort], _STYLES[effort]), counted(len(sources), "source"), _named(effort, sources))
        for effort, sources in survey.by_effort.items()
        if sources
    ]
    text.append_text(columns(rows, indent="  "))
    if survey.kinds:
        text.append("\nWhat was found\n", "bold").append_text(columns(_kind_rows(survey.kinds), indent="  "))
    for one in survey.unreadable:
        text.append(f"\n{one.path} cannot be read: {one.because}", "red")
    if view.is_verbose:
        text.append("\nEvery source\n", "bold").append_text(columns([_source_row(one) for one in survey.sources], "  "))
    return text.append(
        f"\nNothing was executed; `porter migrate PATH --target {survey.target}` ports and proves a source."
    )


def _heading(survey: Survey) -> Text:
    kernels, launches = (sum(getattr(one, name) for one in survey.sources) for name in ("kernels", "launches"))
    forms = Counter(one.form for one in survey.sources)
    offered = ", ".join(f"{count} {form}" for form, count in forms.most_common())
    head = f"{counted(len(survey.sources), 'source')} for {survey.target}: "
    head += f"{counted(kernels, 'kernel')}, {counted(launches, 'launch', 'launches')}"
    return Text(head, "bold").append(f" ({offered})" if offered else "")


def _named(effort: Effort, sources: Sequence[Surveyed]) -> str:
    """Returns the first of those that leave something to do."""
    return "" if effort is Effort.NONE else enumerated([str(one.path) for one in sources], _MOST_NAMED)


def _kind_rows(kinds: Sequence[Kind]) -> list[Sequence[Cell]]:
    catalogue = full_catalogue()
    rows: list[Sequence[Cell]] = [("code", "sources", "places", "by hand", "what", "first")]
    for kind in kinds:
        title = catalogue[kind.code].title if kind.code in catalogue else ""
        code = Text(kind.code, SEVERITY_STYLES[kind.severity])
        rows.append((code, str(kind.files), str(kind.places), EFFORTS[kind.effort], title, kind.first))
    return rows


def _source_row(one: Surveyed) -> Sequence[Cell]:
    effort = Text(EFFORTS[one.effort], _STYLES[one.effort])
    return (
        str(one.path),
        effort,
        counted(one.kernels, "kernel"),
        one.form,
        ", ".join(sorted({f.code for f in one.findings})),
    )


def survey_document(survey: Survey) -> dict[str, Json]:
    """Returns the survey; `by_effort` counts sources."""
    return {
        "target": survey.target,
        "by_effort": {effort.value: len(sources) for effort, sources in survey.by_effort.items()},
        "findings": [
            {
                "code": kind.code,
                "severity": kind.severity.value,
                "effort": kind.effort.value,
                "sources": kind.files,
                "places": kind.places,
                "first": kind.first,
            }
            for kind in survey.kinds
        ],
        "sources": [
            {
                "path": str(one.path),
                "form": one.form,
                "kernels": one.kernels,
                "launches": one.launches,
                "effort": one.effort.value,
                "findings": sorted({finding.code for finding in one.findings}),
            }
            for one in survey.sources
        ],
        "unreadable": [{"path": str(one.path), "because": one.because} for one in survey.unreadable],
    }
