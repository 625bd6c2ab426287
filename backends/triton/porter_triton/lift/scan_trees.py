"""Scans as trees over a shared array, up with sums and down with what lies before (Blelloch), told by doing them.

All threads of a block run the statements on exact numbers, from barrier to barrier; what the array holds then must be
the sums of what it held before. As everywhere in lowering, threads do not race.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from porter.syntax.nodes import (
    Assign,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Member,
    Name,
    Statement,
    Subscript,
    Update,
)
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.exact import InexactError, Machine, Number, Struct, number
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import called, intrinsic, is_barrier
from porter_triton.lower.assigned import assigned_names

_MOST_THREADS = 512
_MOST_STATEMENTS = 12
_MOST_ROUNDS = 64


def tree_scan(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The scan whose loops begin at the statement `at`: how many statements it takes, and the block with one word."""
    if block is not facts.function.body or facts.threads is None or facts.threads > _MOST_THREADS:
        return None
    if not facts.leaves_together or not isinstance(block.statements[at], For):
        return None
    first = at
    while first and isinstance(block.statements[first - 1], Declare):
        first -= 1
    for begin in {at, first}:
        found = _run(facts, block, begin, at)
        if found is not None:
            return found
    return None


def _run(facts: Facts, block: Block, begin: int, at: int) -> tuple[int, Block] | None:
    """The scan from the statement `begin` to the second loop that steps through powers of two."""
    end, loops = at, 0
    while end < len(block.statements) and end - at < _MOST_STATEMENTS and loops < 2:
        loops += isinstance(block.statements[end], For) and _waits(block.statements[end])
        end += 1
    taken = block.statements[begin:end]
    array = _only_array(facts, taken)
    if loops < 2 or array is None or not _forgotten(facts, taken, block.statements[end:], array[0]):
        return None
    kind = _scan(facts, taken, *array)
    if kind is None:
        return None
    line = block.statements[at].line
    whole = Evaluate(intrinsic(f"array_scan_{kind}", Name(array[0], line=line), line=line), line)
    return end - begin, Block((*block.statements[:begin], whole, *block.statements[end:]), block.line)


def _waits(loop: Statement) -> bool:
    return any(isinstance(n, Call) and called(n) == "__syncthreads" for n in walk(loop))


def _only_array(facts: Facts, taken: tuple[Statement, ...]) -> tuple[str, int] | None:
    """The one array that is read and written, a shared one of a known power of two, with its length."""
    names = {n.owner.name for n in walk(taken) if isinstance(n, Subscript) and isinstance(n.owner, Name)}
    declared = (n for n in walk(facts.function.body) if isinstance(n, Declare))
    shared = [v for n in declared for v in n.variables if v.name in names and v.storage == "shared"]
    if len(names) != 1 or len(shared) != 1 or len(shared[0].extents) != 1:
        return None
    length = facts.value(shared[0].extents[0])
    return (shared[0].name, length) if length and length & (length - 1) == 0 else None


def _forgotten(facts: Facts, taken: tuple[Statement, ...], rest: tuple[Statement, ...], array: str) -> bool:
    """Returns whether nothing but the array tells later what the statements did."""
    inside = {v.name for s in taken for n in walk(s) if isinstance(n, Declare) for v in n.variables}
    outer = {v.name for s in taken if isinstance(s, Declare) for v in s.variables}
    return assigned_names(facts.unit, taken) <= inside | {array} and not any(mentions(rest, name) for name in outer)


def _scan(facts: Facts, taken: tuple[Statement, ...], array: str, length: int) -> str | None:
    """Returns which sums the statements leave: of all elements up to each, or of those before it; None for anything
    else.
    """
    draw = random.Random(length)
    before = [draw.randint(-(10**9), 10**9) for _ in range(length)]
    elements: list[Number | None] = list(before)
    threads = [Thread(facts.unit, {}, facts=facts, rank=t, array=array, elements=elements)
               for t in range(facts.threads or 0)]  # fmt: skip
    sums = list(accumulate(before))
    if not done(threads, taken) or elements not in (sums, [0, *sums[:-1]]):
        return None
    return "inclusive" if elements == sums else "exclusive"


def done(threads: Sequence[Thread], taken: tuple[Statement, ...]) -> bool:
    """Returns whether all threads come to the end of the statements, which they run from barrier to barrier."""
    running = [thread.steps(taken) for thread in threads]
    try:
        for _ in range(_MOST_ROUNDS):
            running = [steps for steps in running if next(steps, None) is not None]
            if not running:
                return True
    except InexactError:
        pass
    return False


@dataclass(frozen=True)
class Thread(Machine):
    """One thread, which stops at barriers; `elements` are those of the array, None unwritten, shared by all threads."""

    facts: Facts = field(kw_only=True)
    rank: int = field(kw_only=True)
    array: str = field(kw_only=True)
    elements: list[Number | None] = field(kw_only=True)

    def steps(self, statements: tuple[Statement, ...]) -> Iterator[bool]:
        """Run the statements; gives True at each barrier."""
        for statement in statements:
            if called(statement) == "__syncthreads":
                yield True
            elif isinstance(statement, Block):
                yield from self.steps(statement.statements)
            elif isinstance(statement, If):
                chosen = statement.yes if self.number(statement.condition) else statement.no
                yield from self.steps(chosen.statements if chosen is not None else ())
            elif isinstance(statement, For):
                yield from self._loop(statement)
            elif not is_barrier(statement) and self.run((statement,)) is not None:
                raise InexactError

    def _loop(self, loop: For) -> Iterator[bool]:
        yield from self.steps(loop.start)
        for _ in range(_MOST_ROUNDS):
            if loop.condition is None or not self.number(loop.condition):
                return
            yield from self.steps(loop.body.statements)
            if loop.step is not None:
                self.value(loop.step)
        raise InexactError

    def value(self, node: Expression) -> Number | Struct:
        """As a machine's, with elements of the array, the thread's number, and what is certain of names."""
        if isinstance(node, Subscript):
            held = self.elements[self._index(node)]
            if held is None:
                raise InexactError
            return held
        if isinstance(node, Member) and node.owner == Name("threadIdx", line=node.owner.line):
            return self.rank if node.name == "x" else 0
        if isinstance(node, Update):
            change = 1 if node.operator == "++" else -1
            return self._set(node.operand, self.number(node.operand) + change)
        if isinstance(node, Assign) and isinstance(node.target, Subscript):
            changed = self.changed(node)
            self.elements[self._index(node.target)] = number(changed)
            return changed
        if (constant := self.facts.value(node)) is not None and not isinstance(node, Name):
            return constant
        if isinstance(node, Name) and node.name not in self.values:
            if node.name in self.facts.fixed:
                return self.value(self.facts.fixed[node.name])
            if constant is not None:
                return constant
        return super().value(node)

    def _set(self, target: Expression, value: Number) -> Number:
        if not isinstance(target, Name) or target.name not in self.values:
            raise InexactError
        self.values[target.name] = value
        return value

    def _index(self, node: Subscript) -> int:
        index = self.number(node.index)
        if not isinstance(index, int):
            raise InexactError
        if isinstance(node.owner, Subscript):  # of an array of two rows
            length = len(self.elements) // 2
            row, limit = self.number(node.owner.index), length
            index, owner = (int(row) * length + index if 0 <= index < limit else -1), node.owner.owner
        else:
            owner = node.owner
        if not isinstance(owner, Name) or owner.name != self.array or not 0 <= index < len(self.elements):
            raise InexactError
        return index
