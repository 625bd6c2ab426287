"""Lists the uses of a value: the operations that have it as an operand, once for each time."""

from __future__ import annotations

from collections.abc import Mapping

from porter.ir.simt.ops import Function, Op, Value, walk


def uses(function: Function) -> Mapping[Value, tuple[Op, ...]]:
    """Returns the users of each value that has some."""
    found: dict[Value, list[Op]] = {}
    for op in walk(function.body):
        for operand in op.operands:
            found.setdefault(operand, []).append(op)
    return {value: tuple(users) for value, users in found.items()}


def makers(function: Function) -> Mapping[Value, Op]:
    """Returns the operation that each value is a result of; arguments of regions and parameters have none."""
    return {result: op for op in walk(function.body) for result in op.results}
