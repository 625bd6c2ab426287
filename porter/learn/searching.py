"""porter's model-free search as an arm of the study: kriging over the schedules of one operator, from the first on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from random import Random

from porter.evolve.candidate import File, Origin, Value
from porter.evolve.proposer import Member, Request
from porter.evolve.proposing.kriging import KrigingProposer
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.space import Knob, Point, Space
from porter.learn.arms import Chooser, InOrder, Told
from porter.learn.landscape import Landscape
from porter.schedule.schedule import Schedule


@dataclass(frozen=True)
class Searched:
    """Begins with the schedule that porter would try first, and asks `KrigingProposer` for each that follows.

    Where it is not `in_order` it begins with a drawn one.
    """

    in_order: bool = True

    def begin(self, landscape: Landscape, draw: Random) -> Chooser:
        """Returns who searches; where kriging has nothing to propose the order is followed, or draws go on."""
        own = landscape if self.in_order else replace(landscape, order=())
        return _Searching(landscape, draw, InOrder().begin(own, draw))


@dataclass(frozen=True)
class _Searching:
    landscape: Landscape
    draw: Random
    in_order: Chooser

    def chosen(self, told: Sequence[Told]) -> int:
        if not told:
            return self.in_order.chosen(told)
        history = tuple(map(self._member, told))
        seen = frozenset(member.candidate.digest for member in history)
        request = Request(1, 1, 0, self.draw.getrandbits(63), (), (), history=history, seen=seen)
        for candidate in KrigingProposer(self._space).propose(request):
            return self._places[_key(candidate.point)]
        return self.in_order.chosen(told)

    def _member(self, one: Told) -> Member:
        place, microseconds = one
        candidate = self._space.candidate(self._points[place], Origin("schedule"))
        assert candidate is not None
        if microseconds is None:
            return Member(candidate, Scored(candidate.digest, "crashed", "it did not run"))
        factor = 1.0 / microseconds  # over one microsecond: kriging looks at ratios alone
        return Member(
            candidate, Scored(candidate.digest, "verified", "", Score(Measure.NATIVE, factor, factor, factor))
        )

    @cached_property
    def _points(self) -> tuple[Point, ...]:
        """Returns the choices as points, whose knobs are what differs between them."""
        points = [_point(one.schedule) for one in self.landscape.choices]
        differ = [name for name in points[0] if len({point[name] for point in points}) > 1]
        return tuple({name: point[name] for name in differ} for point in points)

    @cached_property
    def _places(self) -> Mapping[tuple[Value, ...], int]:
        return {_key(point): place for place, point in enumerate(self._points)}

    @cached_property
    def _space(self) -> Space:
        first = self._points[0]
        values = {name: tuple(dict.fromkeys(point[name] for point in self._points)) for name in first}
        knobs = (Knob(name, own, first[name]) for name, own in values.items())
        return Space(tuple(knobs), _files, lambda point: _key(point) in self._places)


def _files(point: Point) -> tuple[File, ...]:
    """Returns the point as a file, so that candidates are told apart."""
    return (File("schedule", repr(sorted(point.items()))),)


def _point(schedule: Schedule) -> dict[str, Value]:
    values = {field.name: getattr(schedule, field.name) for field in fields(Schedule)}
    return {name: int(value) if isinstance(value, int) else str(value) for name, value in values.items()}


def _key(point: Point) -> tuple[Value, ...]:
    return tuple(point[name] for name in sorted(point))
