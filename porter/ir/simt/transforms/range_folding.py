"""Range folding: what the ranges of integers decide is computed for the blocks that are launched.

In a block of 32 threads `threadIdx.x / 32` is 0, `threadIdx.x % 32` is `threadIdx.x`, and `threadIdx.x < 32` is true;
along an axis of one thread the extent is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from porter.ir.simt.analyses.ranges import ANY_BLOCK, Extents, Range, ranges
from porter.ir.simt.ops import Function, Op
from porter.ir.simt.transforms.folding import constant, folded
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar

_DECIDED: Mapping[str, Callable[[Range, Range], bool | None]] = {
    "lt": lambda a, b: True if a[1] < b[0] else False if a[0] >= b[1] else None,
    "le": lambda a, b: True if a[1] <= b[0] else False if a[0] > b[1] else None,
    "gt": lambda a, b: True if a[0] > b[1] else False if a[1] <= b[0] else None,
    "ge": lambda a, b: True if a[0] >= b[1] else False if a[1] < b[0] else None,
    "eq": lambda a, b: False if a[1] < b[0] or b[1] < a[0] else True if a == b and a[0] == a[1] else None,
    "ne": lambda a, b: True if a[1] < b[0] or b[1] < a[0] else False if a == b and a[0] == a[1] else None,
}


def folded_by_ranges(function: Function, extents: Extents = ANY_BLOCK) -> Function:
    """Returns `function`, for blocks of these extents, with what ranges decide computed."""
    known = ranges(function, extents)

    def rule(op: Op) -> Replacement | None:
        if op.kind in ("block_extent", "thread_index") and known.get(op.result) in ((0, 0), (1, 1)):
            return _one(constant(op.result.type, known[op.result][0], op.result.name))
        if op.kind not in _DECIDED and op.kind not in ("div", "rem"):
            return None
        given = [known.get(operand) for operand in op.operands]
        if given[0] is None or given[1] is None:
            return None
        if op.kind in _DECIDED:
            decided = _DECIDED[op.kind](given[0], given[1])
            return None if decided is None else _one(constant(Scalar.BOOL, decided))
        if given[0][0] < 0 or given[0][1] >= given[1][0]:
            return None
        return Replacement((), op.operands[:1]) if op.kind == "rem" else _one(constant(op.result.type, 0))

    return folded(rewritten(function, rule))


def _one(op: Op) -> Replacement:
    return Replacement((op,), op.results)
