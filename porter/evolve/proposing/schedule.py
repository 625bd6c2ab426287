"""Proposes candidates from spaces: around the seed, then by turning knobs, by crossing two points, by small steps.

It keeps no state. The request says what was proposed before, and every choice is drawn from its own seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.proposer import Member, Request
from porter.evolve.space import Point, Space

NAME = "schedule"
_MOST_TRIED = 60  # points for one candidate: most points that are drawn late are known already
_STEP, _TURN, _CROSS = 0.4, 0.75, 0.95  # the shares of steps, turns and crossings of two; the rest is drawn at large


@dataclass(frozen=True, slots=True)
class _Draw:
    """A point that is tried: the candidate it comes from, and another one where two were crossed."""

    point: Point
    parent: Member
    other: Member | None = None


class ScheduleProposer:
    """Walks through the space of the seed, and through the space of any other candidate's own text."""

    name = NAME

    def __init__(self, space: Space, space_of: Callable[[Sequence[File]], Space]) -> None:
        self._space = space
        self._space_of = space_of

    def propose(self, request: Request) -> Sequence[Candidate]:
        """Returns at most `count` candidates that the search has not seen; fewer where drawn ones are known already."""
        random = Random(request.seed)
        found: dict[str, Candidate] = {}
        for parent in request.parents[:1]:
            space, at = self._place(parent)
            draws = self._draws(request, parent, space, at, random)
            for draw in draws:
                candidate = self._candidate(space, at, draw)
                if candidate and candidate.digest not in request.seen and candidate.digest not in found:
                    found[candidate.digest] = candidate
                if len(found) == request.count:
                    break
        return tuple(found.values())

    def _place(self, parent: Member) -> tuple[Space, Point]:
        """Returns the space in which the parent is a point: that of the seed, or of any other text its own."""
        point = parent.candidate.point
        if self._space.knobs and self._space.legal(point):
            return self._space, point
        space = self._space_of(parent.candidate.files)
        return space, space.seed()

    def _candidate(self, space: Space, at: Point, draw: _Draw) -> Candidate | None:
        parents = (draw.parent, *([draw.other] if draw.other else []))
        crossed = f" (with {draw.other.candidate.digest})" if draw.other else ""
        note = space.told(at, draw.point) + crossed
        made = space.candidate(draw.point, Origin(NAME, tuple(p.candidate.digest for p in parents), note))
        if made is None or space is self._space:
            return made
        # A point of another space means nothing in that of the search.
        return Candidate(made.files, made.origin)

    def _draws(self, request: Request, parent: Member, space: Space, at: Point, random: Random) -> Iterator[_Draw]:
        """Yields points to try, those around the seed first and in order, each once."""
        tried = {frozenset(at.items())}
        for draw in self._all(request, parent, space, at, random):
            point = frozenset(draw.point.items())
            if point not in tried:
                tried.add(point)
                yield draw

    def _all(self, request: Request, parent: Member, space: Space, at: Point, random: Random) -> Iterator[_Draw]:
        if at == space.seed():
            near = list(space.neighbours(at))
            random.shuffle(near)
            yield from (_Draw(point, parent) for point in near)
        others = [m for m in request.parents[1:] if space is self._space and space.legal(m.candidate.point)]
        for _ in range(_MOST_TRIED * request.count):
            kind = random.random()
            point, other = None, None
            if kind < _STEP:
                near = list(space.neighbours(at))
                point = random.choice(near) if near else None
            elif kind < _TURN or (kind < _CROSS and not others):
                point = space.mutated(at, random)
            elif kind < _CROSS:
                other = random.choice(others)
                point = space.crossed(at, other.candidate.point, random)
            else:
                point = space.sample(random)
            if point is not None:
                yield _Draw(point, parent, other)
