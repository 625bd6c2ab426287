"""Brings a tensor program into loops over flat memory.

Axes of tensors become strides. A coordinate that is only used in parts (`channel // (channels / groups)`) becomes two
loops, a window that lies inside of its axis a plain loop, and a range that ends at a coordinate of the output a scan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as points

from porter.contract.model.dtype import DType
from porter.ir.tensor import expressions as tensor
from porter.ir.tensor.places import places
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Floor
from porter.schedule.linear import Linear
from porter.schedule.loops import (
    Apply,
    ArgReduce,
    Gather,
    Guard,
    Loop,
    Node,
    Number,
    Position,
    Read,
    Reduce,
    Result,
    Scan,
    free,
    renamed,
    with_places,
)
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product

_MOST_UNROLLED = 8  # points of a loop of constant extent that are written one by one
_Scope = Mapping[str, Linear]  # each coordinate as a function of loop variables
_OPERATOR = {
    tensor.Combine.SUM: "add",
    tensor.Combine.PRODUCT: "multiply",
    tensor.Combine.MAXIMUM: "maximum",
    tensor.Combine.MINIMUM: "minimum",
}


def flattened(program: TensorProgram) -> tuple[Result, ...]:
    """Returns the outputs of `program`. Raises `NotSchedulableError` for what is not expressed as such loops."""
    return tuple(_Flattening(program, output).result() for output in program.outputs)


@dataclass(frozen=True)
class _Axes:
    """A tensor in memory: its extents and strides, row by row."""

    dtype: DType
    extents: tuple[Polynomial, ...]
    strides: tuple[Polynomial, ...]

    @classmethod
    def of(cls, dtype: DType, shape: Sequence[str]) -> _Axes:
        extents = tuple(map(Polynomial.of_extent, shape))
        return cls(dtype, extents, tuple(product(extents[axis + 1 :]) for axis in range(len(extents))))


class _Flattening:
    """One output; loops that a coordinate became are kept with their extents."""

    def __init__(self, program: TensorProgram, output: Output) -> None:
        if not all(output.shape) and output.shape:
            raise NotSchedulableError(f"no expression over the sizes gives the shape of '{output.name}'")
        self._inputs = {one.name: _Axes.of(one.dtype, one.shape) for one in program.inputs}
        self._output = output
        self._floors = _divisors(program, output)
        self._extents: dict[str, Polynomial] = {}

    def result(self) -> Result:
        """Returns the output over its loops."""
        axes = _Axes.of(self._output.dtype, self._output.shape)
        scope: dict[str, Linear] = {}
        loops: list[Loop] = []
        place = Linear()
        for name, extent, stride in zip(self._output.coordinates, axes.extents, axes.strides, strict=True):
            own, scope[name] = self._loops_of(name, extent)
            loops += own
            place += scope[name].times(stride)
        return Result(self._output.name, self._output.dtype, tuple(loops), place, self._node(self._output.body, scope))

    def _loops_of(self, name: str, extent: Polynomial) -> tuple[tuple[Loop, ...], Linear]:
        """Returns the loops of a coordinate, two where quotients of it are used, and what it is of them."""
        divisors = self._floors.get(name, set())
        if not divisors:
            loops: tuple[Loop, ...] = (Loop(name, extent),)
            value = Linear.variable(name)
        else:
            if len(divisors) > 1:
                raise NotSchedulableError(f"the coordinate '{name}' is divided by several numbers")
            (divisor,) = divisors
            loops = (Loop(f"{name}_quotient", extent.over(divisor)), Loop(f"{name}_rest", divisor))
            value = Linear.variable(loops[0].name).times(divisor) + Linear.variable(loops[1].name)
        self._extents.update((loop.name, loop.extent) for loop in loops)
        return loops, value

    def _linear(self, affine: Affine, scope: _Scope) -> Linear:
        total = Linear(Polynomial.of_quantity(affine.constant))
        for term, factor in affine.terms:
            part = scope[term] if isinstance(term, str) else self._quotient(term, scope)
            total += part.times(Polynomial.of_quantity(factor))
        return total

    def _quotient(self, floor: Floor, scope: _Scope) -> Linear:
        name = f"{floor.coordinate}_quotient"
        if name not in scope[floor.coordinate].variables:
            raise NotSchedulableError(f"a quotient of '{floor.coordinate}', which is not a loop of its own")
        return Linear.variable(name)

    def _node(self, expression: tensor.Expression, scope: _Scope) -> Node:
        match expression:
            case tensor.Number(quantity):
                return Number(quantity)
            case tensor.Position(affine):
                return Position(self._linear(affine, scope))
            case tensor.Pointwise(op, operands):
                return Apply(op, tuple(self._node(operand, scope) for operand in operands))
            case tensor.Read():
                return self._read(expression, scope)
            case tensor.Reduce():
                return self._reduce(expression, scope)
            case tensor.ArgReduce(combine, ranges, key, payload):
                loops, guards, inner = self._ranges(ranges, scope)
                if guards:
                    raise NotSchedulableError("the place of an extreme is sought in a window")
                return ArgReduce(combine, loops, self._node(key, inner), self._node(payload, inner))

    def _read(self, read: tensor.Read, scope: _Scope) -> Read:
        axes = self._inputs[read.tensor]
        place = Linear()
        guards: list[Guard] = []
        gathered: list[Gather] = []
        for index, extent, stride in zip(read.indices, axes.extents, axes.strides, strict=True):
            if isinstance(index, tensor.Gathered):
                if index.affine != Affine.of(0):
                    raise NotSchedulableError("an index is the sum of a coordinate and a value of the data")
                gathered.append(Gather(self._node(index.value, scope), stride, extent))
                continue
            at = self._linear(index, scope)
            place += at.times(stride)
            if not self._lies_within(at, extent):
                guards.append(Guard(at, extent))
        return Read(read.tensor, axes.dtype, place, tuple(guards), tuple(gathered))

    def _reduce(self, reduce: tensor.Reduce, scope: _Scope) -> Node:
        only = reduce.ranges[0]
        if len(reduce.ranges) == 1 and isinstance(only, tensor.Range) and (only.lower.terms or only.upper.terms):
            return self._scan(reduce, only, scope)
        loops, guards, inner = self._ranges(reduce.ranges, scope)
        node = Reduce(reduce.combine, loops, guards, self._node(reduce.body, inner), reduce.precision)
        return _unrolled(node) if not guards else node

    def _ranges(
        self, ranges: Iterable[tensor.Extent], scope: _Scope
    ) -> tuple[tuple[Loop, ...], tuple[Guard, ...], _Scope]:
        """Returns the loops of a reduction, the guards of its windows, and the scope within it."""
        inner = dict(scope)
        loops: list[Loop] = []
        guards: list[Guard] = []
        for extent in ranges:
            if isinstance(extent, tensor.Window):
                own, steps = self._loops_of(extent.name, Polynomial.of_quantity(extent.count))
                start, step = self._linear(extent.start, inner), Polynomial.of_quantity(extent.step)
                inner[extent.name] = start + steps.times(step)
                length = Polynomial.of_quantity(extent.extent)
                if not self._lies_within(inner[extent.name], length):
                    guards.append(Guard(inner[extent.name], length))
            else:
                lower, upper = self._linear(extent.lower, inner), self._linear(extent.upper, inner)
                if lower.terms or upper.terms:
                    raise NotSchedulableError("a range among several ends at a coordinate")
                own, steps = self._loops_of(extent.name, upper.constant - lower.constant)
                inner[extent.name] = Linear(lower.constant) + steps
            loops += own
        return tuple(loops), tuple(guards), inner

    def _scan(self, reduce: tensor.Reduce, extent: tensor.Range, scope: _Scope) -> Scan:
        """Returns a reduction that ends, or begins, at a coordinate of the output."""
        lower, upper = self._linear(extent.lower, scope), self._linear(extent.upper, scope)
        is_reverse = bool(lower.terms)
        moving = lower if is_reverse else upper
        along = next(iter(moving.variables))
        if moving.without((along,)).terms or moving.coefficient(along) != Polynomial.of(1) or along not in scope:
            raise NotSchedulableError("a range ends at several coordinates, or at a multiple of one")
        length, beyond = self._extents[along], moving.constant.constant
        self._extents[extent.name] = length
        first, last = (lower.constant, upper.constant) if not is_reverse else (Polynomial(), upper.constant)
        is_whole = last == length if is_reverse else first == Polynomial()
        if beyond not in (0, 1) or not is_whole or (is_reverse and upper.terms):
            raise NotSchedulableError("a running reduction begins or ends elsewhere than its axis does")
        body = self._node(reduce.body, {**scope, extent.name: Linear.variable(extent.name)})
        if along in free(body):
            raise NotSchedulableError("what a running reduction adds up depends on where it ends")
        is_exclusive = beyond == (1 if is_reverse else 0)
        return Scan(
            reduce.combine, along, is_exclusive, is_reverse, renamed(body, {extent.name: along}), reduce.precision
        )

    def _lies_within(self, place: Linear, extent: Polynomial) -> bool:
        """Returns whether `0 <= place < extent` for all sizes, as far as intervals of the loops tell."""
        if any(factor < 0 for _, factor in place.constant.terms):
            return False
        most = place.constant
        for name, factor in place.terms:
            if any(part < 0 for _, part in factor.terms):
                return False
            most += factor * (self._extents[name] - Polynomial.of(1))
        left = extent - Polynomial.of(1) - most  # not negative where no term is, as no size is
        return all(factor >= 0 for _, factor in left.terms)


def _divisors(program: TensorProgram, output: Output) -> Mapping[str, set[Polynomial]]:
    """Returns by what coordinates of an output, and those within it, are divided."""
    found: dict[str, set[Polynomial]] = {}
    for place in places(program):
        if isinstance(place.thing, Floor) and place.path[:1] == (output.name,):
            found.setdefault(place.thing.coordinate, set()).add(Polynomial.of_quantity(place.thing.divisor))
    return found


def _unrolled(node: Reduce) -> Node:
    """Returns a reduction over few constant points as the operation on each of them."""
    extents = [loop.extent.constant for loop in node.loops]
    if any(extent is None for extent in extents):
        return node
    counts = [int(extent) for extent in extents if extent is not None]
    total = 1
    for count in counts:
        total *= count
    if not 1 <= total <= _MOST_UNROLLED:
        return node
    names = [loop.name for loop in node.loops]
    bodies = tuple(
        _at(node.body, dict(zip(names, map(Fraction, point), strict=True)))
        for point in points(*(range(count) for count in counts))
    )
    return bodies[0] if total == 1 else Apply(_OPERATOR[node.combine], bodies)


def _at(node: Node, values: Mapping[str, Fraction]) -> Node:
    """Returns `node` where some loop variables have these values."""

    def place(one: Linear) -> Linear:
        constant = one.constant
        for name, value in values.items():
            constant += one.coefficient(name) * Polynomial.of(value)
        return Linear(constant, one.without(values).terms)

    return with_places(node, place)
