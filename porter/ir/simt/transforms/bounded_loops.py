"""Bounded loops: threads that each count through a window of their own count together through the largest.

`for (h = max(a, 0); h < min(a + k, n); ++h)` has at most k iterations in every thread. Where all threads agree on k, it
becomes a loop of k iterations for all, each of which begins with the thread's own `h < min(a + k, n)`. Each thread
carries its h: an average over windows of 3 x 3 x 3 takes 5.8 ms on an H100 so, 7.0 where h is computed of the
iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar


def with_bounded_loops(function: Function) -> Function:
    """Returns `function` with a uniform loop where a uniform number bounds how often threads go through one."""
    agreed, known = uniformity(function), makers(function)

    def rule(op: Op) -> Replacement | None:
        if op.kind != "for" or op.attribute("compare") != "lt" or not _is_one(op.operands[2], known):
            return None
        if not any(operand in agreed.varying for operand in op.operands[:2]):
            return None
        width = _width(op.operands[0], op.operands[1], known)
        if width is None or width in agreed.varying or width in agreed.doubtful:
            return None
        return _rewritten(op, width)

    return rewritten(function, rule)


def _is_one(step: Value, known: Mapping[Value, Op]) -> bool:
    maker = known.get(step)
    return maker is not None and maker.kind == "constant" and maker.attribute("value") == 1


def _width(start: Value, stop: Value, known: Mapping[Value, Op]) -> Value | None:
    """Returns a value by which the limit of a loop is at most behind its start; None where none is found.

    Both have a sign, so their sums do not wrap around.
    """
    if not isinstance(start.type, Scalar) or not start.type.is_signed:
        return None
    lower = set(_bounds(start, "max", known))
    for upper in _bounds(stop, "min", known):
        maker = known.get(upper)
        if maker is not None and maker.kind == "add":
            for one, other in (maker.operands, maker.operands[::-1]):
                if one in lower:
                    return other
    return None


def _bounds(value: Value, kind: str, known: Mapping[Value, Op]) -> Iterator[Value]:
    """Yields a value and, where it is an extreme, what that is at most or at least."""
    yield value
    maker = known.get(value)
    if maker is not None and maker.kind == kind:
        for operand in maker.operands:
            yield from _bounds(operand, kind, known)


def _rewritten(op: Op, width: Value) -> Replacement:
    (region,) = op.regions
    own, *carried = region.arguments
    zero = constant(own.type, 0)
    turn, inside, next_ = Value(own.type, "turn"), Value(Scalar.BOOL, "inside"), Value(own.type)
    results = tuple(Value(argument.type, argument.name) for argument in carried)
    kept = Block((), (replace(region.ops[-1], operands=tuple(carried)),))
    body = (
        Op("lt", (own, op.operands[1]), (inside,)),
        Op("if", (inside,), results, (), (Block((), region.ops), kept), op.location),
        Op("add", (own, op.operands[2]), (next_,)),
        Op("yield", (next_, *results)),
    )
    operands = (zero.result, width, op.operands[2], op.operands[0], *op.operands[3:])
    ends = (Value(own.type), *op.results)
    loop = replace(op, operands=operands, results=ends, regions=(Block((turn, own, *carried), body),))
    return Replacement((zero, loop), op.results)
