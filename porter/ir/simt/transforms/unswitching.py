"""Unswitching: a loop that asks the same question in each iteration becomes two, and the question is asked once.

It pays where all threads have the same answer: what is left in each loop are accesses without a branch around them, of
which a tile can have several iterations at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.rewriting import Mapped, Replacement, cloned, rewritten, rewritten_ops

_MOST_OPERATIONS = 60  # of a loop that is written twice


def unswitched(function: Function) -> Function:
    """Returns `function` with two loops for each that branches on what is known before it, if threads agree on that."""
    varying = uniformity(function).varying

    def split(op: Op) -> Replacement | None:
        if op.kind != "for" or not _is_short(op):
            return None
        agreed = (one for one in _branches(op.regions[0]) if one.operands[0] not in varying)
        asked = [(one, ahead) for one in agreed if (ahead := _ahead(op, one.operands[0])) is not None]
        return _split(op, *asked[0]) if len(asked) == 1 else None

    return rewritten(function, split)


def _is_short(loop: Op) -> bool:
    """Returns whether it holds no other loop, and few operations."""
    inner = list(walk(loop.regions[0]))
    return len(inner) <= _MOST_OPERATIONS and not any(op.kind in ("for", "while") for op in inner)


def _branches(block: Block) -> Iterator[Op]:
    for op in block.ops:
        if op.kind == "if":
            yield op
            for region in op.regions:
                yield from _branches(region)


def _ahead(loop: Op, condition: Value) -> tuple[Op, ...] | None:
    """Returns the operations of the loop that compute a condition, if they can be done before it; else None."""
    found: list[Op] = []
    wanted = {condition}
    for op in reversed(list(walk(loop.regions[0]))):
        if wanted.isdisjoint(op.results):
            continue
        if not OPERATIONS[op.kind].is_pure or op.regions:
            return None
        found.append(op)
        wanted = wanted.difference(op.results).union(op.operands)
    return None if not wanted.isdisjoint(loop.regions[0].arguments) else tuple(reversed(found))


def _split(loop: Op, branch: Op, ahead: Sequence[Op]) -> Replacement:
    mapped: Mapped = {}
    before = cloned(ahead, mapped)
    condition = mapped.get(branch.operands[0], branch.operands[0])
    results = tuple(Value(result.type, result.name) for result in loop.results)
    sides = [_side(loop, branch, number) for number in (0, 1)]
    regions = tuple(Block((), (side, Op("yield", side.results))) for side in sides)
    return Replacement((*before, Op("if", (condition,), results, (), regions, loop.location)), results)


def _side(loop: Op, branch: Op, number: int) -> Op:
    """Returns a copy of the loop in which the branch always goes to this side."""
    mapped: Mapped = {}
    (region,) = loop.regions
    ops = rewritten_ops(_spliced(region.ops, branch, number, mapped), mapped, lambda _: None)
    (copy,) = cloned((replace(loop, regions=(Block(region.arguments, ops),)),), {})
    return copy


def _spliced(ops: Sequence[Op], branch: Op, number: int, mapped: Mapped) -> list[Op]:
    """Returns operations with those of the side in place of the branch; `mapped` has what stands for its results."""
    found: list[Op] = []
    for op in ops:
        if op is branch:
            *inner, last = op.regions[number].ops
            found += inner
            mapped.update(zip(op.results, last.operands, strict=True))
        else:
            regions = (Block(r.arguments, tuple(_spliced(r.ops, branch, number, mapped))) for r in op.regions)
            found.append(replace(op, regions=tuple(regions)))
    return found
