"""Writes a kernel: its parameters, the points of its loops, and the statements of its blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tensor.quantities import Quantity
from porter.ir.tile.expressions import (
    NO_AXES,
    Axes,
    Axis,
    Cast,
    Compute,
    Fold,
    Lanes,
    Literal,
    Name,
    Program,
    Value,
    axes,
)
from porter.ir.tile.program import Kernel, Let, Loop, Statement
from porter.schedule.host_values import HostValues, Names
from porter.schedule.linear import Linear
from porter.schedule.loops import Loop as Range
from porter.schedule.loops import Node
from porter.schedule.polynomial import Polynomial

BLOCK = {Axis.ROWS: "BLOCK_ROWS", Axis.COLUMNS: "BLOCK_COLUMNS"}
PARTS = "PARTS"  # the constant of how many programs share a row, and the variable of which this is
ZERO = Literal(Fraction(0))


@dataclass
class Block:
    """Statements, and the names they defined: values of nodes, and pointers to the beginning of tensors."""

    statements: list[Statement] = field(default_factory=list)
    known: dict[Node, Value] = field(default_factory=dict)
    pointers: dict[tuple[str, Linear], Value] = field(default_factory=dict)

    @property
    def body(self) -> tuple[Statement, ...]:
        """Returns the statements so far."""
        return tuple(self.statements)


@dataclass(frozen=True)
class Stride:
    """A place in the unrolled loop over the tiles of a step.

    `begin` is the step's beginning, `past` the distance from it. Values computed in `before` are the same for all tiles
    of the step.
    """

    begin: Value
    past: Value
    before: Block


@dataclass(frozen=True)
class Point:
    """A loop variable within a kernel: `base`, plus lanes of a tile.

    `of_row` says that it is the same for a row, `is_constant` that its loop is unrolled. `stride` says how `base` is
    reached where a step goes through several tiles.
    """

    base: Value | None
    lanes: Value | None = None
    of_row: bool = False
    is_constant: bool = False
    stride: Stride | None = None


@dataclass(frozen=True)
class Steps:
    """The loops over a window: `before` is the block in front of them, `levels` are their variables and their blocks.

    A value is computed in the outermost block in which it is the same for all further steps.
    """

    before: Block
    levels: tuple[tuple[str, Block], ...]

    @property
    def names(self) -> frozenset[str]:
        """Returns the loop variables."""
        return frozenset(name for name, _ in self.levels)

    def block(self, names: Iterable[str]) -> Block:
        """Returns the outermost block that knows all of these loop variables."""
        used = set(names)
        return next((block for name, block in reversed(self.levels) if name in used), self.before)


class KernelWriter:
    """Collects the parts of a kernel while its blocks are written. Columns lie along the `column_axes` of a tile."""

    def __init__(self, name: str, values: HostValues, taken: Iterable[str], precision: DType) -> None:
        self.name = name
        self.precision = precision
        self.points: dict[str, Point] = {}
        self.masks: dict[Axis, Value] = {}
        self.column_axes: Axes = frozenset({Axis.COLUMNS})
        self._values = values
        self._names = Names(taken)
        self._tensors: dict[str, None] = {}
        self._sizes: dict[str, None] = {}
        self._numbers: dict[str, None] = {}
        self._blocks: dict[str, None] = {}
        self._constants: dict[str, None] = {}
        self._strides: dict[str, None] = {}
        self._has_windows = False  # which begin anywhere

    def constant(self, polynomial: Polynomial) -> Value:
        """Returns a size for each value of which the kernel is compiled anew."""
        value = self.size(polynomial)
        if isinstance(value, Name):
            self._constants[value.name] = None
        return value

    def size(self, polynomial: Polynomial) -> Value:
        """Returns a size: a literal, or a parameter of the kernel."""
        constant = polynomial.constant
        if constant is not None:
            return Literal(constant)
        if all(factor < 0 for _, factor in polynomial.terms):
            return Compute("negate", (self.size(-polynomial),))
        name = self._values.size(polynomial)
        self._sizes[name] = None
        return Name(name)

    def number(self, quantity: Quantity) -> Value:
        """Returns a number that depends on sizes and parameters: a literal, or a parameter of the kernel."""
        constant = quantity.constant
        if constant is not None:
            return Literal(constant)
        name = self._values.number(quantity)
        self._numbers[name] = None
        return Name(name)

    def named_size(self, name: str) -> Name:
        """Returns a size that the host computes and calls `name`, which is a parameter of the kernel."""
        self._sizes[name] = None
        return Name(name)

    def block_size(self, name: str) -> Name:
        """Returns a constant of compilation."""
        self._blocks[name] = None
        return Name(name)

    def let(self, block: Block, hint: str, value: Value) -> Name:
        """Names a value."""
        name = Name(self._names.fresh(hint), axes(value))
        block.statements.append(Let(name.name, value))
        return name

    def again(self, block: Block, name: Name, value: Value) -> None:
        """Gives a name another value."""
        block.statements.append(Let(name.name, value))

    def fresh(self, hint: str) -> str:
        """Returns a name that nothing has."""
        return self._names.fresh(hint)

    def lanes(self, block: Block, axis: Axis) -> Name:
        """Returns the lanes of an axis."""
        self.block_size(BLOCK[axis])
        return self.let(block, "row_lanes" if axis is Axis.ROWS else "lanes", Lanes(axis, BLOCK[axis]))

    def program(self, block: Block, hint: str, dimension: int = 0) -> Name:
        """Returns the program's index, wide enough for any place in memory."""
        return self.let(block, hint, Cast(Program(dimension), DType.INT64))

    def mask(self, own: Axes) -> Value | None:
        """Returns which elements of a tile with these axes lie inside; None where all do."""
        masks = [self.masks[axis] for axis in sorted(own, reverse=True) if axis in self.masks]
        return both(*masks) if masks else None

    def inside(self) -> Value | None:
        """Returns which elements of a tile are columns of the row; None where all are."""
        return self.mask(self.column_axes)

    def folded(self, combine: Combine, value: Value) -> Value:
        """Returns `combine` of all columns of a tile."""
        for axis in sorted(self.column_axes):
            value = Fold(combine, value, axis)
        return value

    def tensor(self, name: str) -> Name:
        """Returns the pointer to a tensor."""
        self._tensors[name] = None
        return Name(f"{name}_ptr")

    def pointer(self, tensor: str, place: Linear, outer: Block) -> Value:
        """Returns the pointer to an element, or to those of a tile.

        Terms that are the same for a row are added once, and so are those that are the same for a step.
        """
        name = next((name for name in place.variables if self.points[name].stride is not None), None)
        if name is not None:
            return self._strided(tensor, place, outer, name)
        of_row = [name for name, _ in place.terms if self._is_of_row(name)]
        fixed = Linear(place.constant, tuple(term for term in place.terms if term[0] in of_row))
        base = self._base(tensor, fixed, outer)
        total = [base]
        for name, factor in place.without(of_row).terms:
            point = self.points[name]
            if point.base is not None:
                total.append(self._moved(point, point.base, factor))
        total += [self._scaled(lanes, factor) for lanes, factor in self._lanes(place)]
        self._stride(place)
        return total[0] if len(total) == 1 else Compute("add", tuple(total))

    def _strided(self, tensor: str, place: Linear, outer: Block, name: str) -> Value:
        """Returns a pointer into a tile of a step, reached from that into its first tile."""
        here = self.points[name]
        stride = here.stride
        assert stride is not None
        known = stride.before.pointers
        if (tensor, place) not in known:
            self.points[name] = Point(stride.begin, here.lanes)
            known[tensor, place] = self.let(stride.before, f"{tensor}_step", self.pointer(tensor, place, outer))
            self.points[name] = here
        past = Compute("multiply", (Cast(stride.past, DType.INT64), self.size(place.coefficient(name))))
        return Compute("add", (known[tensor, place], past))

    def _stride(self, place: Linear) -> None:
        """Notes the sizes between the rows of neighbours, for tensors with an element for each of the tile's."""
        lanes = self._lanes(place)
        own = NO_AXES.union(*(axes(one) for one, _ in lanes))
        tile = frozenset(axis for axis, block in BLOCK.items() if block in self._blocks)
        if own == tile and PARTS not in place.variables and any(factor.constant == 1 for _, factor in lanes):
            factors = [place.constant, *(factor for _, factor in place.terms)]
            sizes = (self.size(factor) for factor in factors if factor.constant is None)
            self._strides |= {size.name: None for size in sizes if isinstance(size, Name)}

    def pointer_within(self, tensor: str, place: Linear, outer: Block, steps: Steps) -> Value:
        """Returns `pointer` in a window: terms that the steps of a loop share are added in front of it."""
        here = place.without(steps.names)
        self._has_windows = True
        own = {name: factor for name, factor in place.terms if name in steps.names}
        if not own:
            return self.pointer(tensor, place, outer)
        if (tensor, here) not in steps.before.pointers:
            first = self.pointer(tensor, here, outer)
            first = first if isinstance(first, Name) else self.let(steps.before, f"{tensor}_first", first)
            steps.before.pointers[tensor, here] = first
        found, innermost = steps.before.pointers[tensor, here], steps.levels[-1][0]
        for name, block in steps.levels:
            if name in own:
                step = self.points[name].base
                assert step is not None
                found = Compute("add", (found, self._scaled(step, own[name])))
                found = found if name == innermost else self.let(block, f"{tensor}_step", found)
        return found

    def whole(self, place: Linear) -> Value:
        """Returns a linear function as a whole number, or a tile of these."""
        total: list[Value] = [] if not place.constant.terms and place.terms else [self.size(place.constant)]
        for name, factor in place.terms:
            point = self.points[name]
            total += [self._scaled(part, factor) for part in (point.base, point.lanes) if part is not None]
        return total[0] if len(total) == 1 else Compute("add", tuple(total))

    def coordinate_within(self, place: Linear, steps: Steps) -> Value:
        """Returns `coordinate` in a window: terms that its steps share are computed in front of the loops."""
        here, own = place.without(steps.names), [term for term in place.terms if term[0] in steps.names]
        if not own or not here.terms:
            return self.coordinate(place, steps.block(name for name, _ in own))
        moved = [self._scaled(base, factor) for name, factor in own if (base := self.points[name].base) is not None]
        at = Compute("add", (self.coordinate(here, steps.before), *moved))
        return self.let(steps.block(name for name, _ in own), "at", at)

    def coordinate(self, place: Linear, block: Block) -> Value:
        """Returns a place along one axis, under a name, in 32 bits, which every axis has room in."""
        points = [(self.points[name], factor) for name, factor in place.terms]
        fixed: list[Value] = [] if not place.constant.terms and points else [self.size(place.constant)]
        fixed += [self._scaled(point.base, factor) for point, factor in points if point.base is not None]
        base: Value = fixed[0] if len(fixed) == 1 else Compute("add", tuple(fixed))
        lanes = [self._narrow(point.lanes, factor) for point, factor in points if point.lanes is not None]
        if fixed and not isinstance(base, Literal):
            lanes = [Cast(base, DType.INT32) if lanes else base, *lanes]
        elif fixed:
            lanes.append(base)
        return self.let(block, "at", lanes[0] if len(lanes) == 1 else Compute("add", tuple(lanes)))

    def _narrow(self, value: Value, factor: Polynomial) -> Value:
        return value if factor.constant == 1 else Compute("multiply", (value, self.size(factor)))

    def decoded_in_loop(self, block: Block, index: Value, ranges: tuple[Range, ...]) -> None:
        """Decodes an index as `decoded` does, in a block that is repeated within a row."""
        self.decoded(block, index, ranges)
        for one in ranges:
            self.points[one.name] = Point(self.points[one.name].base)

    def decoded(self, block: Block, index: Value, ranges: tuple[Range, ...]) -> None:
        """Decodes an index over all points of `ranges`, the last of which moves fastest, into their variables."""
        for position in range(len(ranges) - 1, -1, -1):
            one = ranges[position]
            if position == 0:
                self.points[one.name] = Point(index, of_row=True)
                return
            extent = self.size(one.extent)
            own = self.let(block, "row", Compute("modulo", (index, extent)))
            self.points[one.name] = Point(own, of_row=True)
            index = self.let(block, "outer", Compute("floor_divide", (index, extent)))

    def kernel(self, block: Block) -> Kernel:
        """Returns the kernel."""
        return Kernel(
            self.name,
            tuple(self._tensors),
            tuple(name for name in self._sizes if name not in self._constants),
            tuple(name for name in self._numbers if name not in self._sizes),
            (*self._constants, *self._blocks),
            block.body,
            () if self._has_windows else tuple(name for name in self._strides if name not in self._constants),
        )

    def _is_of_row(self, name: str) -> bool:
        point = self.points[name]
        return point.of_row and point.lanes is None

    def _lanes(self, place: Linear) -> list[tuple[Value, Polynomial]]:
        found = ((self.points[name].lanes, factor) for name, factor in place.terms)
        return [(lanes, factor) for lanes, factor in found if lanes is not None]

    def _base(self, tensor: str, fixed: Linear, outer: Block) -> Value:
        pointer = self.tensor(tensor)
        if not fixed.terms and not fixed.constant.terms:
            return pointer
        key = (tensor, fixed)
        if key not in outer.pointers:
            outer.pointers[key] = self.let(outer, f"{tensor}_row", Compute("add", (pointer, self.whole(fixed))))
        return outer.pointers[key]

    def _moved(self, point: Point, base: Value, factor: Polynomial) -> Value:
        """Returns how far a variable moves a pointer: a product that may exceed 32 bits, in which loops count."""
        if factor.constant == 1 or point.is_constant:
            return self._scaled(base, factor)
        return Compute("multiply", (Cast(base, DType.INT64), self.size(factor)))

    def _scaled(self, value: Value, factor: Polynomial) -> Value:
        if factor.constant == 1:
            return value
        wide = Cast(value, DType.INT64) if axes(value) != NO_AXES else value
        return Compute("multiply", (wide, self.size(factor)))


def both(*masks: Value) -> Value:
    """Returns whether all of `masks` are true."""
    return masks[0] if len(masks) == 1 else Compute("and", masks)


def loop(name: str, stop: Value, step: Value, body: Block, stages: int = 0, *, is_unrolled: bool = False) -> Loop:
    """Returns a loop from 0."""
    return Loop(name, ZERO, stop, step, body.body, stages, is_unrolled)
