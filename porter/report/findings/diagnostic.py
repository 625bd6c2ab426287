"""Shows a finding at its place, as compilers do: the line, a caret under the span, the hint."""

from __future__ import annotations

from rich.text import Text

from porter.diagnostics.findings import Finding
from porter.report.findings.catalogue import SEVERITY_STYLES
from porter.report.findings.view import EVERYTHING, View
from porter.source_text import Source

_LEAST = 20  # columns of a source line that are shown however narrow the terminal is


def diagnostic(finding: Finding, source: Source, view: View = EVERYTHING) -> Text:
    """Returns `finding` shown in its own file's text, else in that of `source`; without a span only the sentence.

    The source line is cut to the width of the view, around the span.
    """
    source = finding.source or source
    text = Text()
    style = SEVERITY_STYLES[finding.severity]
    text.append(f"{_place(finding, source)}: ", "bold").append(f"{finding.severity.value}: ", style)
    text.append(f"{finding.message} ").append(f"[{finding.code}]", "dim").append("\n")
    if finding.span is not None:
        text.append_text(_excerpt(finding, source, style, view.width))
    if finding.hint:
        text.append("  = ", "dim").append(f"{finding.hint}\n")
    return text


def _place(finding: Finding, source: Source) -> str:
    span = finding.span
    return f"{source.path}:{span.line}:{span.column}" if span else str(source.path)


def _excerpt(finding: Finding, source: Source, style: str, columns: int) -> Text:
    """Returns the source line and the caret line; a span of several lines is marked to the end of its first."""
    span = finding.span
    if span is None:
        return Text()
    gutter = f"{span.line:>5} | "
    line, start = source.line(span.line), span.column - 1
    width = max(1, min(span.end - span.start, len(line) - start))
    if columns:
        line, start, width = _window(line, start, width, max(_LEAST, columns - len(gutter)))
    padding = "".join("\t" if c == "\t" else " " for c in line[:start])  # tabs stay tabs: the caret stands right
    text = Text(gutter, "dim").append(f"{line}\n", "none")
    return text.append(" " * (len(gutter) - 2) + "| ").append(f"{padding}{'^' * width}\n", style)


def _window(line: str, start: int, width: int, columns: int) -> tuple[str, int, int]:
    """Returns the part of `line` around the span at `start` that fits into `columns`, and the span in it."""
    if len(line.expandtabs()) <= columns:
        return line, start, width
    line = line.replace("\t", " ")
    begin = max(0, min(start - columns // 4, len(line) - columns)) if start + width > columns else 0
    shown = line[begin : begin + columns]
    if begin:
        shown = f"…{shown[1:]}"
    if begin + columns < len(line):
        shown = f"{shown[:-1]}…"
    return shown, start - begin, max(1, min(width, len(shown) - (start - begin)))
