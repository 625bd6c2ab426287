"""A finding shown at its place, as compilers do: the line, a caret under the span, the hint."""

from __future__ import annotations

from rich.text import Text

from porter.findings import Finding
from porter.report.catalogue import SEVERITY_STYLES
from porter.source.text import Source


def diagnostic(finding: Finding, source: Source) -> Text:
    """`finding` on its own file's text, else on that of `source`; without a span only the sentence."""
    source = finding.source or source
    text = Text()
    style = SEVERITY_STYLES[finding.severity]
    text.append(f"{_place(finding, source)}: ", "bold").append(f"{finding.severity.value}: ", style)
    text.append(f"{finding.message} ").append(f"[{finding.code}]", "dim").append("\n")
    if finding.span is not None:
        text.append_text(_excerpt(finding, source, style))
    if finding.hint:
        text.append("  = ", "dim").append(f"{finding.hint}\n")
    return text


def _place(finding: Finding, source: Source) -> str:
    span = finding.span
    return f"{source.path}:{span.line}:{span.column}" if span else str(source.path)


def _excerpt(finding: Finding, source: Source, style: str) -> Text:
    """The source line and the caret line; a span of several lines is marked to the end of its first."""
    span = finding.span
    if span is None:
        return Text()
    line = source.line(span.line)
    before = line[: span.column - 1]
    width = max(1, min(span.end - span.start, len(line) - len(before)))
    padding = "".join("\t" if c == "\t" else " " for c in before)  # tabs stay tabs, so that the caret stands right
    gutter = f"{span.line:>5} | "
    text = Text(gutter, "dim").append(f"{line}\n", "none")
    return text.append(" " * (len(gutter) - 2) + "| ").append(f"{padding}{'^' * width}\n", style)
