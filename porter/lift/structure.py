"""Finds the structure of an expression without its numbers, which probes at different sizes must share."""

from __future__ import annotations

from porter.ir.tensor.expressions import ArgReduce, Expression, Gathered, Number, Pointwise, Position, Read, Reduce
from porter.ir.tensor.traversal import operands

Structure = tuple[object, ...]


def structure(expression: Expression) -> Structure:
    """Returns the kinds of all parts of an expression, with operations, tensors and the kinds of ranges."""
    parts = tuple(map(structure, operands(expression)))
    match expression:
        case Number() | Position():
            return (type(expression).__name__,)
        case Read(tensor, indices):
            return ("read", tensor, tuple(isinstance(index, Gathered) for index in indices), parts)
        case Pointwise(op):
            return (op, parts)
        case Reduce(combine, ranges) | ArgReduce(combine, ranges):
            return (type(expression).__name__, combine, tuple(type(extent).__name__ for extent in ranges), parts)
