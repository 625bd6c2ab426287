"""Recognises reductions and scans of a block or warp by carrying them out: `reduce` and `scan` replace exchanges.

What threads exchange by shuffles and through shared memory is run for a block on random numbers in place of the one
that each thread puts in. A value that is the sum, or an extreme, of all of them is that reduction, and one of those up
to the thread's own is a scan, whatever the steps between were: trees, two stages, loops. Nothing is matched but what is
computed.

For the numbers to tell, control and addresses may only depend on the thread's place; where values are compared, only an
extreme is believed. Some values are right in a few threads only; then only these may use them. What is loaded under a
condition that is not known is run as if it held in all threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.ir.simt.analyses.accesses import roots
from porter.ir.simt.analyses.uniformity import Uniformity, uniformity
from porter.ir.simt.analyses.uses import makers, uses
from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.interpret.concrete import Concrete
from porter.ir.simt.interpret.domain import ExecutionError
from porter.ir.simt.interpret.exchange import WARP_SIZE
from porter.ir.simt.interpret.machine import Extents, Geometry, Lanes, Machine
from porter.ir.simt.interpret.memory import Bytes
from porter.ir.simt.operations import COMPARISONS, OPERATIONS, Effect
from porter.ir.simt.ops import Block, Function, Op, Value, walk
from porter.ir.simt.transforms.combinations import DRAWS, Combination, expected, numbers, reductions, scans
from porter.ir.simt.transforms.rewriting import Replacement, rewritten_ops
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Type

_TYPES = (Scalar.F32, Scalar.F64, Scalar.I32, Scalar.I64)  # whose sums of small numbers are exact
_WIDER: Mapping[object, Scalar] = {Scalar.F32: Scalar.F64}  # in which some partial results may be put together
_ALL_LANES = 0xFFFFFFFF
_MOST_SIZES = 2  # of blocks for which scans are looked for
_WHOLE_WARPS = tuple((threads, 1, 1) for threads in range(WARP_SIZE, 1024 + 1, WARP_SIZE))
_PLACES = frozenset({"thread_index", "block_extent", "constant", "undefined"})


def with_reductions(function: Function, sizes: Sequence[Extents]) -> Function:
    """Returns `function`, for blocks of any of these `sizes`, with its reductions told as such.

    Where no size is known the block has one dimension, and an exchange among all lanes of all warps says that it has
    whole warps.
    """
    while (found := _next(function, sizes)) is not None:
        function = found
    return function


def _next(function: Function, sizes: Sequence[Extents]) -> Function | None:
    """Returns `function` with the reductions of one more value; None where there are none."""
    facts = _Facts(function, has_whole_warps=all(x % WARP_SIZE == 0 for x, _, _ in sizes))
    of_all = [(block, ("block", "warp")) for block in facts.uniform_blocks(function.body, facts.uniformity)]
    of_warps = [(block, ("warp",)) for block in facts.uniform_blocks(function.body, facts.of_warps)]
    for block, scopes in (*of_all, *of_warps):
        for source, start in facts.sources(block):
            window = _Window(facts, block, source, start, scopes)
            made = window.reductions(sizes or (_WHOLE_WARPS if window.begins_with_all_lanes else ()))
            if made:
                return _replaced(function, block, start, made)
    return None


@dataclass(frozen=True, slots=True)
class _Found:
    """A reduction, the last of some operations, and the values that it stands for."""

    ops: tuple[Op, ...]
    values: tuple[Value, ...]


def _replaced(function: Function, block: Block, start: int, found: Sequence[_Found]) -> Function:
    mapped = {value: one.ops[-1].result for one in found for value in one.values}
    ops = (*block.ops[:start], *(op for one in found for op in one.ops), *block.ops[start:])
    body = _with_block(function.body, block, Block(block.arguments, ops))
    return without_dead_code(replace(function, body=body), mapped)


def _with_block(current: Block, old: Block, new: Block) -> Block:
    if current is old:
        return new
    ops = tuple(
        replace(op, regions=tuple(_with_block(region, old, new) for region in op.regions)) if op.regions else op
        for op in current.ops
    )
    return Block(current.arguments, ops)


class _Facts:
    """Holds what is known of one function."""

    def __init__(self, function: Function, *, has_whole_warps: bool) -> None:
        self.function = function
        self.uniformity: Uniformity = uniformity(function)
        self.of_warps = uniformity(function, of_warps=True) if has_whole_warps else self.uniformity
        self.makers, self.uses, self.roots = makers(function), uses(function), roots(function)
        self.parents: dict[Op, tuple[Op, ...]] = {}
        self._note_parents(function.body, ())

    def _note_parents(self, block: Block, around: tuple[Op, ...]) -> None:
        for op in block.ops:
            self.parents[op] = around
            for region in op.regions:
                self._note_parents(region, (*around, op))

    def uniform_blocks(self, block: Block, agreed: Uniformity) -> Iterator[Block]:
        """Yields the blocks that all threads which agree on so much run through together, inner ones first."""
        for op in block.ops:
            if op.regions and not agreed.diverges(op):
                for region in op.regions:
                    yield from self.uniform_blocks(region, agreed)
        yield block

    def is_shared(self, op: Op) -> bool:
        """Returns whether an operation accesses memory of the block."""
        if op.kind not in ("load", "store", "atomic"):
            return False
        return any(
            root is None or (isinstance(root.type, Array | Pointer) and root.type.space is Space.SHARED)
            for root in self.roots.get(op.operands[0], frozenset())
        )

    def sources(self, block: Block) -> Iterator[tuple[Value, int]]:
        """Yields the values that threads put into an exchange in a block, with where that begins."""
        seen: set[Value] = set()
        inner = {result for op in block.ops for region in op.regions for o in walk(region) for result in o.results}
        for number, op in enumerate(block.ops):
            for part in (op, *(o for region in op.regions for o in walk(region))):
                value = part.operands[0] if part.kind == "shuffle" else None
                if part.kind == "store" and self.is_shared(part):
                    value = part.operands[2]
                if value is not None and value.type in _TYPES and value not in seen | inner:
                    seen.add(value)
                    yield value, number

    def place(self, value: Value) -> list[Op] | None:
        """Returns the operations that make a value of the thread's place alone; None for any other value."""
        maker = self.makers.get(value)
        if maker is None or (not OPERATIONS[maker.kind].is_pure and maker.kind not in _PLACES):
            return None
        if maker.kind in ("array", "dynamic_shared"):
            return [maker] if maker.kind == "array" else None
        if not maker.operands:
            return [maker] if maker.kind in _PLACES else None
        found: list[Op] = []
        for operand in maker.operands:
            before = self.place(operand)
            if before is None:
                return None
            found += [op for op in before if op not in found]
        return [*found, maker]


@dataclass
class _Window:
    """The operations of a block from `start` on, as far as they can be carried out on numbers for `source`."""

    facts: _Facts
    block: Block
    source: Value
    start: int
    scopes: tuple[str, ...]
    ops: list[Op] = field(default_factory=list)
    prologue: list[Op] = field(default_factory=list)
    tainted: set[Value] = field(default_factory=set)  # what is made of the source
    guarded: set[Op] = field(default_factory=set)  # operations under conditions that are not known
    multiplies: bool = False  # numbers of the source with each other
    compared: set[Value] = field(default_factory=set)  # what is made of a comparison of such

    def __post_init__(self) -> None:
        self.known: set[Value] = {self.source}
        self.tainted.add(self.source)
        for op in self.block.ops[self.start :]:
            if not self._takes(op):
                break

    def _takes(self, op: Op) -> bool:
        """Takes an operation in, if it can be carried out; returns whether the next one may be, too."""
        op = self._without_outputs(op)
        inner = [o for region in op.regions for o in walk(region)]
        if self._is_carried_out(op, inner):
            self.ops.append(op)
            for part in (*inner, op) * 2:  # what an iteration hands on, the next one has
                self._note(part)
            self.known.update(op.results)
            return True
        if op.kind == "store" and self._fills_other_memory(op):
            return True
        for part in inner if op.kind == "if" else ():
            self._take_load(part)
        return not any(part.kind in ("store", "atomic", "shuffle", "vote", "match") and self._is_exchange(part)
                       for part in (op, *inner))  # fmt: skip

    def _take_load(self, op: Op) -> None:
        """Takes an operation in that is run under a condition which is not known, if it changes nothing."""
        if op.kind in ("yield", "store", "shuffle") or op.regions or not self._is_carried_out(op, []):
            return
        self.ops.append(op)
        self.guarded.add(op)
        self._note(op)
        self.known.update(op.results)

    def _fills_other_memory(self, op: Op) -> bool:
        """Returns whether a store is to shared memory that holds nothing yet: loads find no numbers there then."""
        roots = self.facts.roots.get(op.operands[0], frozenset({None}))
        written = {root for part in self.ops for inner in (part, *(o for r in part.regions for o in walk(r)))
                   if inner.kind == "store" for root in self.facts.roots.get(inner.operands[0], ())}  # fmt: skip
        return self.facts.is_shared(op) and None not in roots and roots.isdisjoint(written)

    def _without_outputs(self, op: Op) -> Op:
        """Returns control without what it stores for others: no value of the block is made of that."""

        def dropped(inner: Op) -> Replacement | None:
            is_output = inner.kind in ("store", "atomic") and not self.facts.is_shared(inner)
            if not is_output or any(self.facts.uses.get(result) for result in inner.results):
                return None
            return Replacement((), inner.operands[-1:] if inner.results else ())  # which nobody asks for

        regions = tuple(Block(r.arguments, rewritten_ops(r.ops, {}, dropped)) for r in op.regions)
        return replace(op, regions=regions) if regions else op

    def _is_exchange(self, op: Op) -> bool:
        return op.kind in ("shuffle", "vote", "match") or self.facts.is_shared(op)

    def _is_carried_out(self, op: Op, inner: Sequence[Op]) -> bool:
        if op.kind in ("yield", "return", "barrier"):
            return op.kind == "barrier"
        own = {result for part in inner for result in part.results}
        own |= {argument for part in (op, *inner) for region in part.regions for argument in region.arguments}
        needed = {operand for part in (op, *inner) for operand in part.operands} - own
        return all(map(self._is_known, needed)) and all(
            part.kind in ("yield", "barrier") or self._may_run(part) for part in (op, *inner)
        )

    def _may_run(self, op: Op) -> bool:
        if op.kind in ("load", "store"):
            return self.facts.is_shared(op) and None not in self.facts.roots.get(op.operands[0], frozenset({None}))
        return op.kind in ("if", "for", "while", "shuffle") or OPERATIONS[op.kind].effect is Effect.NONE

    def _is_known(self, value: Value) -> bool:
        """Returns whether a value is known; what is made of the thread's place is computed in front."""
        if value in self.known:
            return True
        made = self.facts.place(value)
        if made is None:
            return False
        for op in made:
            if not set(op.results) <= self.known:
                self.prologue.append(op)
                self.known.update(op.results)
        return True

    def _note(self, op: Op) -> None:
        """Follows what is made of the source, and of comparisons of that."""
        is_made = self._spread(op, self.tainted)
        if is_made:
            self.tainted.update(a for region in op.regions for a in region.arguments if a.type == self.source.type)
        self.multiplies |= op.kind == "mul" and all(operand in self.tainted for operand in op.operands)
        if op.kind in COMPARISONS and (is_made or not _is_whole(op.operands[0])):
            self.compared.update(op.results)  # a float that no thread has put in is no number, which compares as false
        self._spread(op, self.compared)

    def _spread(self, op: Op, held: set[Value]) -> bool:
        """Adds what an operation makes of `held` to it; memory that it is stored to hands it on."""
        roots = self.facts.roots.get(op.operands[0], ()) if op.kind in ("load", "store") else ()
        is_made = any(operand in held for operand in op.operands)
        if op.kind == "store" and is_made:
            held.add(op.operands[0])
            held.update(root for root in roots if root is not None)
        if op.kind == "load":
            is_made |= any(root in held for root in roots)
        is_made |= any(value in held for region in op.regions for value in region.ops[-1].operands)
        if is_made:
            held.update(op.results)
        return is_made

    @property
    def begins_with_all_lanes(self) -> bool:
        """Returns whether all lanes of all warps take part first: then the block has whole warps only."""
        first = self.block.ops[self.start]
        mask = self.facts.makers.get(first.operands[-1]) if first.kind == "shuffle" else None
        return mask is not None and mask.kind == "constant" and mask.attribute("value") == _ALL_LANES

    def reductions(self, sizes: Sequence[Extents]) -> list[_Found]:
        """Returns what of the source the operations compute in blocks of all these sizes."""
        made = [value for value in _in_branches(self.ops) if value in self.tainted and self.facts.uses.get(value)]
        results = [value for value in made if value.type in (self.source.type, _WIDER.get(self.source.type))]
        if not results or not sizes:
            return []
        asked = [one for one in (*reductions(), *(scans() if len(sizes) <= _MOST_SIZES else ()))
                 if one.scope in self.scopes and (one.op != "mul" or self.multiplies)]  # fmt: skip
        held: dict[tuple[Value, Combination], list[NDArray[np.bool_]]] = {}
        valid: list[Extents] = []
        for block in sizes:
            told: dict[tuple[Value, Combination], NDArray[np.bool_]] = {}
            for factors in (False, True) if self.multiplies else (False,):
                runs = [run for seed in range(DRAWS) if (run := self._run(block, seed, factors=factors)) is not None]
                if len(runs) < DRAWS:  # for so many threads the memory is too small: nobody launches that
                    break
                told |= _right(runs, results, [one for one in asked if (one.op == "mul") == factors], prod(block))
            else:
                held = {key: [*held.get(key, []), lanes] for key, lanes in told.items() if not valid or key in held}
                valid.append(block)
                if not held:
                    break
        return self._chosen(results, valid, held)

    def _run(self, block: Extents, seed: int, *, factors: bool) -> Mapping[Value, object] | None:
        assert isinstance(self.source.type, Scalar)
        given = numbers(prod(block), seed, self.source.type, factors=factors)
        machine = Machine(Lanes(Geometry((1, 1, 1), block), 0, 1), Concrete(), Bytes(), {self.source: given})
        try:
            with np.errstate(all="ignore"):
                machine.run(Block((), (*self.prologue, *self.ops, Op("return"))))
        except ExecutionError:
            if not self.guarded:
                return None
            self.ops = [op for op in self.ops if op not in self.guarded]  # they lead out of memory in some threads
            self.guarded = set()
            return self._run(block, seed, factors=factors)
        return machine.values

    def _chosen(
        self,
        results: Sequence[Value],
        sizes: Sequence[Extents],
        held: Mapping[tuple[Value, Combination], list[NDArray[np.bool_]]],
    ) -> list[_Found]:
        found: dict[tuple[Combination, Type], list[Value]] = {}
        for value in results:
            told = [one for key, one in held if key is value]
            told = [one for one in told if not (one.op in ("add", "mul") and value in self.compared)]
            for kind, scope in product(("reduce", "scan"), self.scopes):
                fitting = [one for one in told if one.kind == kind and one.scope == scope]
                fitting = [one for one in fitting if self._is_right(value, sizes, held[value, one])]
                if len(fitting) == 1:
                    found.setdefault((fitting[0], value.type), []).append(value)
                    break
        return [self._found(one, type_, tuple(values)) for (one, type_), values in found.items()]

    def _found(self, one: Combination, type_: Type, values: tuple[Value, ...]) -> _Found:
        """Returns a reduction of the source, in a type that may be wider than its own."""
        before = () if type_ == self.source.type else (Op("cast", (self.source,), (Value(type_),)),)
        source = before[0].result if before else self.source
        return _Found((*before, Op(one.kind, (source,), (Value(type_, values[-1].name),), one.attributes)), values)

    def _is_right(self, value: Value, sizes: Sequence[Extents], lanes: Sequence[NDArray[np.bool_]]) -> bool:
        """Returns whether a value is right in all threads that use it."""
        if all(right.all() for right in lanes):
            return True
        return all(self._is_used_within(user, sizes, lanes) for user in self.facts.uses.get(value, ()))

    def _is_used_within(self, user: Op, sizes: Sequence[Extents], lanes: Sequence[NDArray[np.bool_]]) -> bool:
        """Returns whether an operation is run by threads of `lanes` only, by the conditions around it."""
        around = self.facts.parents[user]
        inner = [op for op in around if op not in self._outside()]
        for op in inner:
            made = self.facts.place(op.operands[0]) if op.kind == "if" else None
            if made is None or not _stands_in(op.regions[0], user):
                continue
            runs = [_evaluated(made, op.operands[0], block) for block in sizes]
            if all((right | ~run).all() for right, run in zip(lanes, runs, strict=True)):
                return True
        return False

    def _outside(self) -> AbstractSet[Op]:
        return frozenset(self.facts.parents[self.block.ops[0]])


def _is_whole(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_integer


def _in_branches(ops: Sequence[Op]) -> Iterator[Value]:
    """Yields the results of operations, and of those in branches among them, each of which runs once."""
    for op in ops:
        yield from op.results
        for region in op.regions if op.kind == "if" else ():
            yield from _in_branches(region.ops)


def _stands_in(region: Block, wanted: Op) -> bool:
    return any(op is wanted for op in walk(region))


def _evaluated(made: Sequence[Op], value: Value, block: Extents) -> NDArray[np.bool_]:
    machine = Machine(Lanes(Geometry((1, 1, 1), block), 0, 1), Concrete(), Bytes(), {})
    machine.run(Block((), (*made, Op("return"))))
    return np.broadcast_to(machine.data(value), (prod(block),)).astype(np.bool_)


def _right(
    runs: Sequence[Mapping[Value, object]], results: Sequence[Value], asked: Sequence[Combination], threads: int
) -> dict[tuple[Value, Combination], NDArray[np.bool_]]:
    """Returns for each result and combination the threads in which it is that, where there are any."""
    told = {}
    for value in results:
        assert isinstance(value.type, Scalar)
        found = [np.broadcast_to(np.asarray(values.get(value, np.nan)), (threads,)) for values in runs]
        for one in asked:
            if one.scope == "warp" and threads <= WARP_SIZE:
                continue
            lanes = np.ones(threads, np.bool_)
            for seed, made in enumerate(found):
                lanes &= made == expected(one, threads, seed, value.type)
                if not lanes.any():
                    break
            else:
                if (lanes & _differs(one, threads, value.type)).any():
                    told[value, one] = lanes
    return told


def _differs(one: Combination, threads: int, type_: Scalar) -> NDArray[np.bool_]:
    """Returns the threads whose result depends on the numbers; the first of an exclusive scan always has 0."""
    given = [expected(one, threads, seed, type_) for seed in range(DRAWS)]
    differs: NDArray[np.bool_] = np.any([made != given[0] for made in given[1:]], axis=0)
    return differs
