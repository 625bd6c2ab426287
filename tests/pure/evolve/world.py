"""A world in which candidates are points: what one is worth, and what is measured of it, follow from the point."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from porter.evolve.axis import Axis, numeric
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.events import Event, Granted
from porter.evolve.journal import NAME
from porter.evolve.proposer import Account, Exchange, Request
from porter.evolve.replay import searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.search import Search
from porter.evolve.settings import Settings
from porter.evolve.state import State
from porter.evolve.stream import stream

SIZES = (4, 4, 4)
SCORE = numeric("score", (0.5, 0.8, 1, 1.25, 2, 4, 8))
KINDS = Axis("kind", tuple(f"kind {n}" for n in range(SIZES[0])))


SEEDED = Origin("seed")
SIX_ROUNDS = Budget(rounds=6)


def candidate(point: Sequence[int], origin: Origin = SEEDED) -> Candidate:
    knobs = {f"k{n}": place for n, place in enumerate(point)}
    return Candidate((File("kernel.py", f"{tuple(point)}\n"),), origin, knobs)


def place(known: Candidate) -> tuple[int, ...]:
    return tuple(int(value) for value in known.point.values())


SEED_CANDIDATE = candidate((0, 0, 0))


@dataclass
class World:
    """Evaluates points; `noise` is half the width of intervals, and how far what is measured lies from the truth."""

    noise: float = 0.02
    evaluations: int = 0

    def worth(self, point: tuple[int, ...]) -> float:
        rough = stream(7, *point).uniform(-0.15, 0.15) if any(point) else 0.0
        return math.exp2(0.35 * sum(point) / len(point) - 0.2 * abs(point[0] - 2) + 0.4 + rough)

    def evaluate(self, known: Candidate) -> Scored:
        self.evaluations += 1
        point = place(known)
        if sum(point) % 5 == 4:
            return Scored(known.digest, "wrong", f"k2 is {point[2]}", feedback="element 3 is 1.0, not 2.0")
        value = self.worth(point) * (1 + stream(1, known.digest).uniform(-self.noise, self.noise))
        score = Score(Measure.NATIVE, value, value * (1 - self.noise), value * (1 + self.noise))
        built = hashlib.blake2b(repr((*point[:2], point[2] // 2)).encode(), digest_size=4).hexdigest()
        return Scored(known.digest, "verified", "", score, (point[0], SCORE.coordinate(value)), built=built)


@dataclass
class Random:
    """Proposes points at random."""

    name: str = "random"

    def propose(self, request: Request) -> list[Candidate]:
        draw = stream(request.seed)
        points = ([draw.randrange(size) for size in SIZES] for _ in range(request.count))
        return [candidate(point, Origin(self.name, (), "anywhere")) for point in points]


@dataclass
class Steps:
    """Proposes neighbours of the first parent that are new, in a random order."""

    name: str = "steps"

    def propose(self, request: Request) -> list[Candidate]:
        if not request.parents:
            return []
        parent = request.parents[0].candidate
        at = place(parent)
        moves = [(knob, by) for knob, by in product(range(len(SIZES)), (-1, 1)) if 0 <= at[knob] + by < SIZES[knob]]
        stream(request.seed).shuffle(moves)
        made = [
            candidate(
                [value + by * (n == knob) for n, value in enumerate(at)],
                Origin(self.name, (parent.digest,), f"k{knob} {by:+d}"),
            )
            for knob, by in moves
        ]
        return [each for each in made if each.digest not in request.seen][: request.count]


class Talker:
    """Proposes as `Steps`; counts in its memory how often it was asked and how much it was told, and talks."""

    name = "talker"

    def __init__(self) -> None:
        self._account = Account()

    def propose(self, request: Request) -> list[Candidate]:
        asked, told = map(int, (request.memory or "0 0").split())
        memory = f"{asked + 1} {told + len(request.told)}"
        self._account = Account((Exchange(f"better, please: {request.seed}", "of course \ud800", 7),), memory)
        return Steps(self.name).propose(request)

    def account(self) -> Account:
        return self._account


def proposers() -> list[Random | Steps | Talker]:
    return [Random(), Steps(), Talker()]


def settings(seed: int = 1, **changed: object) -> Settings:
    declared = {"islands": 2, "batch": 2, "migrate_every": 2, "migrate_share": 0.5} | changed
    return Settings(seed, (KINDS, SCORE), ("random", "steps", "talker"), **declared)


class Clock:
    """A second for each evaluation: so a resumed run tells the same time as an undisturbed one."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self) -> float:
        return float(self._world.evaluations)


def drive(search: Search, world: World, at_once: int = 1) -> None:
    """Evaluate until the search is over; what is out at once is told in reverse."""
    while not search.ended:
        for known in reversed(search.ask(at_once)):
            search.tell([world.evaluate(known)])


def run(folder: Path, budget: Budget = SIX_ROUNDS, **changed: object) -> bytes:
    """A whole run, or the rest of one: its journal."""
    world = World()
    declared = settings(**changed)
    with searching(folder, declared, budget, proposers(), [SEED_CANDIDATE], clock=Clock(world)) as search:
        drive(search, world)
    return (folder / NAME).read_bytes()


def in_memory(budget: Budget = SIX_ROUNDS, at_once: int = 1, **changed: object) -> tuple[Search, list[Event]]:
    """A run of which nothing is written, and its events."""
    world, events = World(), Events()
    search = Search(State(settings(**changed)), proposers(), [SEED_CANDIDATE], events, Clock(world))
    search.record(Granted(budget))
    drive(search, world, at_once)
    return search, events.all


class Events:
    """A recorder that keeps the events."""

    def __init__(self) -> None:
        self.all: list[Event] = []

    def write(self, event: Event, seconds: float) -> None:
        self.all.append(event)
