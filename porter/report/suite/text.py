"""A run over a suite as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from porter.evaluate.model.outcome import outcome_words
from porter.report.suite.regression import changes_counted, worth_telling
from porter.report.suite.tables import Earlier, SuiteTable, caption, heads, rows, searched, stages, title, untimed
from porter.suite.result import SuiteResult
from porter.writing.columns import markdown_table

_COLUMNS = (
    "suite",
    "category",
    "name",
    "outcome",
    "fidelity",
    "timed",
    "device",
    "seconds",
    "median_us",
    "share_of_limit",
    "factor",
    "measure",
    "untimed",
    "because",
)


def suite_markdown(result: SuiteResult, tables: Sequence[SuiteTable], earlier: Earlier | None = None) -> str:
    """Returns the tables by category, what changed since an earlier run, and one of all operators."""
    timed, missing = _baselines(result), untimed(result)
    operators = [
        (one.key, outcome_words(one.outcome), *(_factor(one.speedups.get(name)) for name in timed), one.because)
        for one in result.results
    ]
    parts = [
        f"# {len(result.results)} operators for {result.target}",
        "\n\n".join(filter(None, (caption(result), searched(result), stages(result)))),
        *(
            part
            for table in tables
            for part in (f"## {title(table).capitalize()}", markdown_table(heads(table), rows(table)))
        ),
        *(() if earlier is None else (f"## Since {earlier.name}", *_changes(earlier))),
        *(("## Times that are missing", markdown_table(("operator", "why"), missing)) if missing else ()),
        "## Operators",
        markdown_table(("operator", "outcome", *(f"over {name}" for name in timed), "why"), operators),
    ]
    return "\n\n".join(parts) + "\n"


def _changes(earlier: Earlier) -> tuple[str, str]:
    rows = [(one.change, one.now.key, one.text) for one in worth_telling(earlier.compared)]
    return changes_counted(earlier.compared), markdown_table(("change", "operator", "why"), rows)


def suite_csv(result: SuiteResult, earlier: Earlier | None = None) -> str:
    """Returns a line for each operator, with a column for each baseline's speedup, and for the `change` since."""
    timed = _baselines(result)
    changes = {one.now.key: one.change for one in earlier.compared} if earlier is not None else {}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*_COLUMNS, *(f"speedup_{name}" for name in timed), *(("change",) if changes else ())))
    for one in result.results:
        median = one.time_us.median if one.time_us is not None else ""
        own = (
            one.suite,
            one.category,
            one.name,
            one.outcome,
            one.fidelity,
            one.timed,
            one.device,
            one.seconds,
            median,
            "" if one.share_of_limit is None else one.share_of_limit,
            "" if one.factor is None else one.factor,
            one.measure,
            "; ".join(one.untimed),
            one.because,
        )
        change = (str(changes.get(one.key, "")),) if changes else ()
        writer.writerow((*own, *(one.speedups.get(name, "") for name in timed), *change))
    return text.getvalue()


def _baselines(result: SuiteResult) -> list[str]:
    return sorted({name for one in result.results for name in one.speedups})


def _factor(speedup: float | None) -> str:
    return "-" if speedup is None else f"{speedup:.2f}"
