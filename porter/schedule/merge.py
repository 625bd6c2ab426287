"""Makes one loop of two that run through memory one after the other, wherever they are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from porter.schedule.linear import Linear
from porter.schedule.loops import ArgReduce, Loop, Node, Reduce, Result, places, rewritten, walk, with_places
from porter.schedule.polynomial import Polynomial


def merged(results: Sequence[Result], groups: Sequence[tuple[str, ...]]) -> tuple[Result, ...]:
    """Returns `results` with as few loops as they need; only loops that follow each other in a group become one.

    Loops of one name are one loop, in the outputs and in reductions: they are merged in all of them or in none.
    """
    current = tuple(map(without_single_points, results))
    for group in groups:
        names = list(group)
        while (pair := _pair(current, names)) is not None:
            outer, inner = pair
            current = tuple(_joined(result, outer, inner) for result in current)
            names.remove(outer)
    return current


def _pair(results: Sequence[Result], names: Sequence[str]) -> tuple[str, str] | None:
    """Returns two loops that can be one."""
    extents: dict[str, Polynomial] = {}
    found: list[Linear] = []
    for result in results:
        found.append(result.place)
        extents.update((loop.name, loop.extent) for loop in result.loops)
        for node in walk(result.body):
            found += places(node)
            if isinstance(node, Reduce | ArgReduce):
                extents.update((loop.name, loop.extent) for loop in node.loops)
    for outer, inner in pairwise(name for name in names if name in extents):
        if all(place.coefficient(outer) == place.coefficient(inner) * extents[inner] for place in found):
            return outer, inner
    return None


@dataclass(frozen=True, slots=True)
class _Dropped:
    """The loops of a reduction or output without one, whose points the next one takes over."""

    outer: str
    inner: str

    def loops(self, loops: tuple[Loop, ...]) -> tuple[Loop, ...]:
        extents = {loop.name: loop.extent for loop in loops}
        if self.outer not in extents:
            return loops
        return tuple(
            replace(loop, extent=loop.extent * extents[self.outer]) if loop.name == self.inner else loop
            for loop in loops
            if loop.name != self.outer
        )


def _joined(result: Result, outer: str, inner: str) -> Result:
    dropped = _Dropped(outer, inner)
    body = with_places(_with_loops(result.body, dropped), lambda place: place.without((outer,)))
    return replace(result, loops=dropped.loops(result.loops), place=result.place.without((outer,)), body=body)


def _with_loops(node: Node, dropped: _Dropped) -> Node:
    def rule(one: Node) -> Node:
        return replace(one, loops=dropped.loops(one.loops)) if isinstance(one, Reduce | ArgReduce) else one

    return rewritten(node, rule)


def without_single_points(result: Result) -> Result:
    """Returns the result without loops over one point."""
    single = [loop.name for loop in result.loops if loop.extent == Polynomial.of(1)]
    return replace(
        result,
        loops=tuple(loop for loop in result.loops if loop.name not in single),
        place=result.place.without(single),
        body=with_places(result.body, lambda place: place.without(single)),
    )


def extents_of(result: Result) -> Mapping[str, Polynomial]:
    """Returns the extent of each loop of an output."""
    return {loop.name: loop.extent for loop in result.loops}
