"""Joined stores: where both sides of a branch end by storing to one place, it is one store of what either has.

On a device that is one access of all threads, where two under opposite masks are two of some.
"""

from __future__ import annotations

from dataclasses import replace

from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, rewritten


def with_joined_stores(function: Function) -> Function:
    """Returns `function` with one store for two that end the sides of a branch."""
    return rewritten(function, lambda op: _joined(op) if op.kind == "if" else None)


def _joined(op: Op) -> Replacement | None:
    ends = [region.ops[-2] if len(region.ops) > 1 else None for region in op.regions]
    one, other = ends
    if one is None or other is None or one.kind != "store" or other.kind != "store":
        return None
    inside = {result for region in op.regions for inner in region.ops for result in inner.results}
    if one.operands[:2] != other.operands[:2] or not inside.isdisjoint(one.operands[:2]):
        return None
    handed = Value(one.operands[2].type)
    regions = tuple(_handing(region) for region in op.regions)
    branch = replace(op, results=(*op.results, handed), regions=regions)
    return Replacement((branch, replace(one, operands=(*one.operands[:2], handed))), op.results)


def _handing(region: Block) -> Block:
    """Returns a region that hands on what it stores at its end."""
    *ops, store, end = region.ops
    return Block(region.arguments, (*ops, replace(end, operands=(*end.operands, store.operands[2]))))
