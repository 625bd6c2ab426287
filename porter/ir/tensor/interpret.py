"""The meaning of a tensor program, on torch.

An expression is computed for all points of the coordinates that it depends on at once (`coordinates.py` has the points,
`values.py` the tensors, `arithmetic.py` the operations). A reduction whose range ends where another coordinate says is
a running sum or extreme where what it reduces does not depend on that coordinate; else it is computed at all points, of
which some are left out. What would be too large is computed in pieces. What lies outside of an input is never used: a
place is an error only where its value is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import prod

import torch

from porter.contract.model.dtype import DType
from porter.ir.tensor.arithmetic import apply
from porter.ir.tensor.coordinates import Axis, Coordinates, Scope
from porter.ir.tensor.expressions import (
    ArgReduce,
    Combine,
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
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Sizes
from porter.ir.tensor.sharing import Sharing
from porter.ir.tensor.traversal import Reduction, bounds, coordinates, operands
from porter.ir.tensor.values import (
    FOLDS,
    Fault,
    Value,
    at_fault,
    elementwise,
    first_extreme,
    folded,
    folded_up_to,
    joined,
    masked,
    numeric,
    spread,
    take,
)

# The most points at which an expression is computed at once: 32 MB in float64, of which a handful exist at a time.
MOST_POINTS = 1 << 22


def interpret(
    program: TensorProgram,
    arguments: Mapping[str, torch.Tensor],
    sizes: Sizes,
    shapes: Mapping[str, tuple[int, ...]],
    precision: torch.dtype = torch.float64,
) -> dict[str, torch.Tensor]:
    """Returns the outputs of a well-formed `program` for `arguments`, by name.

    `sizes` has the value of each symbol and parameter, `shapes` the extents of each output; all that is no integer is
    computed in `precision`. Raises `IndexError` where a needed element lies outside of an input or an extreme is sought
    among no elements, `ZeroDivisionError` where a needed integer is divided by 0, and `ValueError` where an argument
    has another rank than its input, or a window moves by a fraction.
    """
    device = next((tensor.device for tensor in arguments.values()), torch.device("cpu"))
    inputs = {}
    for tensor in program.inputs:
        given = arguments[tensor.name]
        if given.dim() != len(tensor.shape):
            raise ValueError(f"'{tensor.name}' has {given.dim()} axes instead of {len(tensor.shape)}")
        inputs[tensor.name] = _in_precision(given, precision)
    at = Coordinates(sizes, precision, device)
    return {
        output.name: _Evaluation(inputs, at, precision, output).result(shapes[output.name], device)
        for output in program.outputs
    }


def _in_precision(given: torch.Tensor, precision: torch.dtype) -> torch.Tensor:
    if given.dtype == torch.bool:
        return given
    return given.to(precision if given.is_floating_point() else torch.int64)


class _Evaluation:
    """One output's expressions at one set of sizes."""

    def __init__(
        self, inputs: Mapping[str, torch.Tensor], at: Coordinates, precision: torch.dtype, output: Output
    ) -> None:
        self._inputs = inputs
        self._at = at
        self._precision = precision
        self._output = output
        self._sharing = Sharing(output.body)
        self._known: dict[tuple[int, frozenset[tuple[str, Axis]]], Value] = {}

    def result(self, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
        """Returns the output, computed in pieces along its longest coordinate where it is large."""
        names = self._output.coordinates
        dtype: torch.dtype = getattr(torch, self._output.dtype.value)
        result = torch.empty(shape, dtype=dtype, device=device)
        scope = {name: Axis(Affine.of(0), 1, 0, extent) for name, extent in zip(names, shape, strict=True)}
        if not shape:
            return result.copy_(self._settled(scope))
        place = max(range(len(shape)), key=lambda axis: shape[axis])
        longest = names[place]
        for piece in scope[longest].pieces(MOST_POINTS * shape[place] // max(1, result.numel())):
            target = result.narrow(place, piece.first, piece.length)
            target.copy_(self._settled({**scope, longest: piece}))
            self._forget([(longest, piece)])
        return result

    def _settled(self, scope: Scope) -> torch.Tensor:
        """Returns the output's elements at the points of `scope`, and raises the error of one that is at fault."""
        value = self._evaluate(self._output.body, scope)
        if value.fault is not None and bool(value.fault.where.data.any()):
            raise value.fault.error
        full = spread(value, {name: axis.length for name, axis in scope.items()})
        data = full.data.permute([full.axes.index(name) for name in self._output.coordinates])
        return data != 0 if self._output.dtype is DType.BOOL else numeric(data)

    def _evaluate(self, expression: Expression, scope: Scope) -> Value:
        """Returns the value; reductions and what occurs in several places are computed once for the same points."""
        if not isinstance(expression, Reduction) and self._sharing.places(expression) < 2:
            return self._compute(expression, scope)
        used = self._at.reach(self._sharing.coordinates(expression), scope)
        key = (self._sharing.number(expression), frozenset((name, scope[name]) for name in used))
        if key not in self._known:
            self._known[key] = self._compute(expression, scope)
        return self._known[key]

    def _compute(self, expression: Expression, scope: Scope) -> Value:
        match expression:
            case Number(quantity):
                return self._at.number(quantity)
            case Position(affine):
                return self._at.position(affine, scope)
            case Read():
                return self._read(expression, scope)
            case Pointwise(op, values):
                return apply(op, [self._evaluate(value, scope) for value in values], self._precision)
            case Reduce() | ArgReduce():
                return self._in_pieces(expression, frozenset(scope), self._at.within(expression.ranges, scope))

    def _forget(self, axes: Iterable[tuple[str, Axis]]) -> None:
        """Frees what was kept for points that do not come again."""
        gone = set(axes)
        self._known = {key: value for key, value in self._known.items() if gone.isdisjoint(key[1])}

    def _read(self, read: Read, scope: Scope) -> Value:
        tensor = self._inputs[read.tensor]
        stretch = self._stretch(tensor, read, scope)
        if stretch is not None:
            return stretch
        axes = tuple(f"{number:03}" for number in range(tensor.dim()))
        chosen = {
            axis: self._index(read.tensor, index, extent, scope)
            for axis, index, extent in zip(axes, read.indices, tensor.shape, strict=True)
        }
        if not tensor.numel():  # an index is at fault everywhere; what is taken there is not used
            tensor = tensor.new_zeros([max(1, extent) for extent in tensor.shape])
        return take(Value(axes, tensor), chosen)

    def _stretch(self, tensor: torch.Tensor, read: Read, scope: Scope) -> Value | None:
        """Returns a view where each index is a number or a coordinate of its own, shifted, and none is outside."""
        names: list[str] = []
        kept: list[int] = []
        for axis, index in enumerate(read.indices):
            if isinstance(index, Gathered) or len(index.terms) > 1:
                return None
            start, length = self._at.quantity(index.constant), 1
            for term, factor in index.terms:
                if not isinstance(term, str) or term in names or self._at.quantity(factor) != 1:
                    return None
                if scope[term].origin.terms or scope[term].step != 1:
                    return None
                start += self._at.quantity(scope[term].origin.constant) + scope[term].first
                length = scope[term].length
                names.append(term)
                kept.append(axis)
            if start.denominator != 1 or start < 0 or start + length > tensor.shape[axis]:
                return None
            tensor = tensor.narrow(axis, int(start), length)
        data = tensor.reshape([tensor.shape[axis] for axis in kept])
        return Value(tuple(sorted(names)), data.permute([names.index(name) for name in sorted(names)]))

    def _index(self, tensor: str, index: Affine | Gathered, extent: int, scope: Scope) -> Value:
        """Returns an index that is inside, and at fault where it had to be moved there."""
        above, below = self._at.scaled(index.affine if isinstance(index, Gathered) else index, scope)
        place = elementwise(lambda data: torch.div(data, below, rounding_mode="floor"), above)
        wrong = elementwise(lambda data: data % below != 0, above)
        if isinstance(index, Gathered):
            value = self._evaluate(index.value, scope)
            plain = Value(value.axes, numeric(value.data))
            wrong = elementwise(lambda data, bad: (data.to(torch.int64) != data) | bad, plain, wrong)
            place = elementwise(lambda data, start: data.to(torch.int64) + start, value, place)
        bare = Value(place.axes, place.data)
        wrong = elementwise(lambda data, bad: (data < 0) | (data >= extent) | bad, bare, wrong)
        inside = elementwise(lambda data: data.clamp(0, max(0, extent - 1)), place)
        if not bool(wrong.data.any()):
            return inside
        example = int(spread(bare, dict(zip(wrong.axes, wrong.data.shape, strict=True))).data[wrong.data][0])
        return at_fault(inside, wrong, IndexError(f"index {example} into an axis of '{tensor}' of length {extent}"))

    def _in_pieces(self, node: Reduction, outer: frozenset[str], inner: Scope) -> Value:
        """Returns a reduction, computed for one half of a coordinate after the other where there are many points."""
        wide = self._too_wide(node, outer, inner)
        if wide is None:
            value = self._reduced(node, inner) if isinstance(node, Reduce) else self._argument(node, inner)
            self._forget((extent.name, inner[extent.name]) for extent in node.ranges)
            return value
        pieces = inner[wide].pieces((inner[wide].length + 1) // 2)
        parts = []
        for piece in pieces:
            parts.append(self._in_pieces(node, outer, {**inner, wide: piece}))
            self._forget([(wide, piece)])
        if wide in outer:
            return joined(wide, parts, [piece.length for piece in pieces])
        return reduce(lambda *pair: elementwise(FOLDS[node.combine].pair, *pair), parts)

    def _too_wide(self, node: Reduction, outer: frozenset[str], inner: Scope) -> str | None:
        """Returns the coordinate along which to take a reduction apart; None where it is small enough or cannot be."""
        used = {name for operand in operands(node) for name in self._sharing.coordinates(operand)}
        scanned = {extent.name for extent in node.ranges if self._is_scan(extent, node, inner)}
        for extent in node.ranges:
            if extent.name not in scanned:
                used |= {extent.name, *coordinates(bounds(extent))}
        reach = self._at.reach(used, inner)
        if prod(inner[name].length for name in reach) <= MOST_POINTS:
            return None
        candidates = reach & outer if isinstance(node, ArgReduce) else reach - scanned
        widest = max(sorted(candidates), key=lambda name: inner[name].length, default=None)
        return None if widest is None or inner[widest].length < 2 else widest

    def _is_scan(self, extent: Extent, node: Reduction, scope: Scope) -> bool:
        """Returns whether a range has one fixed end, and what is reduced does not depend on where the other one is."""
        if isinstance(node, ArgReduce) or not isinstance(extent, Range):
            return False
        if bool(extent.lower.terms) == bool(extent.upper.terms):
            return False
        body = self._at.reach(self._sharing.coordinates(node.body), scope)
        return body.isdisjoint(self._at.reach(coordinates(bounds(extent)), scope))

    def _reduced(self, node: Reduce, inner: Scope) -> Value:
        value = self._evaluate(node.body, inner)
        result = self._fold(node, node.combine, value, inner)
        if value.fault is None:
            return result
        where = self._fold(node, Combine.MAXIMUM, value.fault.where, inner)
        return replace(result, fault=Fault(replace(where, data=where.data > 0), value.fault.error))

    def _fold(self, node: Reduce, combine: Combine, value: Value, inner: Scope) -> Value:
        """Returns the reduction of a value, first along the axes on which no other range depends."""
        needed = coordinates(bound for extent in node.ranges for bound in bounds(extent))

        bound = [extent for extent in node.ranges if extent.name in needed or coordinates(bounds(extent))]
        free = [extent for extent in node.ranges if extent not in bound]
        for extent in (*free, *reversed(bound)):
            name, length = extent.name, inner[extent.name].length
            if isinstance(extent, Range) and self._is_scan(extent, node, inner):
                counts, backward = self._at.counts(extent, inner), bool(extent.lower.terms)
                value = folded_up_to(combine, value, name, counts, backward=backward, length=length)
            else:
                value = folded(combine, value, name, self._at.mask(extent, inner), length)
        return value

    def _argument(self, node: ArgReduce, inner: Scope) -> Value:
        extents = {extent.name: inner[extent.name].length for extent in node.ranges}
        nothing = IndexError("an extreme is sought among no elements")
        if not prod(extents.values()):
            zero = self._at.constant(Fraction(0))
            return at_fault(zero, replace(zero, data=zero.data == 0), nothing)
        key = self._evaluate(node.key, inner)
        masks = [mask for extent in node.ranges if (mask := self._at.mask(extent, inner)) is not None]
        mask = reduce(lambda *pair: elementwise(torch.logical_and, *pair), masks) if masks else None
        chosen, none = first_extreme(node.combine, key, mask, extents)
        result = take(spread(self._evaluate(node.payload, inner), extents), chosen)
        if key.fault is not None:
            where = masked(key.fault.where, mask, torch.tensor(False))
            for name, length in extents.items():
                where = folded(Combine.MAXIMUM, where, name, None, length)
            result = at_fault(result, replace(where, data=where.data > 0), key.fault.error)
        return at_fault(result, none, nothing)
