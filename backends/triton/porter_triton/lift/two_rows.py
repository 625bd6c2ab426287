"""Scans for which two rows of a shared array take turns, told by doing them: one barrier a step (Hillis and Steele).

`int now = 0; a[now][t] = v; barrier; for (...) { ...; a[1 - now][t] = ...; now = 1 - now; barrier }`, after which
`a[now]` is read, becomes a scan of one row.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate

from porter.syntax.nodes import Assign, Block, Call, Declare, Evaluate, For, Name, Statement, Subscript, Variable
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.exact import Number
from porter_triton.lift.facts import Facts
from porter_triton.lift.scan_trees import Thread, done
from porter_triton.lift.trees import called, intrinsic, is_barrier, is_name, mapped, number, suites

_MOST_THREADS = 512
_OPERATIONS: dict[str, Callable[[Number, Number], Number]] = {
    "sum": operator.add,
    "product": operator.mul,
    "max": max,
    "min": min,
}


def two_row_scan(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """From the declaration of the rows to the end of what holds the scan: how many statements, and the block anew."""
    array = _rows(facts, block.statements[at])
    if array is None or not facts.leaves_together:
        return None
    rest = block.statements[at + 1 :]
    for inner in (block, *suites(rest)):
        for i in range(at + 1 if inner is block else 0, len(inner.statements) - 3):
            found = _found(facts, array, inner.statements[i : i + 4])
            if found is not None and _elsewhere(rest, found):
                return _changed(block, at, inner, i, found)
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    """The scan: its array, the variable that tells the row, its four statements and its operation."""

    array: str
    now: str
    taken: tuple[Statement, ...]
    stored: Assign
    operation: str


def _rows(facts: Facts, statement: Statement) -> str | None:
    """The name of a shared array of two rows with an element a thread."""
    if not isinstance(statement, Declare) or facts.threads is None or facts.threads > _MOST_THREADS:
        return None
    for variable in statement.variables:
        if variable.storage == "shared" and [facts.value(e) for e in variable.extents] == [2, facts.threads]:
            return variable.name
    return None


def _found(facts: Facts, array: str, taken: tuple[Statement, ...]) -> _Found | None:
    first, second, third, loop = taken
    if not isinstance(first, Declare) or len(first.variables) != 1 or not isinstance(loop, For):
        return None
    now, begin = first.variables[0].name, number(first.variables[0].value)
    stored = second.expression if isinstance(second, Evaluate) and is_barrier(third) else None
    if begin not in {0, 1} or not isinstance(stored, Assign) or stored.operator:
        return None
    target = _element(stored.target, array, now)
    if target is None or not facts.is_thread(target.index) or mentions(stored.value, array):
        return None
    if mentions(stored.value, now):
        return None
    if not any(isinstance(n, Call) and called(n) == "__syncthreads" for n in walk(loop)):
        return None
    operation = _operation(facts, array, now, begin, loop)
    return None if operation is None else _Found(array, now, taken, stored, operation)


def _operation(facts: Facts, array: str, now: str, begin: int, loop: For) -> str | None:
    """Returns what the loop makes of the row `begin` in the row `now`; None for no scan."""
    threads = facts.threads or 0
    draw = random.Random(threads)
    before: list[Number] = [draw.randint(2, 10**4) for _ in range(threads)]
    unwritten: list[Number | None] = [None] * threads
    elements = [*unwritten, *before] if begin else [*before, *unwritten]
    block = [
        Thread(facts.unit, {now: begin}, facts=facts, rank=t, array=array, elements=elements) for t in range(threads)
    ]
    if not done(block, (loop,)):
        return None
    last = {thread.values[now] for thread in block if isinstance(thread.values[now], int)}
    row = next(iter(last)) if len(last) == 1 else None
    after = {0: elements[:threads], 1: elements[threads:]}.get(row) if isinstance(row, int) else None
    return next((name for name, join in _OPERATIONS.items() if list(accumulate(before, join)) == after), None)


def _element(node: object, array: str, now: str) -> Subscript | None:
    """`array[now][i]` as `array[i]`; None for anything else."""
    row = node.owner if isinstance(node, Subscript) else None
    if not isinstance(node, Subscript) or not isinstance(row, Subscript):
        return None
    return replace(node, owner=row.owner) if is_name(row.owner, array) and is_name(row.index, now) else None


def _elsewhere(rest: tuple[Statement, ...], found: _Found) -> bool:
    """Returns whether all else that is told of array and variable is elements of the row that holds the result."""
    own = {id(n) for n in walk(found.taken)}
    elements = [n for n in walk(rest) if isinstance(n, Subscript) and _element(n, found.array, found.now) is not None]
    known = {id(n) for element in elements for n in walk(element.owner)}
    named = (n for n in walk(rest) if isinstance(n, Name) and n.name in {found.array, found.now})
    return all(id(n) in own or id(n) in known for n in named)


def _changed(block: Block, at: int, inner: Block, i: int, found: _Found) -> tuple[int, Block]:
    """The block with one row, in whose elements the scan is made."""
    line = found.taken[1].line
    target = found.stored.target
    scan = Assign("", target, intrinsic(f"block_scan_{found.operation}", target, line=line), line)
    begun = (found.taken[1], found.taken[2], Evaluate(scan, line), found.taken[2])
    whole = replace(inner, statements=(*inner.statements[:i], *begun, *inner.statements[i + 4 :]))

    def change(node: object) -> object:
        if isinstance(node, Variable) and node.name == found.array:
            return replace(node, extents=node.extents[1:])
        return _element(node, found.array, found.now) or node

    held = mapped(block, lambda n: whole if n is inner else n)
    holding = [k for k, s in enumerate(block.statements) if any(n is inner for n in walk(s))]
    last = holding[0] if holding else i + len(found.taken) - 1
    return last - at + 1, mapped(held, change)
