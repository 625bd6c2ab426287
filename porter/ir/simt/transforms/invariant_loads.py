"""Invariant loads: what a loop loads from one place of the block's memory that it does not write is loaded before it.

Memory of the block is there whether or not an iteration runs, so an element at a known index may be loaded ahead. What
stands in a loop else keeps iterations apart that have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from porter.ir.simt.analyses.accesses import Roots, roots
from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.rewriting import Replacement, rewritten, rewritten_ops
from porter.ir.simt.types import Array, Space


def with_invariant_loads_ahead(function: Function) -> Function:
    """Returns `function` whose loops find before them what they load from the block's memory and leave as it is."""
    known, leads = makers(function), roots(function)

    def rule(op: Op) -> Replacement | None:
        if op.kind != "for" or any(inner.kind == "barrier" for inner in walk(op.regions[0])):
            return None
        changed = _changed(op, leads)
        loads = [inner for inner in walk(op.regions[0]) if _is_fixed(inner, known) and inner.operands[0] not in changed]
        return _moved(op, loads, known) if loads and None not in changed else None

    return rewritten(function, rule)


def _changed(loop: Op, leads: Mapping[Value, Roots]) -> Roots:
    """Returns the memory that a loop writes to."""
    writing = [op for op in walk(loop.regions[0]) if op.kind in ("store", "atomic")]
    return frozenset[Value | None]().union(*(leads.get(op.operands[0], frozenset({None})) for op in writing))


def _is_fixed(op: Op, known: Mapping[Value, Op]) -> bool:
    """Returns whether an operation loads an element of the block's memory that is certainly there."""
    if op.kind != "load" or not isinstance(op.operands[0].type, Array):
        return False
    array, index = op.operands[0].type, known.get(op.operands[1])
    place = index.attribute("value") if index is not None and index.kind == "constant" else None
    return array.space is Space.SHARED and isinstance(place, int) and 0 <= place < array.count


def _moved(loop: Op, loads: Sequence[Op], known: Mapping[Value, Op]) -> Replacement:
    """Returns a loop behind some of its loads."""
    ahead: list[Op] = []
    held: dict[Value, Value] = {}
    for load in loads:
        index = replace(known[load.operands[1]], results=(_again(load.operands[1]),))
        moved = replace(load, operands=(load.operands[0], index.result), results=(_again(load.result),))
        ahead += [index, moved]
        held[load.result] = moved.result

    def gone(op: Op) -> Replacement | None:
        return Replacement((), (held[op.result],)) if op.kind == "load" and op.result in held else None

    region = loop.regions[0]
    body = Block(region.arguments, rewritten_ops(region.ops, dict(held), gone))
    return Replacement((*ahead, replace(loop, regions=(body,))), loop.results)


def _again(value: Value) -> Value:
    return Value(value.type, value.name)
