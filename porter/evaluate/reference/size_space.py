"""Knows the points at which an operator may be asked, and which of them tell most for their cost.

An axis lies to a number in four ways: one over several of it, one over it, one under it, at it; and to a tile of
vectors, of which each thread takes several elements, by one vector over it. A point is worth the pairs of axis and
number that no point before it has, and costs what interpreting it takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import log2, prod
from random import Random

from porter.contract.model.contract import Contract, Workload
from porter.contract.model.expressions import evaluate, names_in
from porter.contract.model.validate import satisfies

Point = Mapping[str, int]  # a value for each axis, and for symbols that are not axes
Event = tuple[str, int, str]  # an axis, a number, how the axis lies to it

LARGEST = 1 << 17  # of the numbers: a larger one is not a tile
_MOST_ELEMENTS = 1 << 18  # of all tensors together
_MOST_OF_ALL_SIZES = 1 << 20  # which is as many elements as a result may have, that no contract tells of
_IN_ONE = 8  # elements of that take as long as one of a tensor
_LEAST = (1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 17, 32, 64, 128, 256)
_FEW = (2, 3, 5, 4, 7, 6)
_STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_TURNS = 4  # of a loop that one pass over a kernel's operations has about
_ALL = "all elements"  # of the largest tensor, which kernels without rows walk as one axis
_COMBINED = 800  # points at which several axes may be over a number
# What a tile is worth, which is a power of two, and a product: a thread takes several elements, a block several tiles.
TILE, PRODUCT = 1.0, 0.5
_LEAST_TILE = 16  # for smaller numbers, and those that are not tiles, only being over them counts
# A row of a vector more than a tile comes round a loop over vectors again, and has no rest: first of all, and whatever
# a product is worth, since a choice of element types has two points in all.
_WEIGHTS = {"over": 3.0, "just over": 1.0, "under": 0.8, "at": 0.2, "a vector over": 8.0}
_WHOLE_BITS = 5  # a number of fewer bits tells less: most sizes are next to it
_TOGETHER = 0.15  # is worth that two axes are over a number each
SPARE_MS = 3_500.0  # that one point may cost, whatever the budget
_CHEAP_MS = 100.0  # hardly more than a workload as such takes: such a point is asked beside any budget
_LEAST_GAIN = 0.0005  # a millisecond
_SAME_MS = 300.0  # are added to what each point costs: else many cheap ones come before any that costs much
# Milliseconds of a workload as such, of a row, of an operation for a row where a program is interpreted, of an element.
_WORKLOAD_MS, _ROW_MS, OPERATION_MS, _ELEMENT_MS = 40.0, 0.3, 0.04, 0.003


@dataclass(frozen=True, slots=True)
class Axis:
    """A symbol, or an argument of the operator, with values from `least` to `most`, and one of its own."""

    name: str
    least: int = 0
    most: int = 0
    own: int = 0

    @property
    def is_argument(self) -> bool:
        """Returns whether it is no symbol."""
        return self.most > 0


class SizeSpace:
    """The points over `axes`; whatever the workloads `alike` show is known.

    `numbers` says what each is worth, `vectors` are tiles of vectors with the elements of one, and a program of that
    many `operations` is interpreted for each row.
    """

    def __init__(
        self,
        contract: Contract,
        axes: Sequence[Axis],
        alike: Sequence[Workload],
        *,
        numbers: Mapping[int, float],
        vectors: Set[tuple[int, int]],
        operations: int,
        random: Random,
    ) -> None:
        self._contract = contract
        self._axes = axes
        self._numbers = numbers
        self._vectors = frozenset((tile, elements) for tile, elements in vectors if tile in numbers)
        self._worth = {n: worth * min(1.0, log2(n) / _WHOLE_BITS) for n, worth in numbers.items()}
        self._random = random
        self._row_ms = _ROW_MS + OPERATION_MS * operations
        self._seen: dict[tuple[str, int], frozenset[Event]] = {}
        extents = frozenset[str]().union(*(names_in(extent) for tensor in contract.tensors for extent in tensor.shape))
        columns = {tensor.shape[-1] for tensor in contract.tensors if len(tensor.shape) > 1}
        # Of one number a row, such as indices, beside a tensor with columns.
        self._singles = [bool(columns) and len(t.shape) == 1 and t.shape[0] not in columns for t in contract.tensors]
        self._loops = [axis.name for axis in axes if axis.name not in extents]
        given = {axis.name: axis.own for axis in axes if axis.is_argument}
        base = {**given, **alike[0].sizes}
        self._least = self._lowered(base, [_LEAST] * len(axes))
        self._few = self._lowered(
            self._least,
            [(axis.own,) if axis.is_argument else _FEW[index % len(_FEW) :] for index, axis in enumerate(axes)],
        )
        self._steps = {axis.name: self._step(axis.name) for axis in axes}
        self._asked = [{**given, **workload.sizes} for workload in alike]
        events = list(map(self._events, self._asked))
        self._known = {event for some in events for event in (*some, *_pairs(some))}

    def chosen(self, most: int, budget_ms: float) -> Iterator[Point]:
        """Yields the smallest point, and those that tell most for their cost, each beside those before it."""
        if self._least not in self._asked:
            yield self._least
        pool = [(point, self._cost(point), self._events(point)) for point in self._pool()]
        spare_ms = SPARE_MS
        for _ in range(most):
            pool = [
                p for p in pool if p[1] <= max(budget_ms, _CHEAP_MS) or (p[1] <= spare_ms and self._is_pressing(p[2]))
            ]
            gains = [(self._gain(events) / (_SAME_MS + cost), -index) for index, (_, cost, events) in enumerate(pool)]
            gain, index = max(gains, default=(0.0, 0))
            if gain < _LEAST_GAIN:
                return
            point, cost, events = pool[-index]
            if cost > max(budget_ms, _CHEAP_MS):
                spare_ms = 0.0
            elif cost > _CHEAP_MS:
                budget_ms -= cost
            self._known |= {*events, *_pairs(events)}
            yield point

    def _is_pressing(self, events: frozenset[Event]) -> bool:
        """Returns whether an axis is over a tile of the candidate's own as it never was."""
        new = (event for event in events - self._known if event[2] == "over" and event[0] != _ALL)
        return any(number >= _LEAST_TILE and self._numbers[number] > TILE for _, number, _ in new)

    def _gain(self, events: frozenset[Event]) -> float:
        alone = sum(self._worth[number] * _WEIGHTS[how] for _, number, how in events - self._known)
        return alone + _TOGETHER * sum(pair not in self._known for pair in _pairs(events))

    def _pool(self) -> list[Point]:
        """Returns points at which one axis is next to a number, and some at which several are over one."""
        over = {axis.name: self._over(axis.name) for axis in self._axes}
        values = {name: self._beside(name, found) for name, found in over.items()}
        points = [{**rest, name: v} for rest in (self._least, self._few) for name in values for v in values[name]]
        for _ in range(_COMBINED if len(values) > 1 else 0):
            some = {name: self._random.choice(v) for name, v in over.items() if v and self._random.random() < 0.5}
            points.append({**self._random.choice((self._least, self._few)), **some})
        unique = {tuple(sorted(point.items())): point for point in points}
        return [point for point in unique.values() if self._is_small(point) and self._allows(point)]

    def _over(self, name: str) -> list[int]:
        """Returns the least values beyond each number."""
        step, rest = self._steps[name], self._least[name] % self._steps[name]
        return sorted({_above(number, step, rest) for number in self._numbers})

    def _beside(self, name: str, over: Sequence[int]) -> list[int]:
        """Returns the values at each number, and on both sides of it."""
        step, rest = self._steps[name], self._least[name] % self._steps[name]
        under = {_above(number - 1, step, rest) - step for number in self._numbers}
        vectors = {tile + elements for tile, elements in self._vectors}
        return sorted(v for v in {*over, *under, *vectors, *self._numbers} if v > 0)

    def _lowered(self, start: Point, wishes: Sequence[Sequence[int]]) -> Point:
        """Returns `start` with each axis at its first allowed wish; tries twice, since they depend on each other."""
        point = start
        for axis, wished in 2 * list(zip(self._axes, wishes, strict=True)):
            tried = ({**point, axis.name: value} for value in wished)
            point = next(filter(self._allows, tried), point)
        return point

    def _step(self, name: str) -> int:
        """Returns how far an allowed value is from the next."""
        value = self._few[name]
        return next((step for step in _STEPS if self._allows({**self._few, name: value + step})), 1)

    def _allows(self, point: Point) -> bool:
        inside = all(axis.least <= point[axis.name] <= axis.most for axis in self._axes if axis.is_argument)
        return inside and satisfies(self._contract, self._sizes(point))

    def _sizes(self, point: Point) -> dict[str, int]:
        return {symbol: point[symbol] for symbol in self._contract.symbols}

    def _shapes(self, point: Point) -> list[tuple[int, ...]]:
        sizes = self._sizes(point)
        return [tuple(evaluate(extent, sizes) for extent in tensor.shape) for tensor in self._contract.tensors]

    def _is_small(self, point: Point) -> bool:
        is_small = prod(self._sizes(point).values()) <= _MOST_OF_ALL_SIZES
        return is_small and sum(map(prod, self._shapes(point))) <= _MOST_ELEMENTS

    def _cost(self, point: Point) -> float:
        """Estimates how long original and candidate take."""
        shapes = self._shapes(point)
        rows = max(
            (prod(s if one_each else s[:-1]) for s, one_each in zip(shapes, self._singles, strict=True)), default=1
        )
        turns = prod(max(1, point[name] // _TURNS) for name in self._loops)
        elements = max(sum(map(prod, shapes)), prod(self._sizes(point).values()) // _IN_ONE)
        return _WORKLOAD_MS + self._row_ms * rows * turns + _ELEMENT_MS * elements

    def _events(self, point: Point) -> frozenset[Event]:
        """Returns how each axis lies to each number."""
        found = [self._lie(axis.name, point[axis.name]) for axis in self._axes]
        if len(self._axes) > 1:
            found.append(self._lie(_ALL, max(map(prod, self._shapes(point)), default=1)))
        return frozenset[Event]().union(*found)

    def _lie(self, name: str, value: int) -> frozenset[Event]:
        if (name, value) not in self._seen:
            step = self._steps.get(name, 1)
            self._seen[name, value] = frozenset(
                (name, number, how)
                for number, worth in self._numbers.items()
                for how in _lies(value, number, step, is_tile=worth >= TILE and number >= _LEAST_TILE)
            ) | frozenset((name, tile, "a vector over") for tile, elements in self._vectors if value - tile == elements)
        return self._seen[name, value]


def _above(number: int, step: int, rest: int) -> int:
    """Returns the least value beyond `number` that leaves `rest` when divided by `step`."""
    return number + 1 + (rest - number - 1) % step


def _lies(value: int, number: int, step: int, *, is_tile: bool) -> Iterator[str]:
    """Yields how `value` lies to `number`; nothing where it is nowhere near."""
    if is_tile:
        yield from (how for how, lies in _beside(value, number, step).items() if lies)
    if value > number and 0 < value % number <= step:
        yield "over"


def _beside(value: int, number: int, step: int) -> dict[str, bool]:
    return {
        "at": value == number,
        "under": 0 < number - value <= step,
        "just over": 0 < value - number <= step,
    }


def _pairs(events: frozenset[Event]) -> list[tuple[Event, Event]]:
    """Returns pairs of axes that are over a number each."""
    over = sorted(event for event in events if event[2] == "over" and event[0] != _ALL)
    return [(one, other) for index, one in enumerate(over) for other in over[index + 1 :] if one[0] != other[0]]
