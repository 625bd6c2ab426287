"""Writes a run over a suite as one HTML file: it needs no network, and no other file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.evaluate.model.outcome import outcome_words
from porter.report.findings.full_catalogue import full_catalogue
from porter.report.migration.speed import duration
from porter.report.suite.regression import changes_counted, worth_telling
from porter.report.suite.scale import Bar, Scale, distribution, kind, mean_interval, scale
from porter.report.suite.tables import Earlier, SuiteTable, caption, heads, rows, searched, stages, title, untimed
from porter.suite.metrics import speedup_of
from porter.suite.regress import Change, Compared
from porter.suite.result import ORIGINAL, Result, SuiteResult
from porter.writing.counting import counted


@dataclass(frozen=True, slots=True)
class Tile:
    """A number that is read first, its meaning, and `good`, `bad` or `even`."""

    number: str
    words: str
    kind: str


@dataclass(frozen=True, slots=True)
class Found:
    """The number of operators on which a finding was made."""

    code: str
    count: int
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """An operator in the table, with its times in words and the lines its port changed below it.

    `bar` and `time_us` are None where it was not timed.
    """

    key: str
    category: str
    name: str
    outcome: str
    verified: bool
    because: str
    bar: Bar | None
    time_us: float | None
    time: str
    share_of_limit: float | None
    findings: int
    seconds: float
    times: tuple[str, ...]
    diff: tuple[str, ...]

    @property
    def outcome_words(self) -> str:
        """The outcome as people read it."""
        return outcome_words(self.outcome)


def suite_page(result: SuiteResult, tables: Sequence[SuiteTable], folder: Path, earlier: Earlier | None = None) -> str:
    """Returns the page of the run in `folder`, with what changed since an earlier one."""
    first = tables[0]
    loader = PackageLoader("porter.report")
    template = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    results = [*(one for one in (*result.results, *result.missing) if not one.is_verified), *_right(result)]
    speedups = [s for one in result.results if (s := speedup_of(one, first.baseline))]
    spread = scale(speedups)
    operators = [_row(one, first.baseline, spread, folder) for one in results]
    return template.get_template("suite.html.j2").render(
        title=f"{counted(len(operators), 'operator')} on {result.target}",
        caption=caption(result),
        searched=searched(result),
        stages=stages(result),
        tiles=list(_tiles(result, first.baseline, speedups, earlier)),
        tables=[(title(table) if table.overall.timed else "", heads(table), rows(table)) for table in tables],
        baseline=first.baseline,
        is_timed=bool(speedups),
        one_at=spread.at(1.0),
        distribution=list(distribution(speedups)),
        untimed=untimed(result),
        earlier=earlier,
        changes=[] if earlier is None else list(_changes(earlier)),
        changes_counted="" if earlier is None else changes_counted(earlier.compared),
        findings=list(_findings(result)),
        operators=operators,
        outcomes=list(dict.fromkeys(one.outcome for one in operators)),
    )


def _right(result: SuiteResult) -> list[Result]:
    return [one for one in result.results if one.is_verified]


def _tiles(result: SuiteResult, baseline: str, speedups: Sequence[float], earlier: Earlier | None) -> Iterator[Tile]:
    total = len(result.results) + len(result.missing)
    verified = len(_right(result))
    yield Tile(f"{verified} of {total}", "verified", "good" if verified == total else "even")
    if verified < total:
        yield Tile(str(total - verified), "fell short", "bad")
    if speedups:
        yield _mean_tile(speedups, baseline)
        slower = sum(kind(speedup) == "slow" for speedup in speedups)
        yield Tile(str(slower), f"slower than {baseline}", "bad" if slower else "good")
    else:
        yield Tile("no", "speed was measured", "even")
    if earlier is not None:
        yield Tile(str(earlier.lost), f"worse than in {earlier.name}", "bad" if earlier.lost else "good")


def _mean_tile(speedups: Sequence[float], baseline: str) -> Tile:
    mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
    interval = mean_interval(speedups)
    between = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    words = f"times as fast as {baseline}{between}, geometric mean of {counted(len(speedups), 'operator')}"
    return Tile(f"{mean:.2f}", words, {"fast": "good", "slow": "bad"}.get(kind(mean), "even"))


def _changes(earlier: Earlier) -> Iterator[Compared]:
    """Yields the operators that changed, the worst first: the text above them says how many others there are."""
    return (one for one in worth_telling(earlier.compared) if one.change is not Change.SAME)


def _findings(result: SuiteResult) -> Iterator[Found]:
    catalogue = full_catalogue()
    counts = Counter(code for one in result.results for code in one.findings)
    for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        yield Found(code, count, catalogue[code].title if code in catalogue else "")


def _row(one: Result, baseline: str, spread: Scale, folder: Path) -> Row:
    speedup = speedup_of(one, baseline)
    return Row(
        key=one.key,
        category=one.category,
        name=one.name,
        outcome=one.outcome,
        verified=one.is_verified,
        because=one.because,
        bar=None if speedup is None else spread.bar(speedup),
        time_us=None if one.time_us is None else one.time_us.median,
        time="" if one.time_us is None else duration(one.time_us.median),
        share_of_limit=one.share_of_limit,
        findings=len(one.findings),
        seconds=one.seconds,
        times=tuple(_times(one)),
        diff=_diff(one, folder),
    )


def _diff(one: Result, folder: Path) -> tuple[str, ...]:
    """Returns what the port changed in the original, where both files are there."""
    original, port = folder / one.key / ORIGINAL / "kernel.cu", folder / one.port
    if not (one.port and original.is_file() and port.is_file()):
        return ()
    before, after = (path.read_text("utf-8").splitlines() for path in (original, port))
    return tuple(unified_diff(before, after, original.name, port.name, lineterm=""))


def _times(one: Result) -> Iterator[str]:
    """Yields `forward at bench: 4.03 ms`, then what it was timed beside and how near it comes to the memory limit."""
    yield from (f"{workload}: {duration(time.median)}" for workload, time in one.times_us.items())
    beside = ", ".join(f"{name} {speedup:.2f}" for name, speedup in one.speedups.items())
    if beside:
        yield f"times as fast as {beside}"
    if one.share_of_limit is not None:
        yield f"{one.share_of_limit:.0%} of what memory allows"
