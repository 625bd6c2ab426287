"""Barriers for code that trusts the lanes of a warp to run in lockstep.

    if (tid < 32) { volatile float* s = sdata; s[tid] += s[tid + 32]; s[tid] += s[tid + 16]; ... }

Each statement is right only when all lanes read before any writes, and all have written before any reads again. The
rewrite walks the statements in order and remembers what other lanes may still be reading or writing; where that meets
an access of the other kind, the lanes that take part meet first. A statement that reads another lane's element and
writes its own is split by such a barrier and ends with one. Only shared memory reached through `volatile` is treated
so: that is how such code says what it trusts in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from porter.source.edit import Edit
from porter.source.nesting import Wrap
from porter.source.program import Program
from porter.warp.conditions import FULL_WARP, lanes_at
from porter.warp.exchange import Access, accesses_without_barrier, volatile_shared
from porter.warp.flow import Flow
from porter.warp.tree import FunctionTree, written

_CARRIED = "carried"
_NEEDS_NO_PARENTHESES = frozenset({"subscript_expression", "identifier", "call_expression", "parenthesized_expression"})


@dataclass(frozen=True, slots=True)
class _Assignment:
    """A statement that is one assignment."""

    target: Node
    operator: Node
    value: Node


@dataclass(frozen=True, slots=True)
class LockstepAccess:
    """One statement `[start, end)` that reaches the shared `array` with no barrier; `wraps` and `edits` put them in.

    `reason` is set where that cannot be done and says why.
    """

    start: int
    end: int
    array: str
    wraps: tuple[Wrap, ...] = ()
    edits: tuple[Edit, ...] = ()
    reason: str = ""


def lockstep_accesses(function: FunctionTree, flow: Flow, program: Program, sync: str) -> Iterator[LockstepAccess]:
    """The barriers `function` lacks, for each shared array it reaches through `volatile`; all of an array's or none.

    `sync` is the name of the function that a warp meets at, `__syncwarp` in CUDA.
    """
    for array in volatile_shared(function, flow, program):
        accesses = accesses_without_barrier(function, flow, program, array)
        masks = [_participants(a.statement, function, flow, program) for a in accesses]
        met = [{_participants(m, function, flow, program) for m in a.meets} for a in accesses]
        reason = _obstacle(accesses, masks, met)
        for access, lanes in zip(accesses, masks, strict=True):
            start, end = access.statement.start_byte, access.statement.end_byte
            if reason or lanes is None:
                yield LockstepAccess(start, end, array, reason=reason)
            else:
                yield _mended(access, function, _barrier(sync, lanes))


def _obstacle(accesses: tuple[Access, ...], masks: list[int | None], met: list[set[int | None]]) -> str:
    """Returns why barriers cannot be put in; empty when they can.

    A barrier serves the lanes that come to its statement: those that wrote before must be among them.
    """
    if any(mask is None for mask in masks):
        return "which lanes take part could not be proved"
    if any(a.must_split and _assignment(a.statement) is None for a in accesses):
        return "a statement that reads and writes is not a plain assignment"
    if any(_speaks_of_the_warp(a.statement) for a in accesses):
        return "an index speaks of the warp itself"
    if any(others - {mask} for mask, others in zip(masks, met, strict=True)):
        return "the lanes that write are not the lanes that read"
    if any((later or 0) & ~(earlier or 0) for earlier, later in pairwise(masks)):
        return "more lanes take part later than earlier"
    return ""


def _speaks_of_the_warp(statement: Node) -> bool:
    """Returns whether the target of an assignment, which is written twice, would have to be rewritten itself."""
    parts = _assignment(statement)
    text = parts.target.text.decode() if parts and parts.target.text else ""
    return "warpSize" in text or "__" in text


def _participants(
    node: Node, function: FunctionTree, flow: Flow, program: Program, above: frozenset[FunctionTree] = frozenset()
) -> int | None:
    """The lanes that come to `node`, through every call of its function up to a kernel; None where that is unknown."""
    lanes = lanes_at(node, function, flow)
    if any(k.name == function.name for k in program.kernels):
        return lanes
    calls = flow.calls_of(function)
    if not calls or function in above:
        return None
    for call in calls:
        at_call = _participants(call.node, call.caller, flow, program, above | {function})
        lanes = None if lanes is None or at_call is None else lanes & at_call
    return lanes


def _barrier(sync: str, lanes: int) -> str:
    return f"{sync}();" if lanes == FULL_WARP else f"{sync}({lanes:#x});"


def _mended(access: Access, function: FunctionTree, barrier: str) -> LockstepAccess:
    """One statement with the barriers it needs."""
    start, end = access.statement.start_byte, access.statement.end_byte
    before = f"{barrier} " if access.needs_barrier_before else ""
    parts = _assignment(access.statement) if access.must_split else None
    if parts is None:
        return LockstepAccess(start, end, access.array, (Wrap(start, end, f"{{ {before}", " }"),))
    name = _fresh_name(written(access.statement, function.text))
    element = function.text[parts.target.start_byte : parts.target.end_byte]
    around = Wrap(start, end, f"{{ {before}const auto {name} = ", f" {barrier} {element} = {name}; {barrier} }}")
    arithmetic = written(parts.operator, function.text)[:-1]
    if not arithmetic:
        edit = Edit(start, parts.value.start_byte, "")
        return LockstepAccess(start, end, access.array, (around,), (edit,))
    edit = Edit(parts.operator.start_byte, parts.operator.end_byte, arithmetic)
    simple = parts.value.type in _NEEDS_NO_PARENTHESES
    inner = () if simple else (Wrap(parts.value.start_byte, parts.value.end_byte, "(", ")"),)
    return LockstepAccess(start, end, access.array, (around, *inner), (edit,))


def _assignment(statement: Node) -> _Assignment | None:
    inner = statement.named_children
    if statement.type != "expression_statement" or len(inner) != 1 or inner[0].type != "assignment_expression":
        return None
    target, operator, value = (inner[0].child_by_field_name(name) for name in ("left", "operator", "right"))
    return _Assignment(target, operator, value) if target and operator and value else None


def _fresh_name(statement: str) -> str:
    name = _CARRIED
    while name in statement:
        name += "_"
    return name
