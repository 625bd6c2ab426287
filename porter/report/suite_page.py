"""A run over a suite as one HTML file: it needs no network, and no other file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.catalogue import full_catalogue
from porter.report.speed import duration
from porter.report.suite import SuiteTable, caption, heads, rows, searched, stages, title, untimed
from porter.suite.metrics import speedup_of
from porter.suite.result import ORIGINAL, Result, SuiteResult

_BINS_PER_DOUBLING = 2  # of the distribution


@dataclass(frozen=True, slots=True)
class Bar:
    """A speedup, and how long its bar is in percent of the longest."""

    name: str
    speedup: float
    percent: float


@dataclass(frozen=True, slots=True)
class Bin:
    """How many speedups lie in a range of the distribution."""

    label: str
    count: int
    percent: float
    slow: bool


@dataclass(frozen=True, slots=True)
class Found:
    """On how many operators a finding was made."""

    code: str
    count: int
    title: str


@dataclass(frozen=True, slots=True)
class Detail:
    """An operator, its times in words, and what its port changed, line by line."""

    key: str
    outcome: str
    because: str
    times: tuple[str, ...]
    diff: tuple[str, ...]


def suite_page(result: SuiteResult, tables: Sequence[SuiteTable], folder: Path) -> str:
    """The page of the run in `folder`."""
    first = tables[0]
    loader = PackageLoader("porter.report")
    template = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return template.get_template("suite.html.j2").render(
        title=f"porter: {len(result.results)} operators for {result.target}",
        caption=caption(result),
        searched=searched(result),
        stages=stages(result),
        tables=[(title(table) if table.overall.timed else "", heads(table), rows(table)) for table in tables],
        baseline=first.baseline,
        bars=bars(result, first.baseline),
        distribution=list(distribution([s for r in result.results if (s := speedup_of(r, first.baseline))])),
        untimed=untimed(result),
        findings=list(_findings(result)),
        operators=[_detail(one, folder) for one in result.results],
    )


def bars(result: SuiteResult, baseline: str) -> dict[str, list[Bar]]:
    """The speedups of each category, the largest first; without a time there is no category."""
    timed = [(one, speedup) for one in result.results if (speedup := speedup_of(one, baseline)) is not None]
    longest = max((speedup for _, speedup in timed), default=1.0)
    found: dict[str, list[Bar]] = {}
    for one, speedup in sorted(timed, key=lambda pair: -pair[1]):
        found.setdefault(one.category, []).append(Bar(one.name, speedup, 100 * speedup / longest))
    return dict(sorted(found.items()))


def distribution(speedups: list[float]) -> Iterator[Bin]:
    """Yields how many speedups lie in each half of a doubling, from the least to the greatest."""
    counts = Counter(math.floor(math.log2(speedup) * _BINS_PER_DOUBLING) for speedup in speedups)
    if not counts:
        return
    most = max(counts.values())
    for step in range(min(counts), max(counts) + 1):
        low, high = (2 ** (bound / _BINS_PER_DOUBLING) for bound in (step, step + 1))
        yield Bin(f"{low:.2f} to {high:.2f}", counts[step], 100 * counts[step] / most, step < 0)


def _findings(result: SuiteResult) -> Iterator[Found]:
    catalogue = full_catalogue()
    counts = Counter(code for one in result.results for code in one.findings)
    for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        yield Found(code, count, catalogue[code].title if code in catalogue else "")


def _detail(one: Result, folder: Path) -> Detail:
    original, port = folder / one.key / ORIGINAL / "kernel.cu", folder / one.port
    diff: tuple[str, ...] = ()
    if one.port and original.is_file() and port.is_file():
        before, after = (path.read_text("utf-8").splitlines() for path in (original, port))
        diff = tuple(unified_diff(before, after, original.name, port.name, lineterm=""))
    return Detail(one.key, one.outcome, one.because, tuple(_times(one)), diff)


def _times(one: Result) -> Iterator[str]:
    """`forward at bench: 4.03 ms`; beside what it was timed; how near it comes to what memory allows."""
    yield from (f"{workload}: {duration(time.median)}" for workload, time in one.times_us.items())
    beside = ", ".join(f"{name} {speedup:.2f}" for name, speedup in one.speedups.items())
    if beside:
        yield f"times as fast as {beside}"
    if one.share_of_limit is not None:
        yield f"{one.share_of_limit:.0%} of what memory allows"
