"""`porter report`: a suite run or a search for people, spreadsheets and browsers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from porter.cli.options import DebugFlag, JsonFlag, named_path
from porter.errors import DONE, UsageError, unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from porter.report.search.course import Course
    from porter.report.suite.tables import Earlier, SuiteTable
    from porter.suite.result import SuiteResult


class ReportFormat(StrEnum):
    """The format in which a report is written."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    CSV = "csv"
    HTML = "html"


RunArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", parser=named_path, help="A target's folder of a suite run, its suite.json, or that of a search."
    ),
]
FormatOption = Annotated[
    ReportFormat, typer.Option("--format", help="The output format; html is one self-contained file.")
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", parser=named_path, help="Write to this file instead of printing."),
]
BaselineOption = Annotated[
    str,
    typer.Option(
        "--baseline", metavar="NAME", help="What speedups compare with, such as pytorch; all baselines without it."
    ),
]
FastOption = Annotated[
    float, typer.Option("--p", metavar="P", min=0, help="Count operators that are more than P times as fast.")
]

AgainstOption = Annotated[
    Path | None,
    typer.Option("--against", metavar="RUN", parser=named_path, help="An earlier suite run: say what changed since."),
]


def report(
    context: typer.Context,
    run: RunArgument,
    format: FormatOption = ReportFormat.TEXT,
    out: OutOption = None,
    baseline: BaselineOption = "",
    p: FastOption = 1.0,
    against: AgainstOption = None,
    json: JsonFlag = False,
    debug: DebugFlag = False,
) -> int:
    """Report a suite run or a search as text, Markdown, JSON, CSV or HTML."""
    from porter.report.search.course import course, is_run
    from porter.report.suite.tables import Earlier, suite_tables
    from porter.suite.regress import compare_runs
    from porter.suite.result import read_run

    format = ReportFormat.JSON if json else format
    if is_run(run):
        if baseline or against:
            named = "--baseline" if baseline else "--against"
            raise UsageError(f"{named} is for suite runs", "a search compares with the port it began with")
        text = _search_text(course(run), format)
    else:
        result = read_run(run)
        earlier = None if against is None else Earlier(str(against), compare_runs(read_run(against), result))
        text = _text(result, suite_tables(result, baseline, p), earlier, run if run.is_dir() else run.parent, format)
    if out is not None:
        try:
            out.write_text(text, "utf-8")
        except OSError as error:
            raise unwritable(out, error) from error
    elif text:
        typer.echo(text, nl=False)
    return DONE


def _search_text(course: Course, format: ReportFormat) -> str:
    from porter.report.search.document import search_document
    from porter.report.search.page import search_page
    from porter.report.search.text import search_csv, search_markdown, search_text
    from porter.writing.document import encode_json

    match format:
        case ReportFormat.TEXT:
            return search_text(course).plain + "\n"
        case ReportFormat.MARKDOWN:
            return search_markdown(course)
        case ReportFormat.JSON:
            # What a model wrote may hold halves of surrogate pairs: JSON has an escape for them, UTF-8 has no bytes.
            return encode_json(search_document(course)).encode(errors="backslashreplace").decode()
        case ReportFormat.CSV:
            return search_csv(course)
        case ReportFormat.HTML:
            return search_page(course)
    assert_never(format)


def _text(
    result: SuiteResult, tables: Sequence[SuiteTable], earlier: Earlier | None, folder: Path, format: ReportFormat
) -> str:
    from porter.report.suite.page import suite_page
    from porter.report.suite.tables import suite_document, suite_text
    from porter.report.suite.text import suite_csv, suite_markdown
    from porter.writing.document import encode_json

    match format:
        case ReportFormat.TEXT:
            return suite_text(result, tables, earlier).plain + "\n"
        case ReportFormat.MARKDOWN:
            return suite_markdown(result, tables, earlier)
        case ReportFormat.JSON:
            return encode_json(suite_document(result, tables, earlier))
        case ReportFormat.CSV:
            return suite_csv(result, earlier)
        case ReportFormat.HTML:
            return suite_page(result, tables, folder, earlier)
    assert_never(format)
