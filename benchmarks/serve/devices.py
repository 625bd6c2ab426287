"""Simulates a search over 1 to 1,000 devices: the real search, with a clock that only evaluations and itself move.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.serve.devices [--evaluations N] [--seeds N] [--out FILE]

in the root of the repository: on a busy machine the threads of BLAS wait for each other, and the search with them.

Candidates are points of the spaces in benchmarks/evolve/landscapes.py, and proposed as `porter migrate --rounds` does.
How long an evaluation takes is drawn from those recorded on an H200 (device_faults_h200.json): for candidates that run
from right ones, for others from faulty ones. One in twenty takes ten times as long; one in a hundred is lost with its
device, which is noticed after that time and two seconds, and it goes to the next free device.

Utilisation is the time that devices spend on evaluations that come to an end, as a share of all their time up to the
hour at which the last candidate was handed out (`steady`), and to the end of the search, when the last few wait for
stragglers (`whole`). `with_search` has the search's own processor time on the clock as well: it proposes in one thread.
Seconds to a result are those until the best is worth 97 % of the way, in its logarithm, to the best point of the space.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from benchmarks.evolve.landscapes import Landscape, landscapes
from porter import __version__
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File
from porter.evolve.events import Granted
from porter.evolve.proposing.kriging import KrigingProposer
from porter.evolve.proposing.schedule import ScheduleProposer
from porter.evolve.scored import Scored
from porter.evolve.search import Search
from porter.evolve.settings import Settings
from porter.evolve.space import Space
from porter.evolve.state import State
from porter.evolve.stream import stream
from porter.search.agents import rule_plan

RECORDED = Path(__file__).parents[1] / "results" / "device_faults_h200.json"
STRAGGLERS, SLOWER = 0.05, 10
LOST, NOTICED_S = 0.01, 2.0
ISLANDS = 3
WORTH = 0.97  # of the way to the best point
PROPOSERS = ("schedule", "plan", "kriging")
DEVICES = (1, 10, 100, 1000)
LEAST_EACH = 4  # evaluations for each device, where that is more than are asked for


@dataclass(frozen=True)
class Times:
    """Seconds of evaluations that were recorded on a device."""

    right: tuple[float, ...]
    faulty: tuple[float, ...]

    @classmethod
    def read(cls) -> Times:
        rows = json.loads(RECORDED.read_text())["rows"]
        right = tuple(row["seconds"] for row in rows if row["outcome"] == "timed")
        return cls(right, tuple(row["seconds"] for row in rows if row["outcome"] != "timed"))

    def drawn(self, scored: Scored, draw: Random) -> float:
        seconds = draw.choice(self.right if scored.outcome == "verified" else self.faulty)
        return seconds * (SLOWER if draw.random() < STRAGGLERS else 1)


@dataclass
class Lab:
    """So many devices, the clock, and what is evaluated: until when, and what will come of it."""

    devices: int
    times: Times
    draw: Random
    now: float = 0.0
    useful: float = 0.0
    flying: list[tuple[float, int, Candidate, Scored | None]] = field(default_factory=list)
    handed_out: int = 0

    def begin(self, candidate: Candidate, scored: Scored) -> None:
        seconds = self.times.drawn(scored, self.draw)
        lost = self.draw.random() < LOST
        if not lost:
            self.useful += seconds
        self.handed_out += 1
        end = self.now + seconds + (NOTICED_S if lost else 0.0)
        heapq.heappush(self.flying, (end, self.handed_out, candidate, None if lost else scored))

    def next(self) -> tuple[Candidate, Scored | None]:
        """Waits for the first to end; None in place of an outcome where its device was lost."""
        end, _, candidate, scored = heapq.heappop(self.flying)
        self.now = max(self.now, end)
        return candidate, scored

    @property
    def unfinished(self) -> float:
        """Device seconds that are still to be spent on what is out and will come to an end."""
        return sum(end - self.now for end, _, _, scored in self.flying if scored is not None)


@dataclass(frozen=True)
class Run:
    """The outcome of a simulated search."""

    steady: float
    whole: float
    seconds: float
    to_result: float | None
    search_s: float


def search_of(landscape: Landscape, settings: Settings, evaluations: int, lab: Lab) -> Search:
    def around(files: Sequence[File]) -> Space:
        return Space((), lambda _: tuple(files))  # candidates here are points, and have no text to turn anything in

    proposers = [
        ScheduleProposer(landscape.space, around),
        rule_plan(landscape.space, around, landscape.axes),
        KrigingProposer(landscape.space),
    ]
    search = Search(State(settings), proposers, [landscape.seed()], clock=lambda: lab.now)
    search.record(Granted(Budget(evaluations, evaluations)))
    return search


def simulated(
    landscape: Landscape,
    seed: int,
    devices: int,
    evaluations: int,
    *,
    in_flight: bool,
    with_search: bool = False,
    names: tuple[str, ...] = PROPOSERS,
) -> Run:
    """One search, in flight or in rounds of as many candidates as there are devices."""
    lab = Lab(devices, Times.read(), stream(seed, "times"))
    noise, aim = stream(seed, "noise"), WORTH * math.log2(max(landscape.worths))
    batch, kept = -(-devices // ISLANDS), devices if in_flight else 0
    settings = Settings(seed, landscape.axes, names, islands=ISLANDS, batch=batch, in_flight=kept)
    search = search_of(landscape, settings, evaluations, lab)
    to_result, search_s, steady, again = None, 0.0, 1.0, list[Candidate]()
    while not search.ended:
        began = time.process_time()
        free = devices - len(lab.flying)
        new = search.ask(max(0, free - len(again)))
        search_s += time.process_time() - began
        lab.now += (time.process_time() - began) * with_search
        for candidate in (*again, *new):
            lab.begin(candidate, landscape.evaluate(candidate, noise))
        again = []
        if any(candidate.digest not in search.state.members for candidate in new) and lab.now:
            steady = (lab.useful - lab.unfinished) / (devices * lab.now)
        if search.ended:
            break
        candidate, scored = lab.next()
        if scored is None:
            again = [candidate]
            continue
        began = time.process_time()
        search.tell([scored])
        search_s += time.process_time() - began
        lab.now += (time.process_time() - began) * with_search
        best = landscape.worth(search.best.candidate.point) if search.best else 1.0
        if to_result is None and math.log2(best) >= aim:
            to_result = lab.now
    return Run(steady, lab.useful / (devices * lab.now), lab.now, to_result, search_s)


def summary(runs: Sequence[Run]) -> dict[str, object]:
    """Medians over spaces and seeds; a result that was not reached takes longest."""
    to_result = statistics.median(run.to_result or math.inf for run in runs)
    return {
        "steady": round(statistics.median(run.steady for run in runs), 3),
        "whole": round(statistics.median(run.whole for run in runs), 3),
        "seconds": round(statistics.median(run.seconds for run in runs), 1),
        "seconds_to_result": None if math.isinf(to_result) else round(to_result, 1),
        "reached": f"{sum(run.to_result is not None for run in runs)} of {len(runs)}",
        "search_s": round(statistics.median(run.search_s for run in runs), 2),
    }


def measured(evaluations: int, seeds: int, devices: Sequence[int], spaces: Sequence[Landscape]) -> dict[str, object]:
    rows = []
    for count in devices:
        for name, ways in (
            ("rounds", {"in_flight": False, "with_search": False}),
            ("in flight", {"in_flight": True, "with_search": False}),
            ("in flight, with the search's own time", {"in_flight": True, "with_search": True}),
        ):
            each = max(evaluations, LEAST_EACH * count)
            runs = [simulated(s, seed, count, each, **ways) for s in spaces for seed in range(seeds)]
            rows.append({"devices": count, "way": name, "evaluations": each, **summary(runs)})
            print(json.dumps(rows[-1]), flush=True)
    return {
        "seeds": seeds,
        "spaces": [space.name for space in spaces],
        "times": RECORDED.name,
        "stragglers": {"share": STRAGGLERS, "times_as_long": SLOWER},
        "lost": {"share": LOST, "noticed_after_s": NOTICED_S},
        "rows": rows,
        "load_average": os.getloadavg()[0],
        "device": f"cpu, {os.cpu_count()} cores; nothing is evaluated",
        "python": platform.python_version(),
        "porter": __version__,
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--evaluations", type=int, default=1000)
    arguments.add_argument("--seeds", type=int, default=1)
    arguments.add_argument("--devices", type=int, nargs="+", default=DEVICES)
    arguments.add_argument("--spaces", nargs="+", default=("tiles 2",))
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    spaces = [space for space in landscapes() if space.name in given.spaces]
    text = json.dumps(measured(given.evaluations, given.seeds, given.devices, spaces), indent=1) + "\n"
    if given.out:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
