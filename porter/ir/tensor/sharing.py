"""Finds subexpressions that are one and the same, whatever their bound coordinates are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from porter.ir.tensor.expressions import (
    ArgReduce,
    Expression,
    Extent,
    Gathered,
    Number,
    Pointwise,
    Position,
    Range,
    Read,
    Reduce,
)
from porter.ir.tensor.quantities import Affine, Floor
from porter.ir.tensor.traversal import Reduction, affines, coordinates, operands, unbound

_Levels = Mapping[str, int]  # coordinates bound around a subexpression, by how many others are bound around them
_Key = tuple[object, ...]


class Sharing:
    """The subexpressions of `root` by number; two have one number where they are equal up to renaming.

    Only coordinates that a subexpression binds itself may be renamed: what depends on another coordinate differs.
    """

    def __init__(self, root: Expression) -> None:
        self.root = root
        self._coordinates: dict[int, frozenset[str]] = {}  # by the identity of a part of `root`, which stays alive
        self._classes: dict[_Key, int] = {}
        self._numbers: dict[_Key, int] = {}
        self._places = Counter({self.number(root): 1})
        for expression in self.subexpressions():
            self._places.update(self.number(operand) for operand in operands(expression))

    def number(self, expression: Expression) -> int:
        """Returns the number of a part of the root."""
        return self._number(expression, {})

    def places(self, expression: Expression) -> int:
        """Returns in how many places a part of the root occurs, where equal parts around it count once."""
        return self._places[self.number(expression)]

    def subexpressions(self) -> Iterator[Expression]:
        """Yields one part of the root for each number, operands before what is made of them."""
        seen: set[int] = set()

        def parts(expression: Expression) -> Iterator[Expression]:
            if self.number(expression) not in seen:
                seen.add(self.number(expression))
                for operand in operands(expression):
                    yield from parts(operand)
                yield expression

        yield from parts(self.root)

    def coordinates(self, expression: Expression) -> frozenset[str]:
        """Returns the coordinates that a part of the root depends on."""
        known = self._coordinates.get(id(expression))
        if known is None:
            within = frozenset[str]().union(*(self.coordinates(operand) for operand in operands(expression)))
            if isinstance(expression, Reduction):
                known = unbound(expression.ranges, within)
            else:
                known = within | coordinates(affines(expression))
            self._coordinates[id(expression)] = known
        return known

    def _number(self, expression: Expression, levels: _Levels) -> int:
        used = self.coordinates(expression)
        levels = {name: level for name, level in levels.items() if name in used}
        place = (id(expression), *sorted(levels.items()))
        if place not in self._numbers:
            self._numbers[place] = self._classes.setdefault(self._key(expression, levels), len(self._classes))
        return self._numbers[place]

    def _key(self, expression: Expression, levels: _Levels) -> _Key:
        match expression:
            case Read(tensor, indices):
                gathered = tuple(
                    self._number(index.value, levels) if isinstance(index, Gathered) else None for index in indices
                )
                return (Read, tensor, *(_affine(affine, levels) for affine in affines(expression)), gathered)
            case Pointwise(op, values):
                return (Pointwise, op, *(self._number(value, levels) for value in values))
            case Reduce() | ArgReduce():
                return self._reduction(expression, levels)
            case Number(quantity):
                return (Number, quantity)
            case Position(affine):
                return (Position, _affine(affine, levels))

    def _reduction(self, expression: Reduction, levels: _Levels) -> _Key:
        inner = dict(levels)
        ranges = []
        for extent in expression.ranges:
            ranges.append(_extent(extent, inner))
            inner[extent.name] = max(inner.values(), default=-1) + 1
        numbers = (self._number(operand, inner) for operand in operands(expression))
        precision = expression.precision if isinstance(expression, Reduce) else None
        return (type(expression), expression.combine, precision, tuple(ranges), *numbers)


def _affine(affine: Affine, levels: _Levels) -> object:
    def renamed(term: str | Floor) -> object:
        if isinstance(term, Floor):
            return (levels.get(term.coordinate, term.coordinate), term.divisor)
        return levels.get(term, term)

    return (affine.constant, frozenset((renamed(term), coefficient) for term, coefficient in affine.terms))


def _extent(extent: Extent, levels: _Levels) -> object:
    if isinstance(extent, Range):
        return (_affine(extent.lower, levels), _affine(extent.upper, levels))
    return (_affine(extent.start, levels), extent.step, extent.count, extent.extent)
