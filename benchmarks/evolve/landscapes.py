"""Spaces in which a time is a formula: like tuning a kernel, with noise, dead ends and knobs that do nothing.

Four families of four spaces each. Their constants are drawn, so that no space is made for a search, or against one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from random import Random

from porter.evolve.axis import Axis
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.space import Knob, Point, Space
from porter.evolve.stream import stream

NOISE = 0.01  # a measured time lies within 1 % of the true one, as on a device whose clocks are fixed


@dataclass(frozen=True)
class Landscape:
    """A space, the true time of each of its points (None: it does not run), and which knobs are the archive's axes."""

    name: str
    space: Space
    time: Callable[[Point], float | None]
    traits: tuple[str, str]

    @property
    def axes(self) -> tuple[Axis, ...]:
        knobs = {knob.name: knob for knob in self.space.knobs}
        return tuple(Axis(name, tuple(map(str, knobs[name].values))) for name in self.traits)

    @cached_property
    def worths(self) -> list[float]:
        """The true factor over the seed of every point that runs."""
        names = [knob.name for knob in self.space.knobs]
        points = (dict(zip(names, v, strict=True)) for v in product(*(knob.values for knob in self.space.knobs)))
        return [worth for point in points if self.space.legal(point) and (worth := self.worth(point))]

    def worth(self, point: Point) -> float:
        """Returns how many times as fast as the seed it truly is; 0 where it does not run."""
        seed, time = self.time(self.space.seed()), self.time(point)
        assert seed is not None
        return seed / time if time else 0.0

    def evaluate(self, candidate: Candidate, draw: Random) -> Scored:
        """Returns what is measured of it, with noise from `draw`."""
        point, true = candidate.point, self.worth(candidate.point)
        if not true:
            return Scored(candidate.digest, "crashed", "out of resources")
        value = true * math.exp(draw.gauss(0, NOISE / 2))
        score = Score(Measure.NATIVE, value, value * (1 - NOISE), value * (1 + NOISE))
        places = {knob.name: knob.values.index(point[knob.name]) for knob in self.space.knobs}
        built = hashlib.blake2b(f"{true:.12g}".encode(), digest_size=8).hexdigest()
        return Scored(candidate.digest, "verified", "", score, tuple(places[t] for t in self.traits), built=built)

    def seed(self) -> Candidate:
        made = self.space.candidate(self.space.seed(), Origin("seed"))
        assert made is not None
        return made


def landscapes() -> list[Landscape]:
    return [family(number) for family in (elementwise, reduction, tiles, rugged) for number in range(4)]


def _space(allows: Callable[[Point], bool], **knobs: tuple[int, ...]) -> Space:
    """Of each knob the first value is the seed's."""

    def lower(point: Point) -> tuple[File, ...]:
        return (File("kernel", " ".join(f"{name}={value}" for name, value in point.items())),)

    return Space(tuple(Knob(name, tuple(sorted(values)), values[0]) for name, values in knobs.items()), lower, allows)


def _apart(value: int, best: int) -> float:
    return abs(math.log2(value / best)) if value and best else float(value != best)


def elementwise(number: int) -> Landscape:
    """Bound by memory: wide loads and enough in flight; hints to the cache matter a little, unrolling of 1 item not."""
    draw = stream(11, number)
    best_block, best_items = draw.choice((128, 256, 512)), draw.choice((2, 4, 8))
    width_gain, hint = draw.uniform(0.1, 0.5), draw.randrange(3)
    space = _space(
        lambda p: p["vector"] <= p["items"],
        block=(256, 32, 64, 128, 512, 1024),
        items=(1, 2, 4, 8, 16),
        vector=(1, 2, 4, 8),
        unroll=(1, 2, 4, 8),
        hint=(0, 1, 2),
        warps=(4, 1, 2, 8, 16),
    )

    def time(p: Point) -> float | None:
        block, items, unroll = int(p["block"]), int(p["items"]), int(p["unroll"])
        spilled = max(0.0, math.log2(items * min(unroll, items) / 32))
        lanes = _apart(int(p["warps"]) * 32 * min(items, 8), block * min(items, 8))
        return (
            (1 + width_gain / int(p["vector"]))
            * (1 + 0.06 * _apart(block, best_block) + 0.12 * _apart(items, best_items))
            * (1 + 0.05 * lanes + 0.4 * spilled + 0.03 * (p["hint"] != hint))
        )

    return Landscape(f"elementwise {number}", space, time, ("items", "vector"))


def reduction(number: int) -> Landscape:
    """Rows over programs and threads: few rows a program starve the device, many serialise it; some do not run."""
    draw = stream(12, number)
    rows, columns = 1 << draw.randrange(8, 15), 1 << draw.randrange(8, 13)
    space = _space(
        lambda p: int(p["rows"]) * int(p["block"]) <= 16384,
        block=(256, 64, 128, 512, 1024, 2048),
        rows=(1, 2, 4, 8, 16),
        warps=(4, 1, 2, 8, 16),
        stages=(1, 2, 3, 4),
        vector=(1, 2, 4, 8),
        passes=(2, 1),
    )

    def time(p: Point) -> float | None:
        block, many, warps, stages = int(p["block"]), int(p["rows"]), int(p["warps"]), int(p["stages"])
        held = block * many * (1 if p["passes"] == 2 else columns / block) / (warps * 32)
        if held > 256:
            return None  # registers
        steps = columns / block if block < columns else 1.0
        waves = max(1.0, rows / many / (132 * max(1, 16 // warps)))
        work = (
            steps * (1 + 0.1 * _apart(int(p["vector"]), 4)) + 0.5 * math.log2(warps + 1) + 0.2 * max(0, stages - steps)
        )
        idle = max(1.0, block / columns)
        return waves * many * int(p["passes"]) ** 0.6 * idle * (work / (1 + 0.1 * min(stages, steps))) + 2

    return Landscape(f"reduction {number}", space, time, ("rows", "passes"))


def tiles(number: int) -> Landscape:
    """A product of matrices: tiles, warps and stages hang together, and much does not fit."""
    draw = stream(13, number)
    m, n, k = (1 << draw.randrange(8, 13) for _ in range(3))
    space = _space(
        lambda p: int(p["tile_m"]) * int(p["tile_n"]) >= 32 * int(p["warps"]),
        tile_m=(32, 16, 64, 128, 256),
        tile_n=(32, 16, 64, 128, 256),
        tile_k=(32, 16, 64, 128),
        warps=(4, 2, 8, 16),
        stages=(2, 1, 3, 4, 5),
        group=(1, 4, 8, 16),
    )

    def time(p: Point) -> float | None:
        tm, tn, tk, warps, stages = (int(p[name]) for name in ("tile_m", "tile_n", "tile_k", "warps", "stages"))
        shared, registers = (tm + tn) * tk * 2 * stages, tm * tn / (warps * 32)
        if shared > 227 * 1024 or registers > 512:
            return None
        spill = 1 + max(0.0, registers / 128 - 1)
        blocks = math.ceil(m / tm) * math.ceil(n / tn)
        resident = max(1, min(227 * 1024 // max(shared, 1), 64 // warps))
        waves = math.ceil(blocks / (132 * resident)) * resident
        intensity = tm * tn / (tm + tn)
        reuse = 1 + 0.15 * _apart(int(p["group"]), 8) * (blocks > 132)
        load = tk * (tm + tn) / 64 * reuse / min(1.0, intensity / 48)
        math_us = tm * tn * tk / 512 / min(1.0, warps / max(1.0, tm * tn / 2048)) * spill
        step = max(load, math_us) + min(load, math_us) / stages + 20 / tk * 8
        return waves * (math.ceil(k / tk) * step + 60 * stages)

    return Landscape(f"tiles {number}", space, time, ("tile_m", "tile_n"))


def rugged(number: int) -> Landscape:
    """Each knob's effect depends on two others in no way that can be foretold (an NK landscape)."""
    sizes = ((4, 5, 4, 5, 4, 4), (6, 6, 6, 6), (3,) * 8, (4, 8, 4, 8, 3))[number]
    names = [f"k{place}" for place in range(len(sizes))]
    hang = {name: stream(14, number, name).sample([n for n in names if n != name], 2) for name in names}
    space = _space(lambda _: True, **{name: tuple(range(size)) for name, size in zip(names, sizes, strict=True)})

    def time(p: Point) -> float | None:
        terms = (stream(14, number, name, p[name], *(p[other] for other in hang[name])).random() for name in names)
        drawn = stream(15, number, *(p[name] for name in names[:3])).random()
        return None if drawn < 0.08 and any(p.values()) else math.exp2(3 * sum(terms) / len(names))

    return Landscape(f"rugged {number}", space, time, ("k0", "k1"))
