"""Lists the findings of one file: each at its place where they are few, a line for each kind where they are many."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from porter.diagnostics.findings import Effort, Finding, Severity
from porter.report.findings.catalogue import EFFORTS, SEVERITY_STYLES
from porter.report.findings.diagnostic import diagnostic
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.findings.view import View
from porter.source_text import Source
from porter.writing.columns import Cell, columns
from porter.writing.counting import counted, enumerated

FEW = 3  # findings that are all shown at their places
_LINES = 4  # line numbers named of one kind


def findings_text(findings: Sequence[Finding], source: Source, view: View) -> Text:
    """Returns the findings as `view` wants them; the first error of each kind always stands at its place.

    Findings that the project allows are counted, and named in a verbose view.
    """
    allowed = [one for one in findings if one.allowed]
    text = _told([one for one in findings if not one.allowed], source, view)
    if view.is_verbose:
        for one in allowed:
            text.append(f"{one.code} is allowed at {_places([one], source)}: {one.allowed}\n", "dim")
    elif allowed:
        text.append(f"{source.path}: {counted(len(allowed), 'finding')} allowed (-v shows the reasons)\n", "dim")
    return text.append("\n") if allowed else text


def _told(findings: Sequence[Finding], source: Source, view: View) -> Text:
    if view.is_verbose or len(findings) <= FEW:
        return _each(findings, source, view)
    errors = [one for one in findings if one.severity is Severity.ERROR]
    others = [one for one in findings if one.severity is not Severity.ERROR]
    text = _each([members[0] for members in _kinds(errors)], source, view)
    text.append_text(_repeated(errors, source))
    return text.append_text(_table(others, source, view)) if others else text


def _each(findings: Sequence[Finding], source: Source, view: View) -> Text:
    text = Text()
    for finding in findings:
        text.append_text(diagnostic(finding, source, view)).append("\n")
    return text


def _kinds(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Returns the findings of each code together, in the order of the codes."""
    codes = sorted({finding.code for finding in findings})
    return [[finding for finding in findings if finding.code == code] for code in codes]


def _repeated(errors: Sequence[Finding], source: Source) -> Text:
    """Returns a line for each kind of error that occurs more than once, with the places of the others."""
    text = Text()
    for first, *others in _kinds(errors):
        if others:
            text.append(f"{counted(len(others), 'more error')} of the kind {first.code}: {_places(others, source)}\n\n")
    return text


def _table(findings: Sequence[Finding], source: Source, view: View) -> Text:
    """Says how many findings there are, with a line for each kind that names it and its places."""
    counts = [
        counted(number, severity.value)
        for severity in Severity
        if (number := sum(finding.severity is severity for finding in findings))
    ]
    mended = ", nothing left to do by hand" if all(finding.effort is Effort.NONE for finding in findings) else ""
    text = Text(f"{source.path}: ", "bold").append(f"{enumerated(counts)}{mended} (-v shows each at its line)\n")
    lines = columns([_row(members, source) for members in _kinds(findings)], indent="  ").split("\n")
    for line in lines:
        if view.width:
            line.truncate(view.width, overflow="ellipsis")
    return text.append_text(Text("\n").join(lines)).append("\n\n")


def _row(members: Sequence[Finding], source: Source) -> tuple[Cell, ...]:
    first = members[0]
    entry = full_catalogue().get(first.code)
    title = entry.title if entry else first.message
    efforts = dict.fromkeys(EFFORTS[one.effort] for one in members if one.effort is not Effort.NONE)
    said = f"{title} ({enumerated(list(efforts))})" if efforts else title
    return (Text(first.code, SEVERITY_STYLES[first.severity]), _places(members, source), said)


def _places(findings: Sequence[Finding], source: Source) -> str:
    places = list(dict.fromkeys(_place(finding, source) for finding in findings if finding.span is not None))
    if not places:
        return "the whole file"
    return f"{'line' if len(places) == 1 else 'lines'} {enumerated(places, _LINES)}"


def _place(finding: Finding, source: Source) -> str:
    """Returns the line of a finding, behind the name of its file where that is another one."""
    line = str(finding.span.line) if finding.span else ""
    return f"{finding.source.path.name}:{line}" if finding.source and finding.source != source else line
