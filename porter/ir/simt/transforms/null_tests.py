"""Null tests: what a branch asks of pointers for null is a branch of its own, around the rest of the condition.

A launch that passes no pointer is compiled without what stands behind the test, which a condition that a run decides
would keep. A pointer that was moved is asked for at the place it was moved from, which a launch passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.ir.simt.analyses.uses import makers
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.rewriting import Replacement, cloned, rewritten
from porter.ir.simt.types import Pointer


def with_null_tests_first(function: Function) -> Function:
    """Returns `function` with each test of a pointer for null in a branch of its own."""
    function = _of_unmoved(function)
    known = makers(function)
    while True:
        changed = [False]

        def rule(op: Op, known: Mapping[Value, Op] = known, changed: list[bool] = changed) -> Replacement | None:
            found = _split(op, known) if op.kind == "if" else None
            changed[0] |= found is not None
            return found

        function = rewritten(function, rule)
        if not changed[0]:
            return function
        known = makers(function)


def _of_unmoved(function: Function) -> Function:
    """Returns `function` with null tests of pointers as they were before any offset."""
    known = makers(function)

    def rule(op: Op) -> Replacement | None:
        if not _compares_with_null(op, known) or (begin := _unmoved(op.operands[0], known)) is op.operands[0]:
            return None
        null = Op("constant", (), (Value(begin.type),), (("value", 0),), (), op.location)
        return Replacement((null, replace(op, operands=(begin, null.result))), op.results)

    return rewritten(function, rule)


def _unmoved(pointer: Value, known: Mapping[Value, Op]) -> Value:
    """Returns the pointer that `pointer` lies at an offset from, on whatever side of branches it was moved."""
    maker = known.get(pointer)
    if maker is None:
        return pointer
    if maker.kind == "offset":
        return _unmoved(maker.operands[0], known)
    sides = maker.operands[1:] if maker.kind == "select" else ()
    if maker.kind == "if":
        place = maker.results.index(pointer)
        sides = tuple(region.ops[-1].operands[place] for region in maker.regions)
    begins = {_unmoved(side, known) for side in sides}
    return begins.pop() if len(begins) == 1 else pointer


def _split(op: Op, known: Mapping[Value, Op]) -> Replacement | None:
    maker = known.get(op.operands[0])
    if maker is None or maker.kind not in ("and", "or"):
        return None
    tests = [operand for operand in maker.operands if _is_null_test(operand, known)]
    if not tests:
        return None
    rest = maker.operands[1] if maker.operands[0] is tests[0] else maker.operands[0]
    yes, no = op.regions
    results = tuple(_again(result) for result in op.results)
    sides = (yes, _copied(no)) if maker.kind == "and" else (_copied(yes), no)
    inner = replace(op, operands=(rest,), results=results, regions=sides)
    within = Block((), (inner, Op("yield", results)))
    regions = (within, no) if maker.kind == "and" else (yes, within)
    return Replacement((replace(op, operands=(tests[0],), regions=regions),), op.results)


def _is_null_test(value: Value, known: Mapping[Value, Op]) -> bool:
    """Returns whether a truth value says of a pointer, or of some, whether they are null."""
    maker = known.get(value)
    if maker is None:
        return False
    if maker.kind in ("and", "or", "not"):
        return all(_is_null_test(operand, known) for operand in maker.operands)
    return _compares_with_null(maker, known)


def _compares_with_null(op: Op, known: Mapping[Value, Op]) -> bool:
    if op.kind not in ("eq", "ne") or not isinstance(op.operands[0].type, Pointer):
        return False
    other = known.get(op.operands[1])
    return other is not None and other.kind == "constant"


def _copied(block: Block) -> Block:
    return Block((), cloned(block.ops, {}))


def _again(value: Value) -> Value:
    return Value(value.type, value.name)
