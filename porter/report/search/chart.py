"""Draws the best so far over rounds as a step chart: places are in percent of its width and height.

A round is an interval of the horizontal axis: the line within it is the best that there was at its end, the band the
interval of that. The vertical axis is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from porter.evolve.scored import Score
from porter.report.search.course import Completed, Course

_MARGIN = 1.06  # factors beyond the greatest and the least
_MOST_TICKS = 8
_NICE = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Tick:
    """A label and where on its axis it stands."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`line` and `bands` are SVG paths, `dots` the verified candidates as (x, y); all in percent, y from the top."""

    line: str
    bands: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    across: tuple[Tick, ...]
    upwards: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class _Scale:
    rounds: int
    low: float
    high: float

    def x(self, at: float) -> float:
        return round(100 * at / self.rounds, 3)

    def y(self, factor: float) -> float:
        share = math.log(factor / self.low) / math.log(self.high / self.low)
        return round(100 * (1 - min(max(share, 0.0), 1.0)), 3)


def chart(course: Course) -> Chart | None:
    """Returns the chart of a search; None while there is no best.

    Dots of candidates far worse than any best so far lie on the lower edge: they would flatten all the rest.
    """
    scored = [(one, one.score) for one in course.rounds if one.score is not None]
    if not scored:
        return None
    low, high = min(score.low for _, score in scored), max(score.high for _, score in scored)
    dots = _dots(course)
    floor = min([low, *(factor for _, factor in dots if factor > low / 2)])
    scale = _Scale(len(course.rounds), floor / _MARGIN, max([high, *(factor for _, factor in dots)]) * _MARGIN)
    runs = [list(run) for has_one, run in groupby(course.rounds, lambda one: one.score is not None) if has_one]
    return Chart(
        line=" ".join(_line(run, scale) for run in runs),
        bands=tuple(_band(run, scale) for run in runs if any(s.low < s.high for _, s in _scores(run))),
        dots=tuple((scale.x(at + 0.5), scale.y(factor)) for at, factor in dots),
        across=tuple(Tick(scale.x(at + 0.5), str(at)) for at in range(0, scale.rounds, _stride(scale.rounds))),
        upwards=tuple(Tick(scale.y(at), f"{at:g}") for at in _levels(scale.low, scale.high)),
    )


def _dots(course: Course) -> list[tuple[int, float]]:
    """Returns the round, and the factor as last measured, of each candidate that has one."""
    complete = len(course.rounds)
    members = ((trial.proposed.round, course.member(digest)) for digest, trial in course.trials.items())
    return [
        (at, member.scored.score.factor)
        for at, member in members
        if member is not None and member.scored.score is not None and at < complete
    ]


def _scores(run: Sequence[Completed]) -> Iterator[tuple[int, Score]]:
    for one in run:
        assert one.score is not None
        yield one.closed.round, one.score


def _line(run: Sequence[Completed], scale: _Scale) -> str:
    return "M" + _steps([(at, score.factor) for at, score in _scores(run)], scale)


def _band(run: Sequence[Completed], scale: _Scale) -> str:
    above = _steps([(at, score.high) for at, score in _scores(run)], scale)
    below = _steps([(at, score.low) for at, score in _scores(run)], scale, backwards=True)
    return f"M{above} L{below} Z"


def _steps(levels: Sequence[tuple[int, float]], scale: _Scale, *, backwards: bool = False) -> str:
    """Returns each level from the beginning of its round to its end."""
    corners = [(scale.x(at + end), scale.y(level)) for at, level in levels for end in (0, 1)]
    return " L".join(f"{x:g},{y:g}" for x, y in (reversed(corners) if backwards else corners))


def _stride(count: int) -> int:
    """Returns the number of rounds from one label to the next."""
    unit = 1
    while unit * _NICE[-1] * _MOST_TICKS < count:
        unit *= 10
    return next(unit * n for n in _NICE if unit * n * _MOST_TICKS >= count)


def _levels(low: float, high: float) -> list[float]:
    """Returns round numbers between two: a few, evenly apart, or the powers of two where the range is wide."""
    if high / low > 2**3:
        return [2.0**power for power in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]
    least = (high - low) / _MOST_TICKS
    power = math.floor(math.log10(least))
    step = next(n * 10.0**p for p in (power, power + 1) for n in _NICE if n * 10.0**p >= least)
    return [round(step * n, 9) for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
