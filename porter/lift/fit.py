"""Reads forms at all points of an output as one expression over coordinates, at the sizes of one probe."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from random import Random

import numpy as np

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import (
    ArgReduce,
    Combine,
    Expression,
    Extent,
    Gathered,
    Number,
    Pointwise,
    Position,
    Read,
    Reduce,
)
from porter.ir.tensor.quantities import Affine, Quantity
from porter.ir.tensor.traversal import affines, coordinates
from porter.lift import forms as kinds
from porter.lift.affine import Points, fitted
from porter.lift.forms import MAXIMUM, MINIMUM, PRODUCT, SUM, Form, Forms, Weighted
from porter.lift.items import COMBINED, Items, gathered_term
from porter.lift.nodes import INFINITE, Exact, NotLiftedError
from porter.lift.regions import Region, region

_MOST_POINTS = 500
_MOST_ITEMS = 12_000  # of reductions, at all points together
_LEAST_POINTS = 64
_ONE = Number(Quantity.of(1))
_NO_WEIGHT = "the weights of a sum are not an affine function of the coordinates"
_COMBINES = {SUM: Combine.SUM, PRODUCT: Combine.PRODUCT, MAXIMUM: Combine.MAXIMUM, MINIMUM: Combine.MINIMUM}
_JOINED = {SUM: "add", PRODUCT: "multiply", MAXIMUM: "maximum", MINIMUM: "minimum"}


@dataclass(frozen=True)
class FittedPart:
    """The items of one skeleton as an expression; `weight` is a factor in a sum, an exponent in a product."""

    weight: Expression
    body: Expression


class Fitter:
    """Fits expressions to forms; `shapes` are the extents of the inputs."""

    def __init__(self, forms: Forms, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._forms = forms
        self._items = Items(forms, shapes)
        self._names = (f"k{number}" for number in itertools.count())

    def output(self, points: Points, of: Sequence[Form]) -> Expression:
        """Returns the expression whose value at each of `points` is the form there.

        Raises `NotLiftedError` where there is none.
        """
        return self._expression(points, of)

    def _expression(self, points: Points, of: Sequence[Form]) -> Expression:
        if len(of) > _MOST_POINTS:  # of the items of reductions
            rows = sorted(Random(len(of)).sample(range(len(of)), _MOST_POINTS))
            points, of = points.at(rows), [of[row] for row in rows]
        found = {self._forms.kind(form) for form in of}
        if kinds.UNDEFINED in found:
            raise NotLiftedError("a value that the source leaves undefined is stored")
        combined = [kind for kind in COMBINED if kind in found]
        if not combined and len(found) > 1:
            combined = [SUM] if kinds.NUMBER in found else []
        if combined:
            return self._first_of(combined, points, of)
        if len(found) > 1:
            raise NotLiftedError(f"elements are computed in different ways ({', '.join(sorted(found))})")
        return self._single(found.pop(), points, of)

    def _first_of(self, combined: Sequence[str], points: Points, of: Sequence[Form]) -> Expression:
        """Reads forms as the first kind that fits: a form that is not combined is a sum or an extreme of itself."""
        for kind in combined[:-1]:
            try:
                return self._combined(kind, points, of)
            except NotLiftedError:
                continue
        return self._combined(combined[-1], points, of)

    def _single(self, kind: str, points: Points, of: Sequence[Form]) -> Expression:
        match kind:
            case kinds.NUMBER:
                return self._number(points, of)
            case kinds.READ:
                return self._read(points, of)
            case kinds.GATHER:
                return self._gather(points, of)
            case kinds.ARGUMENT:
                return self._argument(points, of)
        columns = zip(*(self._forms.operands(form) for form in of), strict=True)
        return Pointwise(kind, tuple(self._expression(points, column) for column in columns))

    def _number(self, points: Points, of: Sequence[Form]) -> Expression:
        values = [self._forms.value(form) for form in of]
        exact = [value for value in values if isinstance(value, Fraction)]
        if len(exact) != len(values):
            return _infinity(set(values))
        return _position(points, exact, "numbers are not an affine function of the place where they stand")

    def _read(self, points: Points, of: Sequence[Form]) -> Expression:
        keys = [self._forms[form] for form in of]
        tensors = {key.tensor for key in keys if isinstance(key, kinds.Read)}
        if len(tensors) > 1:
            raise NotLiftedError(f"one place reads different tensors ({', '.join(sorted(tensors))})")
        return Read(
            tensors.pop(), self._indices(points, [[index for index, _ in self._items.places(form)] for form in of])
        )

    def _indices(self, points: Points, rows: Sequence[Sequence[int]]) -> tuple[Affine, ...]:
        found = [fitted(points, column) for column in zip(*rows, strict=True)]
        if None in found:
            raise NotLiftedError("an index is not an affine function of the coordinates")
        return tuple(affine for affine in found if affine is not None)

    def _gather(self, points: Points, of: Sequence[Form]) -> Expression:
        keys = [key for key in (self._forms[form] for form in of) if isinstance(key, kinds.Gather)]
        shape = self._items.shapes[keys[0].tensor]
        linear = [self._forms.linear(key.place) for key in keys]
        data = [gathered_term(self._forms, key.place) for key in keys]
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        weights = {terms[0][1] for _, terms in linear}
        if len({key.tensor for key in keys}) > 1 or len(weights) > 1 or (weight := weights.pop()) not in strides:
            raise NotLiftedError("an address that data decide is not an index of one axis")
        axis = max(a for a, stride in enumerate(strides) if stride == weight)
        if any(not 0 <= constant < prod(shape) for constant, _ in linear):
            raise NotLiftedError("an address that data decide begins outside of its input")
        places = [tuple(map(int, np.unravel_index(int(constant), shape))) for constant, _ in linear]
        plain = self._indices(points, places)
        value = self._expression(points, data)
        return Read(keys[0].tensor, (*plain[:axis], Gathered(plain[axis], value), *plain[axis + 1 :]))

    def _argument(self, points: Points, of: Sequence[Form]) -> Expression:
        keys = [key for key in (self._forms[form] for form in of) if isinstance(key, kinds.Argument)]
        if len({key.extreme for key in keys}) > 1:
            raise NotLiftedError("an arg-maximum and an arg-minimum are mixed")
        inner = region(self._items, points, [[own for own, _ in key.pairs] for key in keys], self._names)
        pairs = [pair for key in keys for pair in key.pairs]
        _check_order([len(key.pairs) for key in keys], inner.points.values[:, len(points.names) :].tolist())
        key_of = self._expression(inner.points, [own for own, _ in pairs])
        payload = self._expression(inner.points, [told for _, told in pairs])
        return ArgReduce(_COMBINES[keys[0].extreme], inner.ranges, key_of, payload)

    def _combined(self, kind: str, points: Points, of: Sequence[Form]) -> Expression:
        split = [self._items.split(form, kind) for form in of]
        parts = sorted({part for _, own in split for part in own})
        precision = next((self._forms.precision[form] for form in of if form in self._forms.precision), DType.FLOAT32)
        told = [
            self._weighted(kind, self._part(kind, points, [own.get(part, []) for _, own in split], precision))
            for part in parts
        ]
        constants = [constant for constant, _ in split]
        if any(constants):
            told.append(
                _position(points, constants, "numbers are not an affine function of the place where they stand")
            )
        return told[0] if len(told) == 1 else Pointwise(_JOINED[kind], tuple(told))

    def _part(self, kind: str, points: Points, lists: Sequence[Sequence[Weighted]], precision: DType) -> FittedPart:
        """Returns the items of one skeleton: one at each point, or a reduction over those of each."""
        if all(len(own) == 1 for own in lists):
            try:
                body = self._expression(points, [own[0][0] for own in lists])
                return FittedPart(_position(points, [own[0][1] for own in lists], _NO_WEIGHT), body)
            except NotLiftedError:  # windows of one element everywhere
                pass
        points, lists = _fewer(points, lists)
        inner = region(self._items, points, [[item for item, _ in own] for own in lists], self._names)
        return self._reduced(kind, inner, [one for own in lists for one in own], precision)

    def _reduced(self, kind: str, inner: Region, items: Sequence[Weighted], precision: DType) -> FittedPart:
        body = self._expression(inner.points, [item for item, _ in items])
        reduced = Reduce(_COMBINES[kind], inner.ranges, body, precision)
        weights = [own for _, own in items]
        try:
            weight = _position(inner.points, weights, _NO_WEIGHT)
        except NotLiftedError:
            share = inner.common_share(weights) if kind == SUM else None
            if share is None:
                raise
            count = Reduce(Combine.SUM, inner.ranges, Number(Quantity.of(1)), precision)
            return FittedPart(Number(Quantity.of(share)), Pointwise("divide", (reduced, count)))
        if kind == PRODUCT or _depends(weight, inner.ranges):
            body = self._weighted(kind, FittedPart(weight, body))
            return FittedPart(_ONE, replace(reduced, body=body))
        return FittedPart(weight, reduced)

    def _weighted(self, kind: str, part: FittedPart) -> Expression:
        if part.weight == _ONE or kind in (MAXIMUM, MINIMUM):
            return part.body
        return Pointwise("power", (part.body, part.weight)) if kind == PRODUCT else _times(part)


def _infinity(values: set[Exact | None]) -> Expression:
    """Returns an infinity, which the logarithm of 0 is. Raises `NotLiftedError` where values are not one infinity."""
    if len(values) > 1:
        raise NotLiftedError("a number is infinite in some elements")
    lowest = Pointwise("log", (Number(Quantity.of(0)),))
    return lowest if values.pop() == -INFINITE else Pointwise("negate", (lowest,))


def _fewer(points: Points, lists: Sequence[Sequence[Weighted]]) -> tuple[Points, Sequence[Sequence[Weighted]]]:
    """Returns some of the points, where their reductions have more items than it takes to read the indices off."""
    count = sum(map(len, lists))
    most = max(_LEAST_POINTS, len(lists) * _MOST_ITEMS // max(count, 1))
    if len(lists) <= most:
        return points, lists
    rows = sorted(Random(len(lists)).sample(range(len(lists)), most))
    return points.at(rows), [lists[row] for row in rows]


def _check_order(counts: Sequence[int], places: Sequence[tuple[int, ...]]) -> None:
    """Raises `NotLiftedError` where among equal keys, one other than the first is taken."""
    ends = list(itertools.accumulate(counts))
    for begin, end in zip([0, *ends], ends, strict=False):
        if list(places[begin:end]) != sorted(places[begin:end]):
            raise NotLiftedError("among equal keys, one other than the first is taken")


def _times(part: FittedPart) -> Expression:
    own = part.body.operands if isinstance(part.body, Pointwise) and part.body.op == "multiply" else (part.body,)
    return Pointwise("multiply", (part.weight, *own))


def _depends(number: Expression, ranges: Sequence[Extent]) -> bool:
    """Returns whether a number that was fitted depends on a coordinate of `ranges`."""
    inner = number.operands if isinstance(number, Pointwise) else (number,)
    used = coordinates(affine for part in inner for affine in affines(part))
    return any(extent.name in used for extent in ranges)


def _position(points: Points, numbers: Sequence[Fraction], otherwise: str) -> Expression:
    """Returns numbers as an affine function of the coordinates, or as one over one: `1 / (j + 1)`.

    Raises `NotLiftedError` with the text `otherwise` where they are neither.
    """
    affine = fitted(points, numbers)
    if affine is not None:
        return Position(affine) if affine.terms else Number(Quantity(affine.constant.factor))
    inverse = fitted(points, [1 / number for number in numbers]) if all(numbers) else None
    if inverse is None:
        raise NotLiftedError(otherwise)
    return Pointwise("power", (Position(inverse), Number(Quantity.of(-1))))
