"""What a row is reduced to, and how the parts of a row are put together.

A reduction whose elements depend on another reduction of the same row takes a pass of its own, unless the two can be
found in one: the sum of squared deviations from a mean (Chan, Golub and LeVeque 1979), and the sum of exponentials less
their maximum (Milakov and Gimelshein 2018). Both are told by what they compute, not by how it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction

from porter.ir.tensor.expressions import Combine
from porter.schedule.loops import Apply, ArgReduce, Folding, Node, Number, Reduce, walk
from porter.schedule.nests import Nest, is_fold
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product


class Kind(Enum):
    """How the parts of a statistic are combined."""

    PLAIN = auto()
    PLACE = auto()
    MOMENTS = auto()
    EXPONENTIALS = auto()


@dataclass(frozen=True, slots=True)
class Statistic:
    """Reductions that are found together. Of several the later ones depend on the first.

    `element` is what each point of the row gives: the deviations and exponentials are those of `element`.
    """

    kind: Kind
    folds: tuple[Folding, ...]
    element: Node


def statistics(nest: Nest, *, in_one_pass: bool) -> tuple[tuple[Statistic, ...], ...]:
    """Returns the statistics of a nest by pass; those of a pass depend on those of passes before alone."""
    left = list(nest.folds)
    found: list[Statistic] = []
    while left:
        fold = left.pop(0)
        statistic = _pair(fold, left, nest) if in_one_pass else None
        if statistic is None:
            kind = Kind.PLACE if isinstance(fold, ArgReduce) else Kind.PLAIN
            statistic = Statistic(kind, (fold,), fold.key if isinstance(fold, ArgReduce) else fold.body)
        for other in statistic.folds[1:]:
            left.remove(other)
        found.append(statistic)
    return _by_pass(found)


def _by_pass(found: Sequence[Statistic]) -> tuple[tuple[Statistic, ...], ...]:
    passes: dict[Folding, int] = {}
    rows: list[list[Statistic]] = []
    for statistic in found:
        used = {n for fold in statistic.folds for n in walk(fold) if is_fold(n)} - set(statistic.folds)
        number = max((passes[fold] + 1 for fold in used if fold in passes), default=0)
        passes.update(dict.fromkeys(statistic.folds, number))
        rows += [[] for _ in range(number + 1 - len(rows))]
        rows[number].append(statistic)
    return tuple(map(tuple, rows))


def _pair(first: Folding, others: Sequence[Folding], nest: Nest) -> Statistic | None:
    """Returns `first` and one of `others` as one statistic; None where there is none such."""
    if not isinstance(first, Reduce):
        return None
    count = product(loop.extent for loop in nest.columns)
    for other in others:
        if not isinstance(other, Reduce) or other.combine is not Combine.SUM:
            continue
        match first.combine, other.body:
            case Combine.SUM, Apply("power", (base, Number(quantity))) if quantity.constant == 2:
                terms = _linear(base)
                element = _linear(first.body)
                scale = _scale(terms, element, first)
                if scale is not None and terms.get(first) == -scale.over(count):
                    return Statistic(Kind.MOMENTS, (first, other), first.body)
            case Combine.MAXIMUM, Apply("exp", (base,)):
                terms, element = _linear(base), _linear(first.body)
                scale = _scale(terms, element, first)
                if scale == Polynomial.of(1) and terms.get(first) == Polynomial.of(-1):
                    return Statistic(Kind.EXPONENTIALS, (first, other), first.body)
    return None


def _scale(terms: dict[Node, Polynomial], element: dict[Node, Polynomial], first: Node) -> Polynomial | None:
    """Returns the factor by which all `terms` but that in `first` are those of `element`; None where there is none."""
    rest = {node: factor for node, factor in terms.items() if node != first}
    if set(rest) != set(element) or not element:
        return None
    for sign in (1, -1):
        if all(rest[node] == element[node] * Polynomial.of(sign) for node in element):
            return Polynomial.of(sign)
    return None


def _linear(node: Node) -> dict[Node, Polynomial]:
    """Returns `node` as a sum of other nodes times factors that depend on sizes alone."""
    found: dict[Node, Polynomial] = {}

    def add(one: Node, factor: Polynomial) -> None:
        match one:
            case Apply("add", operands):
                for operand in operands:
                    add(operand, factor)
            case Apply("subtract", (left, right)):
                add(left, factor)
                add(right, -factor)
            case Apply("negate", (operand,)):
                add(operand, -factor)
            case Apply("multiply", operands):
                rest = [operand for operand in operands if not isinstance(operand, Number)]
                own = product(Polynomial.of_quantity(n.quantity) for n in operands if isinstance(n, Number))
                if len(rest) == 1:
                    add(rest[0], factor * own)
                else:
                    keep(one, factor)
            case Apply("divide", (above, Number(quantity))):
                add(above, factor.over(Polynomial.of_quantity(quantity)))
            case _:
                keep(one, factor)

    def keep(one: Node, factor: Polynomial) -> None:
        total = found.get(one, Polynomial()) + factor
        if total.terms:
            found[one] = total
        else:
            found.pop(one, None)

    try:
        add(node, Polynomial.of(Fraction(1)))
    except NotSchedulableError:
        return {node: Polynomial.of(1)}
    return found
