"""Runs a function on a grid: operation after operation, each for all lanes of some blocks at once.

Lanes that control has left out compute, too, where that does no harm; what they hold afterwards is nobody's. A barrier
needs no waiting, since all lanes are at the same operation; but it tells that threads which it does not find have
ended, so one of these that has an effect later is an error: it stood at another barrier, or came by none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from porter.ir.simt.interpret import exchange, integers
from porter.ir.simt.interpret.domain import (
    Data,
    Datum,
    Domain,
    ExecutionError,
    Mask,
    Memory,
    Order,
    is_symbolic,
    numpy_type,
    value_type,
)
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Vector

Extents = tuple[int, int, int]
_MOST_LANES = 1 << 14  # at once: beyond, arrays no longer fit into a core's cache


@dataclass(frozen=True, slots=True)
class Geometry:
    """The blocks of a launch, the threads of a block, and the shared memory that it gives each."""

    grid: Extents
    block: Extents
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of threads; the last goes first where they go `backwards`. `order` is told where they wait."""

    order: Order | None = None
    backwards: bool = False


def execute(  # noqa: PLR0917 - what is run, where, and on what
    function: Function,
    arguments: Sequence[Data],
    geometry: Geometry,
    domain: Domain,
    memory: Memory,
    turns: Turns = Turns(),
) -> None:
    """Runs `function` with a value for each of its parameters; addresses are those of `memory`.

    Blocks that run together take turns at each operation, others run one after the other. Raises `ExecutionError`.
    """
    threads, blocks = prod(geometry.block), prod(geometry.grid)
    together = max(1, _MOST_LANES // max(threads, 1))
    given = dict(zip((p.value for p in function.parameters), arguments, strict=True))
    with np.errstate(all="ignore"):
        for first in range(0, blocks, together)[:: -1 if turns.backwards else 1]:
            lanes = Lanes(geometry, first, min(together, blocks - first))
            Machine(lanes, domain, memory, dict(given), turns).run(function.body)


@dataclass(frozen=True)
class Lanes:
    """The threads of `count` blocks from block `first` on, one behind the other."""

    geometry: Geometry
    first: int
    count: int

    @property
    def threads(self) -> int:
        """The threads of a block."""
        return prod(self.geometry.block)

    def __len__(self) -> int:
        return self.count * self.threads

    @property
    def rows(self) -> Data:
        """The number of each lane's block among these."""
        return np.arange(len(self)) // self.threads

    def place(self, kind: str, axis: int) -> Data:
        """Returns a coordinate or an extent along an axis."""
        extents = self.geometry.block if kind.startswith(("thread", "block_extent")) else self.geometry.grid
        if kind.endswith("extent"):
            return np.array(extents[axis], np.uint32)
        flat = np.arange(len(self)) % self.threads if kind == "thread_index" else self.rows + self.first
        return (flat // prod(extents[:axis]) % extents[axis]).astype(np.uint32)


@dataclass
class Machine:
    """One run of some blocks. `values` are known by now, `mask` has the lanes that run, where `predicate` is true."""

    lanes: Lanes
    domain: Domain
    memory: Memory
    values: dict[Value, Datum]
    turns: Turns = Turns()
    mask: Mask = field(init=False)
    predicate: Data | None = None
    missed: Mask = field(init=False)  # lanes that some barrier has not found
    op: Op | None = None

    def __post_init__(self) -> None:
        self.mask = np.ones(len(self.lanes), np.bool_)
        self.missed = np.zeros(len(self.lanes), np.bool_)
        self._allocated: list[int] = []
        self._arrays: dict[Op, Data] = {}

    def run(self, body: Block) -> None:
        """Runs the whole body."""
        if self.turns.order is not None:
            self.turns.order.run(self.lanes.first, self.lanes.count)
        try:
            self.block(body)
        except ExecutionError as error:
            if not error.location.line and self.op is not None:
                raise ExecutionError(error.message, self.op.location) from error
            raise
        finally:
            for address in self._allocated:
                self.memory.free(address)

    def block(self, block: Block) -> None:
        """Runs all operations of a block but what ends it."""
        from porter.ir.simt.interpret.control import CONTROL  # noqa: PLC0415 - which runs blocks

        for op in block.ops:
            if op.kind in ("yield", "return"):
                return
            self.op = op
            if (control := CONTROL.get(op.kind)) is not None:
                control(self, op)
            elif (special := _SPECIAL.get(op.kind)) is not None:
                special(self, op)
            else:
                self.values[op.results[0]] = self.computed(op)

    def data(self, value: Value) -> Data:
        """Returns what a value holds that is no vector."""
        found = self.values[value]
        assert not isinstance(found, tuple)
        return found

    def computed(self, op: Op) -> Data:
        """Returns the result of arithmetic."""
        operands = [self.data(operand) for operand in op.operands]
        result = value_type(op.results[0].type)
        given = [value_type(operand.type) for operand in op.operands]
        if op.kind == "select":
            condition, yes, no = operands
            if any(map(is_symbolic, operands)):
                return self.domain.select(condition, yes, no, result)
            return np.where(condition, yes, no)
        if result.is_float or any(type_.is_float for type_ in given) or any(map(is_symbolic, operands)):
            return self.domain.apply(op.kind, result, given, operands)
        return integers.apply(op.kind, result, *operands)

    def settled(self, value: Value) -> Data:
        """Returns a value as numbers, for it decides where or whether something is done."""
        data = self.data(value)
        return self.domain.decided(data, value_type(value.type), self.mask) if is_symbolic(data) else data

    def address(self, op: Op) -> Data:
        """Returns the addresses that an access, or an offset, names by its first two operands."""
        base, index = op.operands[:2]
        assert isinstance(base.type, Pointer | Array)
        return self.domain.moved(self.data(base), self.data(index), base.type.element.bytes, self.mask)

    def demand_present(self) -> None:
        """Raises `ExecutionError` where a lane runs that a barrier has not found."""
        if (self.missed & self.mask).any():
            raise ExecutionError("a thread goes on that a barrier before has not found: not all threads reach it")

    def meet(self, named: Data) -> None:
        """The lanes that run meet those of their warp that they name, by bits. Raises `ExecutionError`."""
        self.demand_present()
        own = np.arange(len(self.lanes)) % self.lanes.threads % exchange.WARP_SIZE
        if (self.mask & (named.astype(np.int64) >> own & 1 == 0)).any():
            raise ExecutionError("a lane takes part in an operation of its warp whose mask leaves it out")
        if self.turns.order is not None:
            self.turns.order.meet(self.mask, named)

    def rows_of_memory(self, size_bytes: int, *, shared: bool) -> Data:
        """Returns the address of new memory in each lane: a block's where it is `shared`, else the lane's own."""
        rows = self.lanes.rows if shared else np.arange(len(self.lanes))
        address, stride = self.memory.allocate(size_bytes, self.lanes.count if shared else len(self.lanes))
        self._allocated.append(address)
        return address + rows * stride

    def array(self, op: Op, size_bytes: int, *, shared: bool) -> Data:
        """Returns the memory of an operation; what is made again in a loop is the same."""
        if op not in self._arrays:
            self._arrays[op] = self.rows_of_memory(size_bytes, shared=shared)
        return self._arrays[op]

    def within(
        self, block: Block, mask: Mask, arguments: Sequence[Datum] = (), predicate: Data | None = None
    ) -> list[Datum]:
        """Runs a region in the lanes of `mask`, and under a further `predicate`; returns what it yields."""
        before = self.mask, self.predicate
        self.mask, self.predicate = mask, self.predicate if predicate is None else predicate
        self.values.update(zip(block.arguments, arguments, strict=True))
        self.block(block)
        self.mask, self.predicate = before
        return [self.values[operand] for operand in block.ops[-1].operands]


def _place(machine: Machine, op: Op) -> None:
    axis = op.attribute("axis")
    assert isinstance(axis, int)
    machine.values[op.result] = machine.lanes.place(op.kind, axis)


def _constant(machine: Machine, op: Op) -> None:
    value, type_ = op.attribute("value"), op.result.type
    if isinstance(type_, Scalar) and type_.is_float:
        assert isinstance(value, float)
        machine.values[op.result] = machine.domain.number(value, type_)
    else:
        machine.values[op.result] = np.array(value, numpy_type(type_))


def _undefined(machine: Machine, op: Op) -> None:
    type_ = op.result.type
    if isinstance(type_, Vector):
        machine.values[op.result] = (machine.domain.undefined(type_.element),) * type_.count
    elif isinstance(type_, Pointer):
        machine.values[op.result] = np.array(0, np.int64)
    else:
        machine.values[op.result] = machine.domain.undefined(value_type(type_))


def _array(machine: Machine, op: Op) -> None:
    type_ = op.result.type
    assert isinstance(type_, Array)
    size_bytes, shared = type_.element.bytes * type_.count, type_.space is Space.SHARED
    machine.values[op.result] = machine.array(op, size_bytes, shared=shared)


def _dynamic_shared(machine: Machine, op: Op) -> None:
    machine.values[op.result] = machine.rows_of_memory(machine.lanes.geometry.shared_bytes, shared=True)


def _offset(machine: Machine, op: Op) -> None:
    machine.values[op.result] = machine.address(op)


def _distance(machine: Machine, op: Op) -> None:
    pointer = op.operands[0].type
    assert isinstance(pointer, Pointer)
    apart = machine.settled(op.operands[0]) - machine.settled(op.operands[1])
    machine.values[op.result] = (apart // pointer.element.bytes).astype(numpy_type(op.result.type))


def _pack(machine: Machine, op: Op) -> None:
    machine.values[op.result] = tuple(machine.data(operand) for operand in op.operands)


def _extract(machine: Machine, op: Op) -> None:
    index = op.attribute("index")
    assert isinstance(index, int)
    machine.values[op.result] = machine.values[op.operands[0]][index]


def _bitcast(machine: Machine, op: Op) -> None:
    if isinstance(op.operands[0].type, Vector) or isinstance(op.result.type, Vector):
        raise ExecutionError("the bits of a vector are taken for another type")
    machine.values[op.result] = machine.computed(op)


def _load(machine: Machine, op: Op) -> None:
    machine.demand_present()
    base = op.operands[0].type
    assert isinstance(base, Pointer | Array)
    machine.values[op.result] = machine.memory.load(machine.address(op), machine.mask, base.element)


def _store(machine: Machine, op: Op) -> None:
    machine.demand_present()
    base = op.operands[0].type
    assert isinstance(base, Pointer | Array)
    value = machine.values[op.operands[2]]
    machine.memory.store(machine.address(op), value, machine.mask, machine.predicate, base.element)


def _atomic(machine: Machine, op: Op) -> None:
    """Lane after lane."""
    machine.demand_present()
    base = op.operands[0].type
    assert isinstance(base, Pointer | Array)
    assert isinstance(base.element, Scalar)
    shape, kind = machine.mask.shape, str(op.attribute("op"))
    addresses = np.broadcast_to(machine.address(op), shape)
    given = [np.broadcast_to(machine.data(operand), shape) for operand in op.operands[2:]]
    contested = machine.memory.note_updates(addresses, machine.mask, kind, base.element)
    found: dict[int, Data] = {}
    for lane in np.flatnonzero(machine.mask)[:: -1 if machine.turns.backwards else 1].tolist():
        one = np.ones(1, np.bool_)
        place = addresses[lane : lane + 1]
        held = machine.memory.load(place, one, base.element, noted=True)
        assert not isinstance(held, tuple)
        new = _changed(machine, kind, base.element, held, [data[lane : lane + 1] for data in given])
        predicate = None if machine.predicate is None else np.broadcast_to(machine.predicate, shape)[lane : lane + 1]
        machine.memory.store(place, new, one, predicate, base.element, noted=True)
        found[lane] = held
    machine.values[op.result] = machine.domain.undefined(base.element)
    if found:
        each = [found[lane] for lane in sorted(found)]
        whole = machine.domain.found(each, base.element, contested[machine.mask])
        machine.values[op.result] = spread = np.zeros(shape, whole.dtype)
        spread[machine.mask] = whole


def _changed(machine: Machine, kind: str, type_: Scalar, held: Data, given: Sequence[Data]) -> Data:
    """Returns what an atomic operation leaves where `held` was."""

    def of(op: str, result: Scalar, *operands: Data) -> Data:
        if type_.is_float or any(map(is_symbolic, operands)):
            return machine.domain.apply(op, result, [type_] * len(operands), operands)
        return integers.apply(op, result, *operands)

    match kind:
        case "exchange":
            return given[0]
        case "swap":
            same = of("eq", Scalar.BOOL, held, given[0])
            return machine.domain.select(same, given[1], held, type_)
        case "inc":
            return np.where(held >= given[0], 0, held + 1).astype(held.dtype)
        case "dec":
            return np.where((held == 0) | (held > given[0]), given[0], held - 1).astype(held.dtype)
    return of(kind, type_, held, given[0])


def _barrier(machine: Machine, op: Op) -> None:
    machine.demand_present()
    order = machine.turns.order
    match op.attribute("scope"):
        case "block":
            machine.missed |= ~machine.mask
            if order is not None:
                order.barrier(machine.mask)
        case "warp":
            machine.meet(machine.settled(op.operands[0]))
        case "fence" if order is not None:
            order.fence(machine.mask)


def _shuffle(machine: Machine, op: Op) -> None:
    machine.meet(machine.settled(op.operands[2]))
    width = op.attribute("width")
    assert isinstance(width, int)
    count, threads = len(machine.lanes), machine.lanes.threads
    source, exists = exchange.sources(str(op.attribute("mode")), machine.settled(op.operands[1]), width, threads, count)
    value = np.broadcast_to(machine.data(op.operands[0]), (count,))
    nothing = machine.domain.undefined(value_type(op.result.type))
    if is_symbolic(value) != is_symbolic(nothing):
        nothing = np.zeros((), value.dtype)
    machine.values[op.result] = np.where(exists & machine.mask[source], value[source], nothing.astype(value.dtype))


def _vote(machine: Machine, op: Op) -> None:
    named = machine.settled(op.operands[1])
    machine.meet(named)
    says, threads = machine.settled(op.operands[0]), machine.lanes.threads
    machine.values[op.result] = exchange.vote(str(op.attribute("mode")), says, named, machine.mask, threads)


def _match(machine: Machine, op: Op) -> None:
    held, named = (machine.settled(operand) for operand in op.operands)
    machine.meet(named)
    machine.values[op.result] = exchange.match(held, named, machine.mask, machine.lanes.threads)


def _reduce(machine: Machine, op: Op) -> None:
    """Puts the values of lanes together one after the other."""
    machine.values[op.result] = _accumulated(machine, op, lambda step, own: np.full(own.shape, step))


def _scan(machine: Machine, op: Op) -> None:
    """Puts the values of the lanes up to each one together, one after the other."""
    last = -1 if op.attribute("exclusive") else 0
    if op.attribute("backward"):
        made = _accumulated(machine, op, lambda step, own: np.where(own + step - last < _FAR, own + step - last, _FAR))
    else:
        made = _accumulated(machine, op, lambda step, own: np.where(step <= own + last, step, _FAR))
    machine.values[op.result] = made


_FAR = 1 << 20  # a thread that no block has


def _accumulated(machine: Machine, op: Op, thread_at: Callable[[int, Data], Data]) -> Data:
    """Returns for each lane the values of those put together that a row of steps names by their places in its row."""
    type_, kind = value_type(op.result.type), str(op.attribute("op"))
    threads = machine.lanes.threads
    width = threads if op.attribute("scope") == "block" else exchange.WARP_SIZE
    value = np.broadcast_to(machine.data(op.operands[0]), machine.mask.shape)
    lanes = np.arange(len(machine.lanes))
    thread = lanes % threads
    first = lanes - thread % width
    neutral = np.full(machine.mask.shape, 1 if kind == "mul" else 0, value.dtype)
    total, found = neutral if op.kind == "scan" else value.copy(), np.zeros(machine.mask.shape, np.bool_)
    for step in range(min(width, threads)):
        place = thread_at(step, thread % width)
        source = first + place
        takes = (place < width) & (source - lanes + thread < threads)
        source = np.where(takes, source, lanes)
        takes &= machine.mask[source]
        other = value[source]
        put = machine.domain.apply(kind, type_, [type_, type_], [total, other]) if type_.is_float else integers.apply(
            kind, type_, total, other)  # fmt: skip
        total = np.where(takes, np.where(found, put, other), total)
        found |= takes
    return total


def _assert(machine: Machine, op: Op) -> None:
    says = np.broadcast_to(machine.settled(op.operands[0]), machine.mask.shape)
    if (machine.mask & ~says).any():
        raise ExecutionError(f"an assertion fails: {op.attribute('message')}")


_SPECIAL: Mapping[str, Callable[[Machine, Op], None]] = {
    **dict.fromkeys(("thread_index", "block_index", "block_extent", "grid_extent"), _place),
    "constant": _constant,
    "undefined": _undefined,
    "array": _array,
    "dynamic_shared": _dynamic_shared,
    "offset": _offset,
    "distance": _distance,
    "pack": _pack,
    "extract": _extract,
    "bitcast": _bitcast,
    "load": _load,
    "store": _store,
    "atomic": _atomic,
    "barrier": _barrier,
    "shuffle": _shuffle,
    "vote": _vote,
    "match": _match,
    "reduce": _reduce,
    "scan": _scan,
    "assert": _assert,
    "print": lambda _machine, _op: None,
}
