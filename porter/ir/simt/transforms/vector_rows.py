"""Rows of vectors: what is computed alike of all numbers of a vector is computed in a loop over them.

`v = x[i]; v.x = f(v.x); ... v.w = f(v.w); y[i] = v;` is a loop over four neighbouring elements, whose iterations are
independent: it is printed as one tile, moved in one access. So it is with a sum or an extreme of the numbers of a
vector. (Superword-level parallelism, Larsen and Amarasinghe, PLDI 2000, the other way round.) Where a number is
swapped with another one, or is asked for elsewhere, the vector stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from porter.ir.simt.analyses.accesses import Roots, roots
from porter.ir.simt.analyses.uniformity import uniformity
from porter.ir.simt.analyses.uses import makers, uses
from porter.ir.simt.cleanup import without_dead_code
from porter.ir.simt.operations import OPERATIONS, Effect
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.types import Pointer, Scalar, Space, Vector

_ROW_BITS = 128  # the largest access of a thread
_GATHERED = {"add": 0.0, "max": float("-inf"), "min": float("inf")}
_NUMBERS = (Scalar.F32, Scalar.F64)  # sums of halves round after each step


def with_vector_rows(function: Function) -> Function:
    """Returns `function` with loops over the numbers of vectors that are computed alike."""
    facts = _Facts(makers(function), uses(function), roots(function), uniformity(function).varying)
    parameters = frozenset(parameter.value for parameter in function.parameters)
    return without_dead_code(replace(function, body=_in_block(function.body, facts, parameters)))


@dataclass(frozen=True, slots=True)
class _Facts:
    makers: Mapping[Value, Op]
    uses: Mapping[Value, tuple[Op, ...]]
    roots: Mapping[Value, Roots]
    varying: AbstractSet[Value]
    _extracted: dict[Value, frozenset[tuple[int, int]]] = field(default_factory=dict)

    def extracted(self, value: Value) -> frozenset[tuple[int, int]]:
        """Returns which numbers of vectors, of how many each, a value is made of."""
        if value not in self._extracted:
            self._extracted[value] = self._told(value)
        return self._extracted[value]

    def _told(self, value: Value) -> frozenset[tuple[int, int]]:
        maker = self.makers.get(value)
        if maker is None or not (OPERATIONS[maker.kind].is_pure or maker.kind == "if"):
            return frozenset()
        if maker.kind == "extract":
            type_, index = maker.operands[0].type, maker.attribute("index")
            assert isinstance(index, int)
            assert isinstance(type_, Vector)
            return frozenset({(index, type_.count)})
        handed = [region.ops[-1].operands[maker.results.index(value)] for region in maker.regions]
        return frozenset[tuple[int, int]]().union(*map(self.extracted, (*maker.operands, *handed)))


def _in_block(block: Block, facts: _Facts, before: AbstractSet[Value]) -> Block:
    """Returns a block whose stores and sums of vectors are loops; `before` are the values that it may use."""
    known = set(before) | set(block.arguments)
    found: list[Op] = []
    replaced: dict[Value, Value] = {}
    for number, op in enumerate(block.ops):
        regions = tuple(_in_block(region, facts, known) for region in op.regions)
        current = replace(op, operands=tuple(replaced.get(o, o) for o in op.operands), regions=regions)
        if replaced and regions:
            current = replace(current, regions=tuple(_renamed(region, replaced) for region in regions))
        made = None
        if op.kind == "store":
            made = _stored(op, block, number, facts, known)
        elif op.kind in _GATHERED and op.result.type in _NUMBERS:
            made = _gathered(op, block, number, facts, known)
            if made is not None:
                replaced[op.result] = made[-1].result
        found += made if made is not None else [current]
        known.update(result for part in (made or [current]) for result in part.results)
        known.update(op.results)
    return Block(block.arguments, tuple(found))


def _renamed(block: Block, replaced: Mapping[Value, Value]) -> Block:
    ops = tuple(
        replace(op, operands=tuple(replaced.get(o, o) for o in op.operands),
                regions=tuple(_renamed(region, replaced) for region in op.regions))
        for op in block.ops
    )  # fmt: skip
    return Block(block.arguments, ops)


def _stored(op: Op, block: Block, number: int, facts: _Facts, known: AbstractSet[Value]) -> list[Op] | None:
    """Returns the loop that stores a vector number by number; None where its numbers are not computed alike."""
    pointer, index, vector = op.operands
    pack = facts.makers.get(vector)
    if pack is None or pack.kind != "pack" or not isinstance(vector.type, Vector) or not _is_global(pointer):
        return None
    row = _Row(facts, block.ops[:number], known, vector.type.count)
    if row.count * vector.type.element.bits > _ROW_BITS:
        return None
    value = row.merged(pack.operands)
    if value is None or not row.loads or not row.may_load_late(facts.roots.get(pointer), (pointer, index)):
        return None
    place = row.element(pointer, index)
    row.ops.append(Op("store", (*place, value), (), _aligned(row.count), (), op.location))
    return row.loop((), None)


def _gathered(op: Op, block: Block, number: int, facts: _Facts, known: AbstractSet[Value]) -> list[Op] | None:
    """Returns the loop that adds up or compares the numbers of vectors, and what is done to the result of it."""
    users = facts.uses.get(op.result, ())
    if any(user.kind == op.kind for user in users) and len(users) == 1:
        return None  # of a larger sum
    leaves = _leaves(op.result, op.kind, facts)
    for count in (4, 2, 8):
        lanes = _lanes(leaves, count, facts)
        if lanes is None:
            continue
        row = _Row(facts, block.ops[:number], known, count)
        value = row.merged(lanes)
        if value is None or not row.loads or not row.may_load_late(None, None):
            continue
        return row.reduced(op, value, [leaf for leaf in leaves if leaf not in lanes])
    return None


def _leaves(value: Value, kind: str, facts: _Facts) -> list[Value]:
    """Returns the terms of a sum, or what an extreme is one of."""
    maker = facts.makers.get(value)
    assert maker is not None
    found: list[Value] = []
    for operand in maker.operands:
        inner = facts.makers.get(operand)
        is_inner = inner is not None and inner.kind == kind and len(facts.uses[operand]) == 1 and not inner.regions
        found += _leaves(operand, kind, facts) if is_inner else [operand]
    return found


def _lanes(leaves: Sequence[Value], count: int, facts: _Facts) -> tuple[Value, ...] | None:
    """Returns the terms that are made of each number of vectors of so many, in order."""
    by_lane: dict[int, list[Value]] = {}
    for leaf in leaves:
        lanes = facts.extracted(leaf)
        if len(lanes) == 1:
            number, of = next(iter(lanes))
            by_lane.setdefault(number if of == count else -1, []).append(leaf)
    if sorted(by_lane) != list(range(count)) or any(len(terms) != 1 for terms in by_lane.values()):
        return None
    return tuple(by_lane[lane][0] for lane in range(count))


@dataclass(slots=True)
class _Row:
    """The body of a loop over the numbers of vectors: `ops` compute one of each, whose place is `counter`."""

    facts: _Facts
    before: Sequence[Op]  # the operations of the block in front of the loop
    known: AbstractSet[Value]
    count: int
    counter: Value = field(default_factory=lambda: Value(Scalar.I32, "k"))
    ops: list[Op] = field(default_factory=list)
    loads: list[Op] = field(default_factory=list)  # of the vectors
    held: dict[tuple[Value, ...], Value] = field(default_factory=dict)

    def merged(self, values: tuple[Value, ...]) -> Value | None:
        """Returns the value that stands for a value of each lane; None where these are not computed alike."""
        if values not in self.held:
            made = self._merged(values)
            if made is None:
                return None
            self.held[values] = made
        return self.held[values]

    def _merged(self, values: tuple[Value, ...]) -> Value | None:
        if len(set(values)) == 1 and values[0] in self.known:
            return values[0]
        made = [self.facts.makers.get(value) for value in values]
        ops = [op for op in made if op is not None]
        first = ops[0] if len(ops) == len(values) else None
        if first is None or any(op.kind != first.kind for op in ops):
            return None
        if first.kind == "extract":
            return self._element_of(ops)
        if any(_shape(op) != _shape(first) for op in ops):
            return None
        if first.kind == "if":
            return self._chosen(values, ops)
        if not OPERATIONS[first.kind].is_pure or first.regions or isinstance(values[0].type, Vector):
            return None
        operands = self._all([tuple(op.operands[n] for op in ops) for n in range(len(first.operands))])
        return None if operands is None else self._emit(replace(first, operands=operands, results=(_again(values[0]),)))

    def _all(self, lanes: Sequence[tuple[Value, ...]]) -> tuple[Value, ...] | None:
        found = []
        for values in lanes:
            made = self.merged(values)
            if made is None:
                return None
            found.append(made)
        return tuple(found)

    def _emit(self, op: Op) -> Value:
        self.ops.append(op)
        return op.result

    def _chosen(self, values: tuple[Value, ...], ops: Sequence[Op]) -> Value | None:
        """Returns a choice between what both regions of branches hand on, if they do nothing else."""
        number = ops[0].results.index(values[0])
        if any(
            OPERATIONS[inner.kind].effect is not Effect.NONE
            for op in ops
            for region in op.regions
            for inner in region.ops
        ):
            return None
        handed = [tuple(op.regions[side].ops[-1].operands[number] for op in ops) for side in (0, 1)]
        operands = self._all([tuple(op.operands[0] for op in ops), *handed])
        return None if operands is None else self._emit(Op("select", operands, (_again(values[0]),)))

    def _element_of(self, ops: Sequence[Op]) -> Value | None:
        """Returns the element of a loaded vector."""
        vectors = {op.operands[0] for op in ops}
        load = self.facts.makers.get(ops[0].operands[0])
        if len(vectors) != 1 or [op.attribute("index") for op in ops] != list(range(self.count)):
            return None
        type_ = ops[0].operands[0].type
        if load is None or load.kind != "load" or load not in self.before or not _is_global(load.operands[0]):
            return None
        if not isinstance(type_, Vector) or type_.count != self.count or self.count * type_.element.bits > _ROW_BITS:
            return None
        if (
            any(user.kind != "extract" for user in self.facts.uses[load.result])
            or load.result not in self.facts.varying
        ):
            return None
        self.loads.append(load)
        place = self.element(load.operands[0], load.operands[1])
        return self._emit(
            Op("load", place, (Value(type_.element, load.result.name),), _aligned(self.count), (), load.location)
        )

    def element(self, pointer: Value, index: Value) -> tuple[Value, Value]:
        """Returns the address of the number of a vector in memory."""
        type_ = pointer.type
        assert isinstance(type_, Pointer)
        assert isinstance(type_.element, Vector)
        assert isinstance(index.type, Scalar)
        base = self._emit(Op("bitcast", (pointer,), (Value(Pointer(type_.element.element, type_.space)),)))
        index = self._wide(index)
        assert isinstance(index.type, Scalar)
        width = self._emit(constant(index.type, self.count))
        first = self._emit(Op("mul", (index, width), (Value(index.type),)))
        counter = self.counter
        if index.type is not counter.type:
            counter = self._emit(Op("cast", (counter,), (Value(index.type),)))
        return base, self._emit(Op("add", (first, counter), (Value(index.type),)))

    def _wide(self, index: Value) -> Value:
        """Returns an index that stays within its type when it counts numbers in place of vectors."""
        maker = self.facts.makers.get(index)
        assert isinstance(index.type, Scalar)
        if index.type.bits > Scalar.I32.bits or (maker is not None and maker.kind == "constant"):
            return index
        return self._emit(Op("cast", (index,), (Value(Scalar.I64),)))

    def may_load_late(self, written: Roots | None, place: tuple[Value, Value] | None) -> bool:
        """Returns whether nothing changes if the vectors are loaded in the loop, which writes to `written`."""
        for load in self.loads:
            behind = self.before[self.before.index(load) + 1 :]
            if any(_acts(op) for op in behind):
                return False
            if any(user not in self.before and user.kind != "extract" for user in self.facts.uses[load.result]):
                return False
            shared = written is not None and bool(written & self.facts.roots.get(load.operands[0], frozenset({None})))
            if (shared or (written is not None and None in written)) and not self._is_same(load, place):
                return False
        return True

    def _is_same(self, load: Op, place: tuple[Value, Value] | None) -> bool:
        if place is None or load.operands[1] is not place[1]:
            return False
        return self._base(load.operands[0]) == self._base(place[0])

    def _base(self, pointer: Value) -> tuple[Value, ...]:
        maker = self.facts.makers.get(pointer)
        if maker is not None and maker.kind in ("bitcast", "offset"):
            return (*self._base(maker.operands[0]), *maker.operands[1:])
        return (pointer,)

    def reduced(self, op: Op, value: Value, others: Sequence[Value]) -> list[Op]:
        """Returns the loop that puts a term of each number together, and those that put other terms to that."""
        type_ = op.result.type
        assert isinstance(type_, Scalar)
        carried, result = Value(type_, op.result.name), Value(type_)
        made = self._emit(Op(op.kind, (carried, value), (Value(type_),)))
        neutral = constant(type_, _GATHERED[op.kind])
        found = [neutral, *self.loop((carried,), made, (neutral.result,), (result,))]
        for other in others:
            found.append(Op(op.kind, (other, found[-1].result), (Value(type_),), (), (), op.location))
        return found

    def loop(self, carried: tuple[Value, ...], made: Value | None, begin: tuple[Value, ...] = (),
             results: tuple[Value, ...] = ()) -> list[Op]:  # fmt: skip
        """Returns the loop over the numbers."""
        limits = [constant(Scalar.I32, number) for number in (0, self.count, 1)]
        body = Block((self.counter, *carried), (*self.ops, Op("yield", () if made is None else (made,))))
        operands = (*(limit.result for limit in limits), *begin)
        return [*limits, Op("for", operands, results, (("compare", "lt"), ("row", self.count)), (body,))]


def _shape(op: Op) -> tuple[object, ...]:
    """Returns what operations that are computed alike have in common."""
    return op.kind, repr(op.attributes), tuple(o.type for o in op.operands), tuple(r.type for r in op.results)


def _aligned(count: int) -> tuple[tuple[str, int], ...]:
    return (("aligned", count),)


def _is_global(pointer: Value) -> bool:
    return isinstance(pointer.type, Pointer) and pointer.type.space is Space.GLOBAL


def _acts(op: Op) -> bool:
    """Returns whether memory may be another after an operation."""
    inner = [part for region in op.regions for part in region.ops]
    return OPERATIONS[op.kind].effect is Effect.WRITE or any(map(_acts, inner))


def _again(value: Value) -> Value:
    return Value(value.type, value.name)
