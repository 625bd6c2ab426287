"""Conditions within loops: a branch that some threads take through a loop of all becomes a branch in each iteration.

`if (c) for (...) s += x;` runs for all threads on a device in any case. Inside of the loop the condition is one of what
is added, which [masked sums](masked_sums.py) make 0, so that no sum is chosen again behind the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from porter.ir.simt.analyses.uniformity import Uniformity, uniformity
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, rewritten


def with_conditions_within(function: Function) -> Function:
    """Returns `function` with branches that diverge inside of the uniform loops that are all they hold."""
    agreed = uniformity(function)
    return rewritten(function, lambda op: _moved(op, agreed) if op.kind == "if" else None)


def _moved(op: Op, agreed: Uniformity) -> Replacement | None:
    if op.operands[0] not in agreed.varying:
        return None
    yes, no = op.regions
    loops = [inner for inner in yes.ops if inner.kind == "for"]
    if len(loops) != 1 or len(no.ops) != 1 or not op.results:
        return None
    (loop,) = loops
    before = yes.ops[: yes.ops.index(loop)]
    if yes.ops[len(before) + 1 :] != yes.ops[-1:] or not all(OPERATIONS[inner.kind].is_pure for inner in before):
        return None
    if any(o in agreed.varying or o in agreed.doubtful for o in loop.operands[:3]):
        return None
    handed = yes.ops[-1].operands
    if any(value not in loop.results for value in handed):
        return None
    numbers = [loop.results.index(value) for value in handed]
    if no.ops[-1].operands != tuple(loop.operands[3 + number] for number in numbers):
        return None
    guarded = _guarded(loop, op.operands[0], numbers)
    return None if guarded is None else Replacement((*before, guarded), handed)


def _guarded(loop: Op, condition: Value, numbers: Sequence[int]) -> Op | None:
    """Returns a loop whose body runs under a condition but for what it carries for itself; `numbers` are asked for."""
    (region,) = loop.regions
    *ops, end = region.ops
    own = [value for number, value in enumerate(end.operands) if number not in numbers]
    outside = _makers(ops, own)
    if outside is None:
        return None
    carried = [region.arguments[1 + number] for number in numbers]
    results = tuple(Value(argument.type, argument.name) for argument in carried)
    inside = [op for op in ops if op not in outside]
    made = Block((), (*inside, replace(end, operands=tuple(end.operands[number] for number in numbers))))
    kept = Block((), (replace(end, operands=tuple(carried)),))
    branch = Op("if", (condition,), results, (), (made, kept), loop.location)
    by_number = dict(zip(numbers, results, strict=True))
    ends = tuple(by_number.get(number, value) for number, value in enumerate(end.operands))
    return replace(loop, regions=(Block(region.arguments, (*outside, branch, replace(end, operands=ends))),))


def _makers(ops: Sequence[Op], wanted: Sequence[Value]) -> list[Op] | None:
    """Returns the operations that make some values, in order; None where one of them is not pure."""
    needed, found = set(wanted), []
    for op in reversed(ops):
        if not needed.isdisjoint(op.results):
            if not OPERATIONS[op.kind].is_pure:
                return None
            found.append(op)
            needed.update(op.operands)
    return found[::-1]
