"""The search beside random sampling and a hill climb, on the same spaces and with as many evaluations.

    python benchmarks/evolve/search.py --evaluations 120 --seeds 5 --output benchmarks/results/evolve_search.json

What counts is the true worth of the candidate that each would hand over if it were stopped, after every evaluation; an
evaluation that measures a champion again counts as one. The area under that curve is the mean, over evaluations, of the
binary logarithm of the factor over the seed, as a share of that of the space's best point: 0 is the seed, 1 the best
from the first evaluation on. Intervals are bootstrapped, with 95 %, over spaces and seeds together.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.events import Granted
from porter.evolve.proposing.kriging import KrigingProposer
from porter.evolve.proposing.schedule import ScheduleProposer
from porter.evolve.search import Search
from porter.evolve.settings import Settings
from porter.evolve.space import Space
from porter.evolve.state import State
from porter.evolve.stream import stream
from porter.search.agents import rule_plan

sys.path.insert(0, str(Path(__file__).parent))
from landscapes import Landscape, landscapes

Areas = dict[str, dict[str, list[tuple[float, float]]]]
Curve = Iterator[float]  # after each evaluation, the true factor of the best so far
ROUNDS = 10_000  # more than evaluations allow


@dataclass(frozen=True)
class Way:
    """A way to search, by its name."""

    name: str
    curve: Callable[[Landscape, int], Curve]


def sampled(landscape: Landscape, seed: int) -> Curve:
    """Points at random, none twice."""
    draw, noise, seen = stream(seed, "sample"), stream(seed, "noise"), set()
    best = _First(landscape)
    yield best.after(landscape.seed(), noise)
    while True:
        point = landscape.space.sample(draw)
        candidate = landscape.space.candidate(point, Origin("random")) if point else None
        if candidate and candidate.digest not in seen:
            seen.add(candidate.digest)
            yield best.after(candidate, noise)


def climbed(landscape: Landscape, seed: int) -> Curve:
    """From the seed to the first neighbour that is measured better; from a random point where none is left."""
    draw, noise, seen = stream(seed, "climb"), stream(seed, "noise"), set()
    best, at = _First(landscape), landscape.seed()
    yield best.after(at, noise)
    here = best.last
    while True:
        for point in draw.sample(near := list(landscape.space.neighbours(at.point)), len(near)):
            candidate = landscape.space.candidate(point, Origin("climb"))
            if candidate and candidate.digest not in seen:
                seen.add(candidate.digest)
                yield best.after(candidate, noise)
                if best.last > here:
                    at, here = candidate, best.last
                    break
        else:
            at, here = landscape.space.candidate(landscape.space.sample(draw) or {}, Origin("climb")) or at, 0.0


class _First:
    """The best by what was measured, which is all that a simple search knows."""

    def __init__(self, landscape: Landscape) -> None:
        self._landscape = landscape
        self._most, self._worth, self.last = 0.0, 1.0, 0.0

    def after(self, candidate: Candidate, noise: random.Random) -> float:
        score = self._landscape.evaluate(candidate, noise).score
        self.last = score.factor if score else 0.0
        if self.last > self._most:
            self._most, self._worth = self.last, self._landscape.worth(candidate.point)
        return self._worth


def searched(
    landscape: Landscape, seed: int, names: Sequence[str] = ("schedule", "plan", "kriging"), **changed: float
) -> Curve:
    """Searches as `porter migrate --rounds` does where nothing but the space proposes."""
    noise = stream(seed, "noise")

    def around(files: Sequence[File]) -> Space:
        return Space((), lambda _: tuple(files))  # candidates here are points, and have no text to turn anything in

    made = (
        ScheduleProposer(landscape.space, around),
        rule_plan(landscape.space, around, landscape.axes),
        KrigingProposer(landscape.space),
    )
    proposers = [each for each in made if each.name in names]
    declared = {"islands": 3, "batch": 1} | changed
    state = State(Settings(seed, landscape.axes, tuple(each.name for each in proposers), **declared))
    search = Search(state, proposers, [landscape.seed()], clock=lambda: 0.0)
    search.record(Granted(Budget(rounds=ROUNDS)))
    while True:
        for candidate in search.ask(1):
            search.tell([landscape.evaluate(candidate, noise)])
            yield landscape.worth(search.best.candidate.point) if search.best else 1.0
        while search.ended:  # all is known
            yield landscape.worth(search.best.candidate.point) if search.best else 1.0


WAYS = (
    Way("search", searched),
    Way("random", sampled),
    Way("climb", climbed),
    Way("search, kriging alone, 1 island", partial(searched, islands=1, names=("kriging",))),
    Way("search without kriging", partial(searched, names=("schedule", "plan"))),
)


def area(way: Way, landscape: Landscape, seed: int, evaluations: int) -> tuple[float, float]:
    """The area under the curve, and the share that the last best is of the space's."""
    most = math.log2(max(landscape.worths))
    curve = way.curve(landscape, seed)
    shares = [math.log2(next(curve)) / most for _ in range(evaluations)]
    return statistics.fmean(shares), shares[-1]


def interval(values: list[float]) -> list[float]:
    """The mean, and between what it lies with 95 % (bootstrap)."""
    draw = random.Random(0)
    means = sorted(statistics.fmean(draw.choices(values, k=len(values))) for _ in range(2000))
    return [round(value, 4) for value in (statistics.fmean(values), means[49], means[1949])]


def measured(spaces: list[Landscape], ways: list[Way], seeds: int, evaluations: int) -> Areas:
    """By way and space, for each seed what `area` gives."""
    return {
        way.name: {s.name: [area(way, s, seed, evaluations) for seed in range(seeds)] for s in spaces} for way in ways
    }


def summary(spaces: list[Landscape], areas: Areas) -> dict[str, object]:
    ways = list(areas)
    first = ways[0]

    def over(way: str, names: list[str], which: int = 0) -> list[float]:
        return [a[which] - b[which] for s in names for a, b in zip(areas[first][s], areas[way][s], strict=True)]

    every = [s.name for s in spaces]
    flat = {way: [a for s in every for a in areas[way][s]] for way in ways}
    return {
        "area": {name: interval([a[0] for a in values]) for name, values in flat.items()},
        "at the end": {name: interval([a[1] for a in values]) for name, values in flat.items()},
        f"area of {first} over": {way: interval(over(way, every)) for way in ways[1:]},
        f"end of {first} over": {way: interval(over(way, every, 1)) for way in ways[1:]},
        "by space": {
            s.name: {
                "points": len(s.worths),
                "best factor": round(max(s.worths), 3),
                **{way: interval([a[0] for a in areas[way][s.name]]) for way in ways[:3]},
                **{f"over {way}": interval(over(way, [s.name])) for way in ways[1:3]},
            }
            for s in spaces
        },
        "raw": {name: {s: [[round(x, 5) for x in a] for a in v] for s, v in by.items()} for name, by in areas.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=120)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--ways", type=int, default=len(WAYS))
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    began = time.monotonic()
    spaces = landscapes()
    result = summary(spaces, measured(spaces, list(WAYS[: given.ways]), given.seeds, given.evaluations))
    about = {"evaluations": given.evaluations, "seeds": given.seeds, "python": platform.python_version()}
    document = {**about, "seconds": round(time.monotonic() - began, 1), **result}
    if given.output:
        given.output.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    print(json.dumps({key: value for key, value in document.items() if key != "raw"}, indent=1))


if __name__ == "__main__":
    main()
