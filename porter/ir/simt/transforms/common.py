"""Common subexpression elimination: what is computed twice of the same values is computed once.

Only what has no effect counts, and only where the first is certain to have been computed: in the same block or one
around it. A load is one of these in its own block as long as nothing is written and nobody waits for others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.operations import OPERATIONS, Effect
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.types import Type

_Key = tuple[str, tuple[Value, ...], object, tuple[Type, ...]]
_APART = frozenset({"array", "undefined"})  # two are two


def without_repetition(function: Function) -> Function:
    """Returns `function` in which nothing without an effect is computed again."""
    body = Block((), _once(function.body.ops, {}, {}))
    return without_dead_code(replace(function, body=body))


def _once(ops: tuple[Op, ...], before: Mapping[_Key, tuple[Value, ...]], mapped: dict[Value, Value]) -> tuple[Op, ...]:
    known, loads, found = dict(before), dict[_Key, tuple[Value, ...]](), []
    for op in ops:
        operands = tuple(mapped.get(operand, operand) for operand in op.operands)
        if _acts(op):
            loads.clear()
        table = loads if op.kind == "load" else known
        if op.kind == "load" or (OPERATIONS[op.kind].is_pure and op.kind not in _APART):
            key = op.kind, operands, _bits(op), tuple(result.type for result in op.results)
            if key in table:
                mapped.update(zip(op.results, table[key], strict=True))
                continue
            table[key] = op.results
        regions = tuple(Block(region.arguments, _once(region.ops, known, mapped)) for region in op.regions)
        found.append(replace(op, operands=operands, regions=regions))
    return tuple(found)


def _acts(op: Op) -> bool:
    """Returns whether memory may be another after an operation."""
    return any(OPERATIONS[o.kind].effect not in (Effect.NONE, Effect.READ, Effect.CONTROL)
               for o in (op, *(inner for region in op.regions for inner in walk(region))))  # fmt: skip


def _bits(op: Op) -> object:
    """The attributes; 0.0 and -0.0 differ, and 1 is not True."""
    return tuple((name, type(value), repr(value)) for name, value in op.attributes)
