"""Values of a kernel: numbers, and tiles of them with one or two axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine


class Axis(StrEnum):
    """An axis of tiles. Tiles have their rows first."""

    ROWS = "rows"
    COLUMNS = "columns"


Axes = frozenset[Axis]
NO_AXES: Axes = frozenset()


@dataclass(frozen=True, slots=True)
class Literal:
    """A number that stands in the text; infinities are floats."""

    value: Fraction | float


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter of the kernel, or what a statement before has named; `axes` are those of its tile."""

    name: str
    axes: Axes = NO_AXES


@dataclass(frozen=True, slots=True)
class Program:
    """The index of the program along a dimension of the grid."""

    dimension: int


@dataclass(frozen=True, slots=True)
class Lanes:
    """0, 1, 2, ... along an axis, as many as the constant `block` says."""

    axis: Axis
    block: str


@dataclass(frozen=True, slots=True)
class Compute:
    """A pointwise operation: one of the tensor IR, `floor_divide` or `modulo` of whole numbers, or `at_most`.

    `at_most` is the first operand where it is not above the second.
    """

    op: str
    operands: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """The elements at `pointer` where `mask` is true, elsewhere `other`, as numbers of `dtype`.

    Those that are `of_others` were stored by other programs of the same launch, which the program has met: they are
    read past every cache that programs do not share.
    """

    pointer: Value
    mask: Value | None
    other: Fraction | float
    dtype: DType | None = None
    eviction: str = ""
    of_others: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """`combine` of all elements of a tile along `axis`."""

    combine: Combine
    value: Value
    axis: Axis


@dataclass(frozen=True, slots=True)
class FoldIndex:
    """The index, along `axis`, of the first element of a tile that is extreme."""

    combine: Combine
    value: Value
    axis: Axis


@dataclass(frozen=True, slots=True)
class Running:
    """`combine` of the elements of a tile along `axis` up to each of them, or in reverse from each of them on.

    The element itself counts, unless the reduction is exclusive.
    """

    combine: Combine
    value: Value
    axis: Axis
    is_reverse: bool = False
    is_exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """A tile of `axes` in which every element is `value`."""

    value: Fraction | float
    axes: Axes
    dtype: DType


@dataclass(frozen=True, slots=True)
class Cast:
    """The value as numbers of `dtype`."""

    value: Value
    dtype: DType


@dataclass(frozen=True, slots=True)
class Ticket:
    """The number of programs of the launch that drew a ticket before this one, counted at `pointer` from 0 on."""

    pointer: Value


Value = Literal | Name | Program | Ticket | Lanes | Compute | Load | Fold | FoldIndex | Running | Filled | Cast


def operands(value: Value) -> Iterator[Value]:
    """Yields the values of which `value` is made directly."""
    match value:
        case Compute(_, values):
            yield from values
        case Load(pointer, mask):
            yield pointer
            if mask is not None:
                yield mask
        case Ticket(pointer):
            yield pointer
        case Fold(value=inner) | FoldIndex(value=inner) | Running(value=inner) | Cast(value=inner):
            yield inner


def parts(value: Value) -> Iterator[Value]:
    """Yields `value` and all of which it is made."""
    yield value
    for one in operands(value):
        yield from parts(one)


def axes(value: Value) -> Axes:
    """Returns the axes of a value; a plain number has none."""
    match value:
        case Name(_, own):
            return own
        case Lanes(axis):
            return frozenset({axis})
        case Filled(_, own):
            return own
        case Fold(_, inner, axis) | FoldIndex(_, inner, axis):
            return axes(inner) - {axis}
    return NO_AXES.union(*map(axes, operands(value)))
