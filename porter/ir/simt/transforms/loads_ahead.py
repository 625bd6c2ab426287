"""Loads ahead: those of several iterations come before the first of them goes on, where each needs the one before it.

A running mean is updated step by step, but what it is updated with does not depend on it. A device's compiler writes
out such loops and moves the loads together, but not across the branches of a division that is rounded to nearest. So
there the loads of four iterations come first, then the iterations, each under its own condition. On an H100 a group
norm by Welford's method takes 9.2 ms in place of 14.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.ir.simt.analyses.accesses import roots
from porter.ir.simt.analyses.independence import Tables, independent
from porter.ir.simt.analyses.ranges import ranges
from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers, uses
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.transforms.rewriting import Replacement, cloned, rewritten
from porter.ir.simt.types import Scalar

_COUNT = 4
_LARGEST_STEP = 4096  # of which several do not pass the counter's type, unless what it counts to nearly does
_BRANCHES = frozenset({"div", "sqrt"})  # for what is subnormal, infinite or no number
_MOST_OPERATIONS = 24  # that wait for the iteration before: they are written out for each


def with_loads_ahead(function: Function) -> Function:
    """Returns `function` with the loads of four iterations before what they do, where these wait for each other."""
    known = ranges(function)
    tables = Tables(uniformity(function).varying, makers(function), uses(function), roots(function), known)

    def rule(op: Op) -> Replacement | None:
        if op.kind != "for" or op.attribute("compare") != "lt" or any(o in tables.varying for o in op.operands[:3]):
            return None
        low, high = known.get(op.operands[2], (0, 0))
        if not 1 <= low <= high <= _LARGEST_STEP:
            return None
        body = _body(op, tables)
        return None if body is None or independent(op, tables) is not None else _written(op, body)

    return rewritten(function, rule)


@dataclass(frozen=True, slots=True)
class _Body:
    """An iteration: what finds the thread's place, `guard` on it, and of its operations those before they wait."""

    place: tuple[Op, ...]
    guard: Op
    early: tuple[Op, ...]
    late: tuple[Op, ...]


def _body(loop: Op, tables: Tables) -> _Body | None:
    """Returns the parts of an iteration; None where its loads may not be moved, or need not be."""
    *place, guard, end = loop.regions[0].ops if len(loop.regions[0].ops) > 1 else (*loop.regions[0].ops,) * 2
    carried = loop.regions[0].arguments[1:]
    if guard.kind != "if" or not carried or guard.operands[0] not in tables.varying or end.operands != guard.results:
        return None
    yes, no = guard.regions
    if no.ops[-1].operands != carried or len(no.ops) > 1 or not all(OPERATIONS[op.kind].is_pure for op in place):
        return None
    if any(OPERATIONS[op.kind].effect.value not in ("none", "read", "control") for op in walk(yes)):
        return None
    waiting = set(carried)
    early: list[Op] = []
    late: list[Op] = []
    place += [op for op in yes.ops if op.kind == "constant"]
    for op in yes.ops[:-1]:
        if op.kind == "constant":
            continue
        needs = {operand for inner in walk(Block((), (op,))) for operand in inner.operands}
        waits = bool(op.regions) or not waiting.isdisjoint(needs)
        (late if waits else early).append(op)
        waiting.update(op.results if waits else ())
    loads = [op for op in early if op.kind == "load" and op.result in tables.varying]
    works = list(walk(Block((), tuple(late))))
    if not loads or len(works) > _MOST_OPERATIONS or not any(_has_branches(op) for op in works):
        return None
    return _Body(tuple(place), guard, tuple(early), (*late, yes.ops[-1]))


def _has_branches(op: Op) -> bool:
    return op.kind in _BRANCHES and isinstance(op.result.type, Scalar) and op.result.type.is_float


def _written(loop: Op, body: _Body) -> Replacement:
    counter, *carried = loop.regions[0].arguments
    start = Value(counter.type, "start")
    needed = {operand for op in walk(Block((), body.late)) for operand in op.operands}
    handed = [result for op in body.early for result in op.results if result in needed]
    first: list[Op] = []
    then: list[Op] = []
    current = tuple(carried)
    for number in range(_COUNT):
        mapped: dict[Value, Value] = {}
        moved = constant(counter.type, number)
        distance = Op("mul", (loop.operands[2], moved.result), (Value(counter.type),))
        own = Op("add", (start, distance.result), (Value(counter.type, counter.name),))
        mapped[counter] = own.result
        first += [moved, distance, own, *cloned(body.place, mapped)]
        condition = mapped.get(body.guard.operands[0], body.guard.operands[0])
        first.append(_ahead(body, condition, handed, mapped))
        mapped.update(zip(carried, current, strict=True))
        results = tuple(Value(value.type, value.name) for value in body.guard.results)
        late = Block((), cloned(body.late, mapped))
        then.append(Op("if", (condition,), results, (), (late, Block((), (Op("yield", current),))), loop.location))
        current = results
    count = constant(loop.operands[2].type, _COUNT)
    step = Op("mul", (loop.operands[2], count.result), (Value(loop.operands[2].type),))
    region = Block((start, *carried), (*first, *then, Op("yield", current)))
    operands = (*loop.operands[:2], step.result, *loop.operands[3:])
    return Replacement((count, step, replace(loop, operands=operands, regions=(region,))), loop.results)


def _ahead(body: _Body, condition: Value, handed: list[Value], mapped: dict[Value, Value]) -> Op:
    """Returns the loads of an iteration; `mapped` has what they give afterwards."""
    inner = cloned(body.early, mapped)
    made = tuple(mapped[value] for value in handed)
    others = [Op("undefined", (), (Value(value.type),)) for value in handed]
    results = tuple(Value(value.type, value.name) for value in handed)
    mapped.update(zip(handed, results, strict=True))
    sides = Block((), (*inner, Op("yield", made))), Block((), (*others, Op("yield", tuple(o.result for o in others))))
    return Op("if", (condition,), results, (), sides, body.guard.location)
