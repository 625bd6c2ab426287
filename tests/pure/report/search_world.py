"""Small searches that really ran: porter's own loop and journal, over points whose worth is a formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.evolve.axis import Axis
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Request
from porter.evolve.replay import searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.search import Search
from porter.evolve.settings import Settings
from porter.evolve.stream import stream

KNOBS = {"warps": (1, 2, 4, 8, 16), "stages": (1, 2, 3, 4), "hint": ("none", "stream")}
WARPS = Axis("warps", ("1", "2", "4", "8", "16"))
STAGES = Axis("stages", ("1", "2", "3", "4"))
HINT = Axis("cache <hint>", ("none", "stream"))
ABOUT = {"source": "soft<max>.cu", "target": "triton", "arch": "sm_90", "device": "a device"}
SPITEFUL = 'faster</pre><script src="https://example.org/x.js"></script>\n\x1b[31m| red\ud800'


def candidate(point: Sequence[int], origin: Origin) -> Candidate:
    named = {name: values[place] for (name, values), place in zip(KNOBS.items(), point, strict=True)}
    text = "".join(f"{name} = {value!r}  # a < b & c\n" for name, value in named.items())
    return Candidate((File("kernel.py", text), File("host.py", "import kernel\n")), origin, named)


def place(known: Candidate) -> tuple[int, ...]:
    return tuple(values.index(known.point[name]) for name, values in KNOBS.items())


SEED = candidate((0, 0, 0), Origin("seed"))


@dataclass(frozen=True)
class World:
    """What a point is worth: better with each knob turned up, save that the greatest of `warps` is wrong."""

    measure: Measure = Measure.NATIVE
    axes: tuple[Axis, ...] = (WARPS, STAGES)

    def evaluate(self, known: Candidate) -> Scored:
        warps, stages, hint = point = place(known)
        if warps == 4:
            return Scored(known.digest, "wrong", f"at [{stages}] got 1 | want <2>\nand more", feedback="")
        factor = (1 + 0.3 * warps) * (1 + 0.1 * stages) * (1 + 0.02 * hint)
        spread = 0.0 if self.measure is Measure.MODELLED else 0.01
        score = Score(self.measure, factor, factor * (1 - spread), factor * (1 + spread))
        return Scored(known.digest, "verified", "", score, point[: len(self.axes)])


@dataclass
class Turns:
    """Turns one knob of the first parent, or takes each knob from one of two."""

    name: str = "turns"

    def propose(self, request: Request) -> list[Candidate]:
        draw = stream(request.seed)
        points = [place(parent.candidate) for parent in request.parents]
        if not points:
            return []
        if len(points) > 1 and draw.random() < 0.4:
            crossed = [draw.choice(pair) for pair in zip(*points[:2], strict=True)]
            digests = tuple(parent.candidate.digest for parent in request.parents[:2])
            return [candidate(crossed, Origin(self.name, digests, "crossed"))]
        knob = draw.randrange(len(KNOBS))
        turned = list(points[0])
        turned[knob] = draw.randrange(len(tuple(KNOBS.values())[knob]))
        note = f"turned {tuple(KNOBS)[knob]}"
        return [candidate(turned, Origin(self.name, (request.parents[0].candidate.digest,), note))]


@dataclass
class Spiteful:
    """Proposes the next stage, and says in its note what no report may believe."""

    name: str = "spiteful"

    def propose(self, request: Request) -> list[Candidate]:
        if not request.parents:
            return []
        parent = request.parents[0].candidate
        warps, stages, hint = place(parent)
        return [candidate((warps, (stages + 1) % 4, hint), Origin(self.name, (parent.digest,), SPITEFUL))]


def settings(world: World, **changed: object) -> Settings:
    declared = {"islands": 2, "batch": 2, "migrate_every": 3, "about": ABOUT} | changed
    return Settings(2, world.axes, ("turns", "spiteful"), **declared)


def drive(search: Search, world: World, rounds: int | None = None) -> None:
    """Evaluate until the search is over, or round `rounds` begins, as if it were killed then."""
    while not search.ended and (rounds is None or search.state.round.number < rounds):
        search.tell([world.evaluate(known) for known in search.ask(1)])


def searched(
    folder: Path, world: World = World(), rounds: int = 6, killed: int | None = None, **changed: object
) -> Path:
    """The folder of a search of so many rounds, which was killed at the beginning of round `killed`."""
    clock = iter(range(10**6))
    declared = settings(world, **changed)
    with searching(
        folder, declared, Budget(rounds=rounds), [Turns(), Spiteful()], [SEED], clock=lambda: float(next(clock))
    ) as search:
        drive(search, world, killed)
    return folder


def without_a_score(world: World) -> World:
    """A world in which nothing is ever right."""

    class Hopeless(World):
        def evaluate(self, known: Candidate) -> Scored:
            return Scored(known.digest, "crashed", "out of bounds")

    return Hopeless(world.measure, world.axes)
