"""Shows a run over a suite as tables: by category, and what fell short, operator by operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from porter.evaluate.model.outcome import outcome_words
from porter.report.suite.regression import regression_document, regression_text
from porter.suite.before import SEED, before
from porter.suite.metrics import Metrics, geometric_mean, metrics
from porter.suite.regress import Compared
from porter.suite.result import Result, SuiteResult, result_document
from porter.writing.columns import Cell, columns
from porter.writing.counting import counted, enumerated
from porter.writing.document import Json, as_record

_HEAD = ("category", "operators", "ported", "verified", "corr", "fast", "amsr", "geomean", "timed", "limit")
_CUDA = "cuda"
_PLACES = {
    "emulated": "by emulation on the CPU",
    "compiled": "by the target's compiler",
    "proxy": "on another vendor's device",
    "native": "on the target's own device",
}
# By what a search compared, and in words what its factors are of.
MEASURES = {"native": "times", "proxy": "times of a proxy", "modelled": "modelled costs, which are not times"}


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """The metrics of each category in their order, and of all; speedups are over `baseline`.

    `before` says that they belong to the ports with which searches began.
    """

    baseline: str
    p: float
    categories: Mapping[str, Metrics]
    overall: Metrics
    before: bool = False


def suite_tables(result: SuiteResult, baseline: str = "", p: float = 1.0) -> tuple[SuiteTable, ...]:
    """Returns a table for `baseline`; else one for each baseline of any time, the CUDA original first.

    Where searches improved ports, each table is followed by the one from before.
    """
    timed = sorted({name for one in result.results for name in one.speedups} - {_CUDA, SEED})
    names, began = (baseline,) if baseline else (_CUDA, *timed), before(result)
    each = ((suite_table(result, name, p), began and suite_table(began, name, p)) for name in names)
    return tuple(one for now, then in each for one in (now, then and replace(then, before=True)) if one)


def suite_table(result: SuiteResult, baseline: str = _CUDA, p: float = 1.0) -> SuiteTable:
    """Returns the table of a run."""
    by_category: dict[str, list[Result]] = {}
    for one in result.results:
        by_category.setdefault(one.category, []).append(one)
    return SuiteTable(
        baseline,
        p,
        {name: metrics(rs, baseline, p) for name, rs in by_category.items()},
        metrics(result.results, baseline, p),
    )


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier run, by the name of its folder, and what has changed for each operator since."""

    name: str
    compared: tuple[Compared, ...]

    @property
    def lost(self) -> int:
        """Returns how many operators are worse than they were."""
        return sum(one.is_lost for one in self.compared)


def suite_document(
    result: SuiteResult, tables: Sequence[SuiteTable], earlier: Earlier | None = None
) -> dict[str, Json]:
    """Returns the run, its metrics by category and over all, and what changed since.

    Metrics are over the first baseline and `over` each.
    """
    first = tables[0]
    since = {} if earlier is None else {"against": regression_document(earlier.compared, result.target)}
    return {
        **since,
        **result_document(result),
        "baseline": first.baseline,
        "caption": caption(result),
        **_metrics(first),
        "over": {table.baseline: _metrics(table) for table in tables if not table.before},
        "before": {table.baseline: _metrics(table) for table in tables if table.before},
    }


def _metrics(table: SuiteTable) -> dict[str, Json]:
    categories = {name: as_record(m) for name, m in table.categories.items()}
    return {"categories": categories, "overall": as_record(table.overall)}


def suite_text(result: SuiteResult, tables: Sequence[SuiteTable], earlier: Earlier | None = None) -> Text:
    """Returns the tables, their meaning, and a line for each missing time and each operator that fell short."""
    text = Text()
    for table in tables:
        text.append(f"{title(table)}\n", "bold") if table.overall.timed else None
        text.append_text(columns([heads(table), *rows(table)]))
    for line in filter(None, (caption(result), searched(result), stages(result))):
        text.append(f"{line}\n")
    if missing := untimed(result):
        text.append("\nTimes that are missing\n", "bold").append_text(columns(missing))
    if short := [one for one in result.results if not one.is_verified]:
        text.append("\n").append_text(columns([(one.key, outcome_words(one.outcome), one.because) for one in short]))
    if earlier is not None:
        text.append(f"\nSince {earlier.name}\n", "bold").append_text(regression_text(earlier.compared))
    text.rstrip()
    return text


def title(table: SuiteTable) -> str:
    """Returns what its speedups are."""
    return f"times as fast as {table.baseline}{', before the search' if table.before else ''}"


def rows(table: SuiteTable) -> list[tuple[Cell, ...]]:
    """Returns a row for each category, and one for all; columns about times only where something was timed."""
    named = (*table.categories.items(), ("all", table.overall))
    return [_row(name, m)[: len(heads(table))] for name, m in named]


def heads(table: SuiteTable) -> tuple[str, ...]:
    """Returns what the columns of `rows` are called."""
    shown = _HEAD if table.overall.timed else _HEAD[: _HEAD.index("fast")]
    return tuple(f"fast_{table.p:g}" if head == "fast" else head for head in shown)


def caption(result: SuiteResult) -> str:
    """Returns how the numbers were obtained."""
    places = [words for name, words in _PLACES.items() if any(one.fidelity == name for one in result.results)]
    checked = f"checked {enumerated(places)}" if places else "nothing was run"
    timed = sorted({one.timed for one in result.results if one.timed})
    speed = f"timed {', '.join(timed)} on {', '.join(result.devices)}" if timed else "no speed was measured"
    return f"{result.target} {result.arch}".strip() + f": {checked}; {speed} (porter {result.porter})"


def searched(result: SuiteResult) -> str:
    """Returns what searches made of the ports; empty where there were none."""
    found = [one for one in result.results if one.factor is not None]
    by_measure = {measure: [o.factor for o in found if o.measure == measure and o.factor] for measure in MEASURES}
    parts = (
        f"{counted(len(factors), 'port')} searched: {sum(f > 1 for f in factors)} better than what they began with, "
        f"geometric mean {geometric_mean(factors):.3f} ({words})"
        for measure, words in MEASURES.items()
        if (factors := by_measure[measure])
    )
    return "; ".join(parts)


def untimed(result: SuiteResult) -> list[tuple[str, str]]:
    """Returns each time that is missing where others were taken, by the operator's key, and why."""
    return [(one.key, because) for one in result.results for because in one.untimed]


def stages(result: SuiteResult) -> str:
    """Returns where the time of all operators went; empty where it was not counted."""
    named = dict.fromkeys(name for one in result.results for name in one.stages)
    total = {name: sum(one.stages.get(name, 0.0) for one in result.results) for name in named}
    spent = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in total.items())
    return f"time spent: {spent}, of {sum(one.seconds for one in result.results):.0f} s in all" if spent else ""


def _row(name: str, m: Metrics) -> tuple[Cell, ...]:
    return (
        *(name, str(m.operators), str(m.ported), str(m.verified), f"{m.corr:.0%}"),
        *(_number(m.fast, "{:.0%}"), _number(m.amsr, "{:.2f}"), _number(m.geomean, "{:.2f}")),
        *(str(m.timed), _number(m.limit, "{:.0%}")),
    )


def _number(value: float | None, shape: str) -> str:
    return "-" if value is None else shape.format(value)
