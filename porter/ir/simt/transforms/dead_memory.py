"""Takes away memory of a block or thread that nothing is made of, and then barriers that order nothing.

Stores to memory count for nothing until something lives that was loaded from it: a tree of sums in shared memory whose
result is told otherwise goes, although it reads what it writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from porter.ir.simt.analyses.accesses import Roots, roots
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.rewriting import Replacement, rewritten, rewritten_ops
from porter.ir.simt.types import Pointer

_NOTHING = Replacement((), ())
_ACCESSES = ("load", "store", "atomic")


def without_dead_memory(function: Function) -> Function:
    """Returns `function` without stores that nothing lives by, and without barriers where no thread sees another's."""
    pointers = roots(function)
    dead = {op.result for op in walk(function.body) if op.kind in ("array", "dynamic_shared")}
    dead -= _handed_on(function, pointers)
    while True:
        made = _without_stores(function, pointers, dead)
        alive = {root for op in walk(made.body) if op.kind in ("load", "atomic") for root in _touched(op, pointers)}
        if None in alive or dead.isdisjoint(alive):
            return _without_barriers(function if None in alive else made)
        dead -= {root for root in alive if root is not None}


def _touched(op: Op, pointers: Mapping[Value, Roots]) -> Roots:
    return pointers.get(op.operands[0], frozenset({None}))


def _handed_on(function: Function, pointers: Mapping[Value, Roots]) -> set[Value]:
    """The memory whose address becomes a number, by which anything may read it."""
    found: set[Value] = set()
    for op in walk(function.body):
        if (
            op.kind == "bitcast"
            and isinstance(op.operands[0].type, Pointer)
            and not isinstance(op.result.type, Pointer)
        ):
            found |= {root for root in pointers.get(op.operands[0], frozenset()) if root is not None}
    return found


def _without_stores(function: Function, pointers: Mapping[Value, Roots], dead: AbstractSet[Value]) -> Function:
    def dropped(op: Op) -> Replacement | None:
        return _NOTHING if op.kind == "store" and _touched(op, pointers) <= dead else None

    return rewritten(function, dropped)


def _without_barriers(function: Function) -> Function:
    """Barriers order nothing where no memory is both written and touched by another access.

    Those of control that accesses no memory are as good as one behind it.
    """
    if not needs_order(function):
        return rewritten(function, lambda op: _NOTHING if _is_barrier(op) else None)

    def one_behind(op: Op) -> Replacement | None:
        inner = [part for region in op.regions for part in walk(region)]
        if any(part.kind in _ACCESSES for part in inner) or not any(map(_is_barrier, inner)):
            return None
        regions = tuple(Block(region.arguments, _without(region.ops)) for region in op.regions)
        return Replacement((replace(op, regions=regions), Op("barrier", (), (), (("scope", "block"),))), op.results)

    return rewritten(function, one_behind)


def _without(ops: Sequence[Op]) -> tuple[Op, ...]:
    """Returns operations without barriers among them or within them."""
    return rewritten_ops(ops, {}, lambda op: _NOTHING if _is_barrier(op) else None)


def needs_order(function: Function, besides: AbstractSet[Value] = frozenset()) -> bool:
    """Returns whether barriers order accesses of any memory `besides` this."""
    pointers = roots(function)
    written: list[Value | None] = []
    touched: list[Value | None] = []
    for op in walk(function.body):
        if op.kind in _ACCESSES:
            places = _touched(op, pointers) - besides
            touched += places
            written += places if op.kind != "load" else ()
    return None in touched or any(touched.count(root) > 1 for root in written)


def _is_barrier(op: Op) -> bool:
    return op.kind == "barrier" and op.attribute("scope") in ("block", "warp")
