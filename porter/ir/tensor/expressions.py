"""Expressions of the tensor IR: one number for each point of the coordinates in scope.

In scope are the coordinates of the output, and within the body of a reduction those of its ranges; the bounds of a
range may use the ranges before it. Every name of a coordinate is bound once in a program's output; a reduction that
occurs in several places counts as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from porter.contract.model.dtype import DType
from porter.ir.tensor.quantities import Affine, Quantity


class Combine(StrEnum):
    """The operation of a reduction; its value over no elements is the identity."""

    SUM = "sum"
    PRODUCT = "product"
    MAXIMUM = "max"
    MINIMUM = "min"


@dataclass(frozen=True, slots=True)
class Range:
    """The whole numbers `lower <= name < upper`.

    A bound that depends on the output's coordinates makes the reduction a scan.
    """

    name: str
    lower: Affine
    upper: Affine


@dataclass(frozen=True, slots=True)
class Window:
    """`name = start + step * t` for `0 <= t < count`, as far as `0 <= name < extent`; all of it is whole."""

    name: str
    start: Affine
    step: Quantity
    count: Quantity
    extent: Quantity


Extent = Range | Window


@dataclass(frozen=True, slots=True)
class Number:
    """A number that depends on sizes and parameters alone."""

    quantity: Quantity


@dataclass(frozen=True, slots=True)
class Position:
    """An affine function of coordinates as a number."""

    affine: Affine


@dataclass(frozen=True, slots=True)
class Gathered:
    """An index that data decide: `affine` plus the whole number `value`."""

    affine: Affine
    value: Expression


@dataclass(frozen=True, slots=True)
class Read:
    """One element of an input."""

    tensor: str
    indices: tuple[Affine | Gathered, ...]


@dataclass(frozen=True, slots=True)
class Pointwise:
    """`op` of `POINTWISE` (see `verify.py`) applied to `operands`. Truth values are 0 and 1."""

    op: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """`combine` over all points of `ranges` of `body`; `precision` is the type in which the source accumulates."""

    combine: Combine
    ranges: tuple[Extent, ...]
    body: Expression
    precision: DType


@dataclass(frozen=True, slots=True)
class ArgReduce:
    """The `payload` at the point of `ranges` where `key` is extreme, the first such in their order.

    `combine` is `MAXIMUM` or `MINIMUM`; the last of the ranges moves fastest. NaN is more extreme than any number.
    """

    combine: Combine
    ranges: tuple[Extent, ...]
    key: Expression
    payload: Expression


Expression = Number | Position | Read | Pointwise | Reduce | ArgReduce
