"""The parts of an expression: its operands, the coordinates that it depends on, and those that it binds."""

from __future__ import annotations

from collections.abc import Iterable

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

Reduction = Reduce | ArgReduce


def operands(expression: Expression) -> tuple[Expression, ...]:
    """Returns the expressions of which `expression` is made directly."""
    match expression:
        case Number() | Position():
            return ()
        case Read(_, indices):
            return tuple(index.value for index in indices if isinstance(index, Gathered))
        case Pointwise(_, values):
            return values
        case Reduce(body=body):
            return (body,)
        case ArgReduce(key=key, payload=payload):
            return (key, payload)


def affines(expression: Expression) -> tuple[Affine, ...]:
    """Returns the affine functions that `expression` contains outside of its operands and its ranges."""
    match expression:
        case Position(affine):
            return (affine,)
        case Read(_, indices):
            return tuple(index.affine if isinstance(index, Gathered) else index for index in indices)
    return ()


def bounds(extent: Extent) -> tuple[Affine, ...]:
    """Returns the affine functions that decide where a coordinate begins and ends."""
    return (extent.lower, extent.upper) if isinstance(extent, Range) else (extent.start,)


def coordinates(parts: Iterable[Affine]) -> frozenset[str]:
    """Returns the coordinates that affine functions depend on."""
    terms = (term for affine in parts for term, _ in affine.terms)
    return frozenset(term.coordinate if isinstance(term, Floor) else term for term in terms)


def unbound(ranges: Iterable[Extent], within: frozenset[str]) -> frozenset[str]:
    """Returns the coordinates that a reduction depends on; `within` are those of what it reduces.

    The bounds of a range may depend on the ranges before it.
    """
    own: set[str] = set()
    found: set[str] = set()
    for extent in ranges:
        found |= coordinates(bounds(extent)) - own
        own.add(extent.name)
    return frozenset(found | (within - own))
