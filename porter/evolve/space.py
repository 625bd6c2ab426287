"""Defines spaces of candidates: named knobs with their values, which of them go together, and each point's files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from random import Random

from porter.evolve.candidate import Candidate, File, Origin, Value

AS_IS = "as it is"  # the value of a knob that is not turned
Point = Mapping[str, Value]
_MOST_DRAWS = 200  # for one legal point; a space with next to none must not hang a search


@dataclass(frozen=True, slots=True)
class Knob:
    """A choice. `values` are all there are, including `default`; numbers are in order."""

    name: str
    values: tuple[Value, ...]
    default: Value

    def __post_init__(self) -> None:
        """Raises `ValueError` for a default that is no value, and for values that stand there twice."""
        if self.default not in self.values or len(set(self.values)) != len(self.values):
            raise ValueError(f"{self.name}: {self.values} with default {self.default!r}")

    def near(self, value: Value) -> tuple[Value, ...]:
        """Returns the values next to `value`: words are next to everything, numbers to the numbers around them."""
        numbers = sorted(v for v in self.values if isinstance(v, int))
        if isinstance(value, str):
            return tuple(v for v in self.values if v != value)
        beside = {b for a, b in pairwise(numbers) if a == value} | {a for a, b in pairwise(numbers) if b == value}
        return tuple(v for v in self.values if isinstance(v, str) or v in beside)


def _always(point: Point) -> bool:  # noqa: ARG001 - the predicate of a space in which everything goes together
    return True


@dataclass(frozen=True)
class Space:
    """Points over `knobs`, in their order. It only returns legal points: of the knobs' values, and allowed by `allows`.

    `lower` returns a point's files; None where they cannot be made.
    """

    knobs: tuple[Knob, ...]
    lower: Callable[[Point], tuple[File, ...] | None]
    allows: Callable[[Point], bool] = _always

    def seed(self) -> Point:
        """Returns the point at which no knob is turned."""
        return {knob.name: knob.default for knob in self.knobs}

    def legal(self, point: Point) -> bool:
        """Returns whether `point` has a value for each knob and nothing else, and they go together."""
        return (
            point.keys() == self._names
            and all(point[knob.name] in knob.values for knob in self.knobs)
            and self.allows(point)
        )

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(knob.name for knob in self.knobs)

    def neighbours(self, point: Point) -> Iterator[Point]:
        """Yields the legal points that differ from `point` in one knob by one step, in the order of the knobs."""
        for knob in self.knobs:
            for value in knob.near(point[knob.name]):
                if self.legal(other := {**point, knob.name: value}):
                    yield other

    def sample(self, random: Random) -> Point | None:
        """Returns a legal point, with each value of a knob equally likely; None where none was found."""
        return self._drawn(lambda: {knob.name: random.choice(knob.values) for knob in self.knobs})

    def mutated(self, point: Point, random: Random) -> Point | None:
        """Returns a legal point in which one to three knobs of `point` are turned; None where none was found."""
        if not self.knobs:
            return None

        def draw() -> Point:
            turned = random.sample(self.knobs, min(len(self.knobs), random.choice((1, 1, 2, 3))))
            chosen = {k.name: random.choice([v for v in k.values if v != point[k.name]] or k.values) for k in turned}
            return {**point, **chosen}

        return self._drawn(draw)

    def crossed(self, one: Point, other: Point, random: Random) -> Point | None:
        """Returns a legal point with each knob as in one of two others; None where none was found."""
        return self._drawn(lambda: {k.name: random.choice((one, other))[k.name] for k in self.knobs})

    def candidate(self, point: Point, origin: Origin) -> Candidate | None:
        """Returns the candidate at `point`; None where the point is not legal or cannot be lowered."""
        files = self.lower(point) if self.legal(point) else None
        return None if files is None else Candidate(files, origin, dict(point))

    def told(self, before: Point, after: Point) -> str:
        """Says in words which knobs went from what to what."""
        turned = [k.name for k in self.knobs if before[k.name] != after[k.name]]
        return ", ".join(f"{name}: {before[name]} -> {after[name]}" for name in turned) or "nothing turned"

    def _drawn(self, draw: Callable[[], Point]) -> Point | None:
        return next((point for point in (draw() for _ in range(_MOST_DRAWS)) if self.legal(point)), None)
