"""Takes the statements of a kernel apart into steps of a block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile import expressions as tile
from porter.ir.tile.expressions import Cast, Compute, Filled, Lanes, Load, Name, Running, Value, parts
from porter.ir.tile.program import Await, Kernel, Let, Loop, Statement, Store, statements
from porter.schedule.host_values import Names
from porter_maca.tiles.alignment import Alignment
from porter_maca.tiles.expressions import CONSTANTS, pointer_parts, summed
from porter_maca.tiles.steps import (
    NO_SHAPE,
    Accumulate,
    Count,
    Define,
    Elements,
    Extreme,
    Fold,
    FoldPlace,
    LoadPacks,
    Meet,
    Packs,
    Repeat,
    Run,
    Shape,
    Step,
    StorePacks,
)
from porter_maca.tiles.types import Types, UnprintableError

ROWS, COLUMNS, PARTS = "BLOCK_ROWS", "BLOCK_COLUMNS", "PARTS"
_WORDS = {
    Combine.SUM: "sum",
    Combine.PRODUCT: "product",
    Combine.MAXIMUM: "largest",
    Combine.MINIMUM: "smallest",
}
# What is worth a name where it is the same for several elements.
_DEAR = frozenset(
    ("divide", "divide_rn", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "power", "sin", "cos", "tanh", "erf")
)
_ALONG = {tile.Axis.ROWS: ROWS, tile.Axis.COLUMNS: COLUMNS}


class TakingApart:
    """Splits a kernel into steps, and keeps what is known of its names.

    `fast` is the axis whose lanes are neighbours in memory. Without `packed` each element is loaded and stored alone;
    `is_packed` says in the end whether all values that vary along the fast axis are made of packs, so that they may
    stay packed.
    """

    def __init__(self, kernel: Kernel, types: Types, fast: str, *, packed: bool) -> None:
        self.types = types
        self.shapes: dict[str, Shape] = {}
        self.lanes: dict[str, str] = {}  # the name of the lanes of each axis
        self.indices: dict[str, Value] = {}  # tiles that are computed anew where they are used
        self._pointers: dict[str, Value] = {}  # tiles of pointers, which are, too
        self.alignment = Alignment(kernel)
        self.is_packed = packed
        lets = [one for one in statements(kernel.body) if isinstance(one, Let)]
        times = Counter(one.name for one in lets)
        self.changing = {name for name, count in times.items() if count > 1}
        self.names = Names({*times, *kernel.sizes, *kernel.numbers, *kernel.blocks, *types.pointers})
        self._packed = packed
        self._fast = fast
        self._loaded: set[str] = set()
        self._stand_for: dict[str, Value] = {}  # what lanes and masks are in C++
        self._totals: dict[tuple[Combine, Value], Run] = {}  # running reductions, which know their total
        self._open: Elements | None = None
        for name in (*kernel.sizes, *kernel.blocks):
            types.numbers[name] = DType.INT32 if name in kernel.blocks else DType.INT64
        types.numbers |= dict.fromkeys(kernel.numbers, types.precision)
        self.steps = self._body(kernel.body)

    def shape(self, value: Value) -> Shape:
        """Returns the extents of a value, by their constants."""
        match value:
            case Name(name):
                return self.shapes.get(name, NO_SHAPE)
            case Lanes(_, block):
                return frozenset({block})
            case Filled(_, axes):
                return frozenset(_ALONG[axis] for axis in axes)
            case tile.Fold(value=inner) | tile.FoldIndex(value=inner):
                return self.shape(inner) - {COLUMNS, PARTS}
        return NO_SHAPE.union(*map(self.shape, tile.operands(value)))

    def _body(self, body: Sequence[Statement]) -> list[Step]:
        steps: list[Step] = []
        for statement in body:
            match statement:
                case Let(name, value):
                    self._let(name, value, steps)
                case Store():
                    self._store(statement, steps)
                case Await():
                    raise UnprintableError("no MetaX device lets blocks of one launch wait for each other")
                case Loop():
                    self._close()
                    self._totals = {}
                    self.types.numbers[statement.name] = (
                        DType.INT32 if statement.is_unrolled else self.types.of(statement.stop) or DType.INT32
                    )
                    self.alignment.steps_by(statement)
                    steps.append(Repeat(statement, self._body(statement.body)))
        self._close()
        return steps

    def _close(self) -> None:
        self._open = None

    def _elements(self, shape: Shape, steps: list[Step]) -> Elements:
        """Returns the open loop over a tile's elements, or a new one."""
        if self._open is None or self._open.shape != shape:
            self._open = Elements(shape)
            steps.append(self._open)
        return self._open

    def _let(self, name: str, value: Value, steps: list[Step]) -> None:
        value = self._with_pointers(value)
        if self.shape(value) and self.types.tensor(value):
            self._pointers[name] = value
            return
        match value:
            case Lanes(_, block):
                self._lane(name, block)
                return
            case Compute("less", (Name(lanes), left)) if lanes in self._stand_for and not self.shape(left):
                self._mask(name, self._stand_for[lanes], left, steps)
                return
            case Cast(Compute("at_most", (left, Name(block))), DType.INT32) if block in CONSTANTS:
                self.types.numbers[name] = DType.INT32
                self._before_elements(Count(name, left, block), steps)
                return
        value = self._hoisted(self._without_folds(value, steps, name), steps)
        if isinstance(value, Name) and value.name == name:
            return
        self._named(name, value)
        if self.shape(value) and self._is_index(name, value):
            self.indices[name] = self._in_32_bits(value)
            self.types.numbers[name] = self.types.of(self.indices[name]) or DType.INT32
        else:
            self._define(name, value, steps)

    def _with_pointers(self, value: Value) -> Value:
        """Returns `value` with what tiles of pointers are in the place of their names."""
        match value:
            case Name(name):
                return self._pointers.get(name, value)
            case Compute("add", operands):
                return Compute("add", tuple(map(self._with_pointers, operands)))
            case Load(pointer):
                return replace(value, pointer=self._with_pointers(pointer))
        return value

    def _in_32_bits(self, value: Value) -> Value:
        """Returns a sum with a 32-bit number in 32 bits where possible: the other number has room there."""
        match value:
            case Compute("add", (Cast(_, DType.INT32) | Name() as first, *others)) if self._is_narrow(first):
                return Compute("add", (first, *map(self._narrowed, others)))
        return value

    def _is_narrow(self, value: Value) -> bool:
        """Returns whether a value is a number of 32 bits, or a tile that was computed in as many."""
        return isinstance(value, Cast) or (
            isinstance(value, Name) and value.name in self.indices and self.types.of(value) is DType.INT32
        )

    def _narrowed(self, value: Value) -> Value:
        match value:
            case Name() if self.types.of(value) is DType.INT64:
                return Cast(value, DType.INT32)
            case Compute(op, operands):
                return Compute(op, tuple(map(self._narrowed, operands)))
        return value

    def _define(self, name: str, value: Value, steps: list[Step]) -> None:
        shape = self.shape(value)
        if not shape:
            self._of_block(name, value, steps)
        else:
            if self._open is not None and self._open.has_stored and any(isinstance(one, Load) for one in parts(value)):
                self._close()  # it may load what was stored
            self._of_elements(name, value, self._elements(shape, steps), steps)

    def _named(self, name: str, value: Value) -> None:
        self.shapes[name] = self.shape(value) or self.shapes.get(name, NO_SHAPE)
        tensor = self.types.tensor(value)
        if tensor:
            self.types.pointers[name] = tensor
        elif self.types.is_counted(value):
            self.types.counted.add(name)
        if not tensor and name not in self.types.numbers:
            self.types.numbers[name] = self.types.of(value) or self.types.precision
        self.alignment.known(name, value)

    def _of_block(self, name: str, value: Value, steps: list[Step]) -> None:
        """Adds a value that is the same for the whole block: before an open loop, if possible."""
        is_free = name not in self.changing and not any(isinstance(one, Load) for one in parts(value))
        if not is_free:
            self._close()
        self._before_elements(Define(name, value), steps)

    def _before_elements(self, step: Step, steps: list[Step]) -> None:
        """Adds a step before the loop over elements that is open."""
        steps.insert(len(steps) - (self._open is not None), step)

    def _is_index(self, name: str, value: Value) -> bool:
        """Returns whether a tile is cheap to compute where it is used: a place, or a condition on places."""
        if name in self.changing or self.types.numbers[name].is_float:
            return False
        for one in parts(value):
            if isinstance(one, Load) or (isinstance(one, Name) and one.name in self.changing):
                return False
            if isinstance(one, Name) and self.shape(one) and not self._is_of_lanes(one.name):
                return False
        return True

    def _is_of_lanes(self, name: str) -> bool:
        return name in self.indices or name in self._stand_for or name in self.lanes.values()

    def _of_elements(self, name: str, value: Value, elements: Elements, steps: list[Step]) -> None:
        match value:
            case Load(pointer, mask, other):
                packs = self._packs(pointer, mask)
                if packs is not None:
                    dtype = self.types.numbers[name]
                    elements.loads.append(LoadPacks(name, packs, other, dtype, elements.shape))
                    return
                value = replace(value, pointer=self._based(pointer, steps))
        elements.items.append(Define(name, value))

    def _based(self, pointer: Value, steps: list[Step]) -> Value:
        """Returns a pointer relative to the block's own: terms that are the same for all elements are added once."""
        base, offsets = pointer_parts(pointer)
        shared = [one for one in offsets if not self.shape(one)]
        if not shared:
            return pointer
        tensor = self.types.tensor(pointer)
        name = self.names.fresh(f"{tensor}_tile")
        self._named(name, summed([base, *shared]))
        self._of_block(name, summed([base, *shared]), steps)
        return summed([Name(name), *(one for one in offsets if self.shape(one))])

    def _lane(self, name: str, block: str) -> None:
        """Takes in the lanes of an axis, of which C++ sees one at a time."""
        own = self.names.fresh(name.removesuffix("s"))
        self.lanes[block] = own
        self._stand_for[name] = Name(own)
        self.shapes[name] = self.shapes[own] = frozenset({block})
        self.types.numbers[own] = DType.INT32

    def _mask(self, name: str, lane: Value, left: Value, steps: list[Step]) -> None:
        """Notes which lanes of a tile lie inside: those below a count."""
        shape = self.shape(lane)
        (block,) = shape
        match left:
            case Name() if self.types.of(left) is DType.INT32:
                count = left
            case _:
                count = Name(self.names.fresh("count"))
                self.types.numbers[count.name] = DType.INT32
                if isinstance(left, Cast) and isinstance(left.value, Compute) and left.value.op == "at_most":
                    left = left.value.operands[0]
                self._before_elements(Count(count.name, left, block), steps)
        self._stand_for[name] = Compute("less", (lane, count))
        self.shapes[name] = shape
        self.types.numbers[name] = DType.BOOL

    def _store(self, store: Store, steps: list[Step]) -> None:
        value = self._hoisted(self._without_folds(store.value, steps, ""), steps)
        pointer, mask = self._resolved(store.pointer), self._resolved(store.mask) if store.mask else None
        shape = self.shape(pointer)
        if self.types.tensor(pointer) in self._loaded and shape < self._lanes_of_threads():
            self._close()
            steps.append(Meet())
        if not shape:
            self._close()
            steps.append(Store(pointer, value, mask))
            return
        elements = self._elements(shape, steps)
        packs = self._packs(pointer, mask)
        if packs is None:
            elements.items.append(Store(self._based(pointer, steps), value, mask))
            return
        is_tile = isinstance(value, Name) and value.name not in self.changing and self.shape(value) == shape
        if not isinstance(value, Name) or not is_tile or self._is_of_lanes(value.name):
            name = self.names.fresh("stored")
            self._named(name, value)
            self.shapes[name] = shape
            elements.items.append(Define(name, value))
            value = Name(name)
        elements.stores.append(StorePacks(value.name, packs, shape))

    def _lanes_of_threads(self) -> Shape:
        """Returns the axes by which threads of the block differ; parts of a row count as columns."""
        return frozenset(COLUMNS if block == PARTS else block for block in self.lanes)

    def _without_folds(self, value: Value, steps: list[Step], name: str) -> Value:
        """Returns a value with names for what a block computes together, which is `name` where it is all of it."""
        match value:
            case tile.Fold(combine, inner, axis):
                return self._folded(combine, self._without_folds(inner, steps, ""), axis, steps, name)
            case tile.FoldIndex(combine, inner, axis):
                return self._placed(combine, self._without_folds(inner, steps, ""), axis, steps, name)
            case Running(value=inner):
                return self._ran(value, self._without_folds(inner, steps, ""), steps, name)
            case Compute("less", (Name(), Name())):
                return self._resolved(value)
            case Compute(op, operands):
                return Compute(op, tuple(self._without_folds(one, steps, "") for one in operands))
            case Cast(inner, dtype):
                return Cast(self._without_folds(inner, steps, ""), dtype)
        return self._resolved(value)

    def _hoisted(self, value: Value, steps: list[Step]) -> Value:
        """Returns a value of elements with names for what is dear in it and the same for more than one element."""
        whole = self.shape(value)

        def hoisted(one: Value) -> Value:
            if not isinstance(one, Compute):
                return one
            if self.shape(one) < whole and one.op in _DEAR:
                name = self.names.fresh("factor")
                self._named(name, one)
                self._define(name, one, steps)
                return Name(name, tile.axes(one))
            return Compute(one.op, tuple(map(hoisted, one.operands)))

        return hoisted(value)

    def _resolved(self, value: Value) -> Value:
        """Returns a value with what lanes and masks stand for."""
        match value:
            case Name(name) if name in self._stand_for:
                return self._stand_for[name]
            case Compute("less", (Name() as place, Name() as extent)) if self._is_narrow(place):
                return Compute("less", (place, self._narrowed(extent)))  # every axis has room there
            case Compute(op, operands):
                return Compute(op, tuple(map(self._resolved, operands)))
            case Cast(inner, dtype):
                return Cast(self._resolved(inner), dtype)
            case Load(pointer, mask):
                self._loaded.add(self.types.tensor(pointer))
                return replace(
                    value, pointer=self._resolved(pointer), mask=None if mask is None else self._resolved(mask)
                )
        return value

    def _whole_tile(self, value: Value, axis: tile.Axis) -> Shape:
        shape = self.shape(value)
        if axis is not tile.Axis.COLUMNS or not shape & {COLUMNS, PARTS}:
            raise UnprintableError("a reduction does not run along columns")
        return shape

    def _folded(self, combine: Combine, value: Value, axis: tile.Axis, steps: list[Step], name: str) -> Value:
        shape = self._whole_tile(value, axis)
        if (run := self._totals.get((combine, value))) is not None and not run.total:
            run.total = self._result(name, "total", NO_SHAPE, run.dtype).name
            return Name(run.total)
        dtype = self.types.of(value) or self.types.precision
        dtype = DType.INT32 if dtype is DType.BOOL else dtype
        own = self._result(name, _WORDS[combine], shape - {COLUMNS, PARTS}, dtype)
        self._elements(shape, steps).items.append(Accumulate(own.name, combine, value))
        self._close()
        steps.append(Fold(own.name, combine, dtype, self.shapes[own.name]))
        return own

    def _placed(self, combine: Combine, value: Value, axis: tile.Axis, steps: list[Step], name: str) -> Value:
        shape = self._whole_tile(value, axis)
        own = self._result(name, "place", shape - {COLUMNS, PARTS}, DType.INT32)
        key = self._result("", "key", self.shapes[own.name], self.types.of(value) or self.types.precision)
        (along,) = shape & {COLUMNS, PARTS}
        item = Extreme(own.name, key.name, combine, value, self.lanes[along])
        self._elements(shape, steps).items.append(item)
        self._close()
        steps.append(FoldPlace(own.name, key.name, combine, self.shapes[own.name]))
        return own

    def _ran(self, running: Running, value: Value, steps: list[Step], name: str) -> Value:
        shape = self._whole_tile(value, running.axis)
        if shape != {COLUMNS}:
            raise UnprintableError("a running reduction has more than one row")
        dtype = self.types.of(value) or self.types.precision
        own = self._result(name, "running", shape, dtype)
        self._elements(shape, steps).items.append(Define(own.name, value))
        self._close()
        run = Run(own.name, running.combine, dtype, running.is_reverse, running.is_exclusive)
        steps.append(run)
        if not any(isinstance(one, Name) and one.name in self.changing for one in parts(value)):
            self._totals[running.combine, value] = run
        return own

    def _result(self, name: str, word: str, shape: Shape, dtype: DType) -> Name:
        """Returns the name of a value that a block computes together; one that changes later gets its own copy."""
        own = name if name and name not in self.changing else self.names.fresh(f"{name}_now" if name else word)
        self.shapes[own] = shape
        self.types.numbers[own] = dtype
        axes = frozenset(axis for axis, block in _ALONG.items() if block in shape)
        return Name(own, axes)

    def _packs(self, pointer: Value, mask: Value | None) -> Packs | None:
        """Returns the neighbours at a pointer; None where elements are not neighbours, or packs are not wanted."""
        if self._fast not in self.shape(pointer):
            return None
        found = self._neighbours(pointer, mask)
        if found is None or not self.alignment.allows(found.pointer):
            self.is_packed = False
            return None
        return found if self._packed else None

    def _neighbours(self, pointer: Value, mask: Value | None) -> Packs | None:
        fast = self.lanes[self._fast]
        base, offsets = pointer_parts(pointer)
        others = [one for one in offsets if not (isinstance(one, Name) and one.name == fast)]
        if len(others) != len(offsets) - 1 or any(self._fast in self.shape(one) for one in others):
            return None
        count: Value = Name(CONSTANTS[self._fast])
        conditions = []
        for one in _conditions(mask):
            match one:
                case Compute("less", (Name(name), left)) if name == fast and not self.shape(left):
                    count = left
                case _ if self._fast not in self.shape(one):
                    conditions.append(one)
                case _:
                    return None
        condition = None if not conditions else conditions[0]
        if len(conditions) > 1:
            condition = Compute("and", tuple(conditions))
        return Packs(summed([base, *others]), count, condition)


def _conditions(mask: Value | None) -> Sequence[Value]:
    match mask:
        case None:
            return ()
        case Compute("and", operands):
            return [one for operand in operands for one in _conditions(operand)]
    return (mask,)
