"""Joined branches: `if (a) { if (b) ...; }` where neither does anything else is one branch on both conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar


def with_joined_branches(function: Function) -> Function:
    """Returns `function` with one branch for two that diverge, where both hand on the same otherwise."""
    varying, known = uniformity(function).varying, makers(function)
    return rewritten(function, lambda op: _joined(op, known) if op.kind == "if" and op.operands[0] in varying else None)


def _joined(op: Op, known: Mapping[Value, Op]) -> Replacement | None:
    yes, no = op.regions
    if not op.results or len(yes.ops) == 1:
        return None
    *before, inner, end = yes.ops
    if inner.kind != "if" or end.operands != inner.results:
        return None
    if not all(OPERATIONS[one.kind].is_pure for one in (*before, *no.ops[:-1], *inner.regions[1].ops[:-1])):
        return None
    others = zip(no.ops[-1].operands, inner.regions[1].ops[-1].operands, strict=True)
    if not all(one is other or _are_equal(known.get(one), known.get(other)) for one, other in others):
        return None
    both = Op("and", (op.operands[0], inner.operands[0]), (Value(Scalar.BOOL),))
    joined = replace(inner, operands=(both.result,), results=op.results, regions=(inner.regions[0], no))
    return Replacement((*before, both, joined), op.results)


def _are_equal(one: Op | None, other: Op | None) -> bool:
    """Returns whether two constants are the same number, the sign of zero included."""
    if one is None or other is None or one.kind != "constant" or other.kind != "constant":
        return False
    return repr(one.attribute("value")) == repr(other.attribute("value")) and one.result.type == other.result.type
