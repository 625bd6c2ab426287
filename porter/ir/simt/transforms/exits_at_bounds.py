"""Exits at bounds: a loop that a thread leaves for good where an index has reached a bound asks for the bound alone.

`for (k = 0; k < 4; ++k) { if (i + k >= n) return; ... }` carries whether the thread has left. Where the index never
falls again, the comparison says the same in every later iteration, so that iterations need not wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from porter.ir.simt.analyses.ranges import ANY_BLOCK, Extents, Range, limits, ranges
from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar


def without_exits_at_bounds(function: Function, block: Extents = ANY_BLOCK) -> Function:
    """Returns `function`, for blocks of these extents, whose loops ask for a bound in place of having left before."""
    facts = _Facts(makers(function), ranges(function, block))
    return rewritten(function, lambda op: _rewritten(op, facts) if op.kind == "for" else None)


@dataclass(frozen=True, slots=True)
class _Facts:
    makers: Mapping[Value, Op]
    ranges: Mapping[Value, Range]

    def is_constant(self, value: Value, number: int) -> bool:
        maker = self.makers.get(value)
        return maker is not None and maker.kind == "constant" and maker.attribute("value") == number

    def never_falls(self, value: Value, region: Block, body: Sequence[Op]) -> bool:
        """Returns whether a value is at least as large in each iteration as in the one before, without wrapping."""
        if value in region.arguments:
            return value is region.arguments[0]
        maker = next((op for op in body if value in op.results), None)
        if maker is None:  # from outside of the loop, where it is one number
            return True
        if maker.kind not in ("add", "mul", "cast") or not self._is_exact(value):
            return False
        if maker.kind == "mul" and any(self.ranges.get(o, (-1, 0))[0] < 0 for o in maker.operands):
            return False
        return all(self.never_falls(operand, region, body) for operand in maker.operands)

    def _is_exact(self, value: Value) -> bool:
        """Returns whether a number does not wrap around: it has a sign, or is known to stay within its type."""
        whole = limits(value.type)
        assert isinstance(value.type, Scalar)
        if whole is None:
            return False
        return value.type.is_signed or self.ranges.get(value, whole)[1] < whole[1]


def _rewritten(loop: Op, facts: _Facts) -> Replacement | None:
    region = loop.regions[0]
    if facts.ranges.get(loop.operands[2], (0, 0))[0] <= 0 or loop.attribute("compare") not in ("lt", "le"):
        return None
    *head, end = region.ops
    guard = head.pop() if head else end
    if guard.kind != "if" or end.operands != guard.results or not all(OPERATIONS[op.kind].is_pure for op in head):
        return None
    for number, left in enumerate(region.arguments[1:]):
        if not facts.is_constant(loop.operands[3 + number], 0) or left.type is not Scalar.BOOL:
            continue
        body = _without_guard(head, guard, region, number, facts)
        if body is not None:
            made = Op(loop.kind, loop.operands, loop.results, loop.attributes,
                      (Block(region.arguments, (*body, end)),), loop.location)  # fmt: skip
            return Replacement((made,), loop.results)
    return None


def _without_guard(head: Sequence[Op], guard: Op, region: Block, number: int, facts: _Facts) -> tuple[Op, ...] | None:
    """Returns the body of a loop without asking whether a thread has left; None where that is not the same."""
    carried = region.arguments[1:]
    left = carried[number]
    asked = next((op for op in head if op.results == (guard.operands[0],)), None)
    if asked is None or asked.kind != "not" or asked.operands != (left,):
        return None
    yes, no = guard.regions
    *before, inner, handed = yes.ops if len(yes.ops) > 1 else (*yes.ops, *yes.ops)
    if inner.kind != "if" or handed.operands != inner.results or no.ops[-1].operands != carried or len(no.ops) > 1:
        return None
    if not all(OPERATIONS[op.kind].is_pure for op in before):
        return None
    goes_on, leaves = (part.ops[-1].operands for part in inner.regions)
    stays = [value for n, value in enumerate(leaves) if n != number] == [
        v for n, v in enumerate(carried) if n != number
    ]
    if not stays or goes_on[number] is not left or len(inner.regions[1].ops) > 2:
        return None
    told = next((op for op in inner.regions[1].ops if op.results == (leaves[number],)), None)
    if told is None or told.kind != "constant" or told.attribute("value") is not True:
        return None
    outside = [*head, *before]
    bound = next((op for op in outside if op.results == (inner.operands[0],)), None)
    if bound is None or bound.kind not in ("lt", "le"):
        return None
    index, limit = bound.operands
    is_fixed = limit not in region.arguments and not any(limit in op.results for op in outside)
    if not is_fixed or not facts.never_falls(index, region, outside):
        return None
    made = Op("if", inner.operands, guard.results, inner.attributes, inner.regions, inner.location)
    return (*head, *before, made)
