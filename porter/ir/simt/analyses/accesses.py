"""Accesses: which memory they touch, and between which of them a block of threads needs a barrier of its own.

In CUDA a thread sees what it wrote itself. Where a block's threads are elements of tensors, a device may let another
one of its lanes carry out the next access of the same element, so these need a barrier between them, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Array, Pointer, Space

Roots = frozenset[Value | None]  # parameters and memory that pointers come from; None: from anywhere
_ACCESSES = ("load", "store", "atomic")


def roots(function: Function) -> Mapping[Value, Roots]:
    """Returns for each pointer or array what it may lead into."""
    found: dict[Value, Roots] = {p.value: frozenset({p.value}) for p in function.parameters if _leads(p.value)}
    before = -1
    while before != (now := sum(map(len, found.values()))):
        before = now
        _trace(function.body, found)
    return found


def _leads(value: Value) -> bool:
    return isinstance(value.type, Pointer | Array)


def _trace(block: Block, found: dict[Value, Roots]) -> None:
    for op in block.ops:
        for region in op.regions:
            _trace(region, found)
        if op.regions:
            _trace_control(op, found)
            continue
        for result in filter(_leads, op.results):
            if op.kind in ("array", "dynamic_shared"):
                found[result] = frozenset({result})
                continue
            sources = [operand for operand in op.operands if _leads(operand)]
            held = frozenset[Value | None]().union(*(found.get(source, frozenset()) for source in sources))
            found[result] = found.get(result, frozenset()) | (held if sources else frozenset({None}))


def _trace_control(op: Op, found: dict[Value, Roots]) -> None:
    begin = {"for": op.operands[3:], "while": op.operands}.get(op.kind, ())
    ends = [r.ops[-1].operands[1 if op.kind == "while" and n == 0 else 0 :] for n, r in enumerate(op.regions)]
    sources = [*([begin] if begin else []), *ends]
    targets = [op.results, *(r.arguments[1 if op.kind == "for" else 0 :] for r in op.regions if op.kind != "if")]
    for values in targets:
        for number, value in enumerate(values):
            if _leads(value):
                held = frozenset[Value | None]().union(*(found.get(s[number], frozenset()) for s in sources))
                found[value] = found.get(value, frozenset()) | held


@dataclass(frozen=True, slots=True)
class Access:
    """Describes what an operation touches: the pointer, the index and, by the `kind` of the operation, how."""

    roots: Roots
    place: tuple[Value, Value]
    kind: str


def needed_barriers(function: Function, besides: AbstractSet[Value] = frozenset()) -> AbstractSet[Op]:
    """Returns the accesses before which a barrier is needed that the function does not have.

    Those of the memory `besides` need none.

    That is where an access may read what another one wrote since the last barrier of the block; in memory of the block
    or thread also where it writes what another one read or wrote.
    """
    state = _Barriers(roots(function), besides)
    state.block(function.body)
    return state.needed


@dataclass
class _Barriers:
    pointers: Mapping[Value, Roots]
    besides: AbstractSet[Value] = frozenset()
    needed: set[Op] = field(default_factory=set)
    pending: list[Access] = field(default_factory=list)

    def block(self, block: Block) -> None:
        for op in block.ops:
            if op.kind == "barrier" and op.attribute("scope") in ("block", "warp"):
                self.pending = []
            elif op.kind in _ACCESSES:
                self._access(op)
            elif op.kind == "if":
                self._branches(op)
            elif op.regions:
                for _ in range(2):  # what an iteration leaves pending, the next one finds
                    for region in op.regions:
                        self.block(region)

    def _branches(self, op: Op) -> None:
        """Both regions may run one after the other, or only one."""
        before = self.pending
        self.pending = list(before)
        self.block(op.regions[0])
        first = self.pending
        self.pending = _together(first, before)
        self.block(op.regions[1])
        self.pending = _together(first, self.pending)

    def _access(self, op: Op) -> None:
        touched = self.pointers.get(op.operands[0], frozenset({None}))
        if touched <= self.besides:
            return
        own = Access(touched, (op.operands[0], op.operands[1]), op.kind)
        if op in self.needed or any(_conflict(earlier, own) for earlier in self.pending):
            self.needed.add(op)
            self.pending = []
        if own not in self.pending:
            self.pending.append(own)


def _together(one: list[Access], other: list[Access]) -> list[Access]:
    return [*one, *(access for access in other if access not in one)]


def _conflict(earlier: Access, later: Access) -> bool:
    """Returns whether lanes that carry out one access may meet those of another one.

    By the same pointers, each lane meets itself; atomic operations need no order among each other.
    """
    kinds = earlier.kind, later.kind
    if kinds in (("load", "load"), ("atomic", "atomic")) or earlier.place == later.place:
        return False
    anywhere = None in earlier.roots or None in later.roots
    if not anywhere and not earlier.roots & later.roots:
        return False
    is_read_later = earlier.kind != "load" and later.kind != "store"
    return is_read_later or any(_is_small(root) for root in earlier.roots | later.roots)


def _is_small(root: Value | None) -> bool:
    """Returns whether it is memory of a block or thread."""
    return root is not None and isinstance(root.type, Pointer | Array) and root.type.space is not Space.GLOBAL
