"""Writes kernels in which one program computes whole rows: held in registers, or streamed tile by tile."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import (
    NO_AXES,
    Axes,
    Axis,
    Cast,
    Compute,
    Filled,
    Fold,
    Lanes,
    Literal,
    Load,
    Name,
    Running,
    Value,
    axes,
)
from porter.ir.tile.program import Kernel, Loop, Store
from porter.schedule.accumulate import Accumulator, Tile, accumulator, at_once, count_of
from porter.schedule.combine import Partial, combined
from porter.schedule.kernel_writer import BLOCK, PARTS, ZERO, Block, KernelWriter, Point, Stride
from porter.schedule.linear import Linear
from porter.schedule.loops import Loop as Range
from porter.schedule.loops import Node, Result, Scan
from porter.schedule.nests import Nest
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Algorithm, Schedule
from porter.schedule.statistics import Statistic, keeps_lanes, statistics
from porter.schedule.values import OPERATOR, Values, identity

_COLUMNS, _ROWS = Axis.COLUMNS, Axis.ROWS
_FIRST, _LAST = "evict_first", "evict_last"
_ONE = Literal(Fraction(1))
Handed = Sequence[tuple[Statistic, tuple[Partial, ...]]]  # the parts of each statistic that are handed on


def flat_kernel(nest: Nest, schedule: Schedule, writer: KernelWriter, tiled_loops: int) -> Kernel:
    """Returns the kernel of a nest without columns: each program computes a tile along the last `tiled_loops` loops."""
    block = Block()
    hint = _FIRST if schedule.evict_first else ""
    tiled = nest.rows[len(nest.rows) - tiled_loops :]
    if nest.rows:
        _place_tile(nest.rows[: len(nest.rows) - len(tiled)], tiled, writer, block)
    values = Values(writer, block, block, frozenset(loop.name for loop in tiled), {}, hint)
    values.expect(result.body for result in nest.results)
    _store_all(nest.results, values, block)
    return writer.kernel(block)


def _place_tile(others: Sequence[Range], tiled: Sequence[Range], writer: KernelWriter, block: Block) -> None:
    """Decodes the program into the points of `others` and a tile along each of `tiled`, the last of which is last."""
    index: Value = writer.program(block, "program")
    for number, (axis, loop) in enumerate(zip((_COLUMNS, _ROWS), reversed(tiled), strict=False)):
        size = writer.block_size(BLOCK[axis])
        own: Value = index
        if others or number + 1 < len(tiled):
            tiles = writer.let(block, "tiles", Compute("ceil_divide", (writer.size(loop.extent), size)))
            own = Compute("modulo", (index, tiles))
            index = writer.let(block, "outer", Compute("floor_divide", (index, tiles)))
        start = writer.let(block, "start", Compute("multiply", (own, size)))
        lanes = writer.lanes(block, axis)
        left = writer.let(block, "left", Cast(count_of(loop.extent, start, size, writer), DType.INT32))
        writer.masks[axis] = writer.let(block, "inside", Compute("less", (lanes, left)))
        writer.points[loop.name] = Point(start, lanes)
    if others:
        writer.decoded(block, index, tuple(others))


def row_kernel(nest: Nest, schedule: Schedule, writer: KernelWriter) -> Kernel:
    """Returns the kernel in which a program computes one row, or a tile of rows."""
    rows = RowKernel(nest, schedule, writer)
    if nest.scans:
        rows.scan()
    elif schedule.algorithm is Algorithm.HELD:
        rows.hold()
    else:
        rows.stream()
    return writer.kernel(rows.block)


class RowKernel:
    """The kernel, with its program's rows decoded."""

    def __init__(self, nest: Nest, schedule: Schedule, writer: KernelWriter) -> None:
        self.block = Block()
        self._nest = nest
        self._schedule = schedule
        self._writer = writer
        self._part: Value = ZERO
        self._serial: list[tuple[Range, str]] = []
        self._rows = self._placed()
        self._columns = frozenset(loop.name for loop in nest.columns)
        self._tiles: Value = ZERO
        self._counter = ""
        self._known_lanes: Name | None = None
        self._folds: dict[Node, Value] = {}
        self._step = ""
        self._before_steps = Block()

    def hold(self) -> None:
        """Computes each reduction over the one tile that has all columns of the row, which may lie along two axes."""
        writer, block, columns = self._writer, self.block, self._nest.columns
        if not self._nest.fits_a_tile or (self._rows and len(columns) > 1):
            raise NotSchedulableError("a tile has two axes")
        for axis, column in zip((_COLUMNS, _ROWS), reversed(columns), strict=False):
            lanes = self._lanes if axis is _COLUMNS else writer.lanes(block, axis)
            writer.masks[axis] = writer.let(block, "inside", Compute("less", (lanes, writer.size(column.extent))))
            writer.points[column.name] = Point(None, lanes)
        if len(columns) > 1:
            writer.column_axes = frozenset({_COLUMNS, _ROWS})
        values = Values(writer, block, block, self._columns, self._folds)
        elements = [s.element for one in statistics(self._nest, in_one_pass=False) for s in one]
        values.expect([*elements, *(result.body for result in self._nest.results)])
        for one in statistics(self._nest, in_one_pass=False):
            for statistic in one:
                self._folds |= at_once(statistic, values)
        _store_all(self._nest.results, values, block)

    def stream(self) -> None:
        """Computes a pass over the tiles for each group of reductions, and one to store each column."""
        for one in statistics(self._nest, in_one_pass=self._schedule.in_one_pass):
            self._reduce(one)
        self._store()

    def share(self, handed: Handed, place: Linear) -> None:
        """Computes this program's parts of all statistics, and stores each in its buffer at `place`."""
        _, accumulators = self._accumulated([statistic for statistic, _ in handed])
        for (_, own), one in zip(handed, accumulators, strict=True):
            for partial, value in zip(own, one.partial(), strict=True):
                pointer = self._writer.pointer(partial.buffer, place, self.block)
                self.block.statements.append(Store(pointer, value, self._writer.mask(axes(pointer))))

    def apply(self, handed: Handed, place: Linear) -> None:
        """Combines all parts of each statistic, and stores the results that the nest has of them."""
        writer, block = self._writer, self.block
        lanes = writer.let(block, "parts", Lanes(_COLUMNS, writer.block_size(PARTS).name))
        own = writer.points.get(PARTS)
        writer.points[PARTS] = Point(None, lanes)
        for statistic, buffers in handed:
            loaded = [
                writer.let(
                    block,
                    partial.word,
                    Load(writer.pointer(partial.buffer, place, block), writer.mask(self._rows), Fraction(0)),
                )
                for partial in buffers
            ]
            self._folds |= combined(statistic, loaded, writer, block, self._of_row())
        if own is not None:
            writer.points[PARTS] = own
        self._store()

    def _of_row(self) -> Values:
        return Values(self._writer, self.block, self.block, self._columns, self._folds)

    def _store(self) -> None:
        of_row = self._of_row()
        plain = [result for result in self._nest.results if not self.has_columns(result)]
        of_row.expect(result.body for result in plain)
        _store_all(plain, of_row, self.block)
        if whole := [result for result in self._nest.results if self.has_columns(result)]:
            values = self._values(is_last=True)
            values.expect(result.body for result in whole)
            self._tile(values, from_end=self._schedule.backwards)
            _store_all(whole, values, values.inner)
            self._loop_over(values.inner)

    def scan(self) -> None:
        """Computes a running reduction in one pass, which carries what was before a tile."""
        if self._schedule.rows > 1 or len(self._nest.columns) != 1:
            raise NotSchedulableError("a running reduction has one row a program, of one axis")
        values = self._values()
        values.expect(scan.body for scan in self._nest.scans)
        is_reverse = {scan.is_reverse for scan in self._nest.scans}
        if len(is_reverse) > 1:
            raise NotSchedulableError("running reductions in both directions")
        carries = [self._carry(scan) for scan in self._nest.scans]
        self._tile(values, from_end=is_reverse.pop())
        for scan, carry in zip(self._nest.scans, carries, strict=True):
            self._folds[scan] = self._ran(scan, carry, values)
        _store_all(self._nest.results, values, values.inner)
        self._loop_over(values.inner)

    def _carry(self, scan: Scan) -> Name:
        if scan.combine not in (Combine.SUM, Combine.PRODUCT):
            raise NotSchedulableError("a running extreme")
        return self._writer.let(self.block, "carry", Filled(identity(scan.combine), NO_AXES, scan.precision))

    def _ran(self, scan: Scan, carry: Name, values: Values) -> Value:
        """Returns a running reduction at each column of the tile.

        It is never computed as a difference. In a row of numbers between 0 and 1 the last sums from the end, as the
        total of a tile minus the sum before, were wrong by 2e-3, and so is a sum minus its own element where that is an
        outlier.
        """
        let, block = self._writer.let, values.inner
        element = self._masked(values.value(scan.body), identity(scan.combine))
        element = let(block, "element", element)
        running: Value = Running(scan.combine, element, _COLUMNS, scan.is_reverse, scan.is_exclusive)
        running = let(block, "running", running)
        total = let(block, "total", Fold(scan.combine, element, _COLUMNS))
        operator = OPERATOR[scan.combine]
        value = let(block, "value", Compute(operator, (running, carry)))
        self._writer.again(block, carry, Compute(operator, (carry, total)))
        return value

    def _masked(self, value: Value, other: Fraction | float) -> Value:
        mask = self._writer.masks.get(_COLUMNS)
        return value if mask is None else Compute("select", (mask, value, Literal(other)))

    def _placed(self) -> Axes:
        """Decodes the rows of the program; returns the axes that a value of a row has."""
        writer, block, nest = self._writer, self.block, self._nest
        is_shared = self._schedule.parts > 1
        index: Value = writer.program(block, "program" if is_shared or self._schedule.rows > 1 else "row")
        if is_shared:
            parts = writer.block_size(PARTS)
            self._part = writer.let(block, "part", Cast(Compute("modulo", (index, parts)), DType.INT32))
            writer.points[PARTS] = Point(self._part, of_row=True)
            index = writer.let(block, "row", Compute("floor_divide", (index, parts)))
        if not nest.rows:
            return NO_AXES
        if self._schedule.rows == 1:
            writer.decoded(block, index, nest.rows)
            return NO_AXES
        last = nest.rows[-1]
        start = _tiled(writer, block, index, nest.rows)
        lanes = writer.lanes(block, _ROWS)
        left = Cast(count_of(last.extent, start, writer.block_size(BLOCK[_ROWS]), writer), DType.INT32)
        writer.masks[_ROWS] = writer.let(block, "is_row", Compute("less", (lanes, left)))
        writer.points[last.name] = Point(start, lanes, of_row=True)
        return frozenset({_ROWS})

    @property
    def _lanes(self) -> Name:
        """Returns the lanes of a tile of columns."""
        if self._known_lanes is None:
            self._known_lanes = self._writer.lanes(self.block, _COLUMNS)
        return self._known_lanes

    def _values(self, *, is_last: bool = False) -> Values:
        """Returns values of a pass; data that the last pass reads and writes is not needed again."""
        hint = (_FIRST if is_last else _LAST) if self._schedule.evict_first else ""
        return Values(self._writer, self.block, Block(), self._columns, self._folds, hint)

    def _tile(self, values: Values, *, from_end: bool = False) -> Tile:
        """Places the next tile of columns; its start is a loop variable that `_loop_over` binds."""
        *serial, last = self._nest.columns
        writer = self._writer
        self._counter = writer.fresh("tile" if self._is_shared else "start")
        size = writer.block_size(BLOCK[_COLUMNS])
        start: Value = Name(self._counter)
        self._serial = [] if self._is_shared else [(loop, writer.fresh("step")) for loop in serial]
        for loop, name in self._serial:
            writer.points[loop.name] = Point(Name(name))
        if self._is_shared:
            start = self._tile_of_part(values.inner, serial, last, from_end=from_end)
        elif from_end:
            tiles = Compute("subtract", (Compute("ceil_divide", (writer.size(last.extent), size)), _ONE))
            last_start = writer.let(self.block, "last_start", Compute("multiply", (tiles, size)))
            start = writer.let(values.inner, "begin", Compute("subtract", (last_start, start)))
        stride = None
        if self._schedule.unrolled > 1:
            stride = self._strided(size)
            start = writer.let(values.inner, "start", Compute("add", (stride.begin, stride.past)))
        left = Compute("subtract", (writer.size(last.extent), start))
        writer.masks[_COLUMNS] = writer.let(values.inner, "inside", Compute("less", (self._lanes, left)))
        writer.points[last.name] = Point(start, self._lanes, stride=stride)
        return Tile(start, count_of(last.extent, start, size, writer))

    def _strided(self, size: Value) -> Stride:
        """Returns the place of a tile among those that a step of the loop goes through."""
        if self._is_shared or self._serial or self._schedule.backwards or not keeps_lanes(self._nest):
            raise NotSchedulableError("only what lanes find by themselves is found in several tiles a step")
        self._step, self._before_steps = self._writer.fresh("step"), Block()
        self._counter = self._writer.fresh("begin")
        past = Compute("multiply", (Name(self._step), size))
        return Stride(Name(self._counter), past, self._before_steps)

    @property
    def _is_shared(self) -> bool:
        return self._schedule.parts > 1

    def _tile_of_part(self, inner: Block, serial: list[Range], last: Range, *, from_end: bool) -> Value:
        """Decodes the number of a tile among those of all columns; returns its start in the last of them."""
        writer = self._writer
        size = writer.block_size(BLOCK[_COLUMNS])
        tiles: Value = Compute("ceil_divide", (writer.size(last.extent), size))
        index: Value = Name(self._counter)
        if serial or from_end:
            tiles = writer.let(self.block, "tiles", tiles)
        if from_end:
            last_tile = Compute("subtract", (self._counted(serial, tiles), _ONE))
            index = writer.let(inner, "from_end", Compute("subtract", (last_tile, index)))
        if serial:
            outer = writer.let(inner, "outer", Compute("floor_divide", (index, tiles)))
            writer.decoded_in_loop(inner, outer, tuple(serial))
            index = Compute("modulo", (index, tiles))
        self._tiles = self._counted(serial, tiles)
        return writer.let(inner, "start", Compute("multiply", (index, size)))

    def _counted(self, serial: Sequence[Range], tiles: Value) -> Value:
        """Returns how many tiles all columns have, where the last axis has `tiles`."""
        if not serial:
            return tiles
        return Compute("multiply", (*(self._writer.size(loop.extent) for loop in serial), tiles))

    def _reduce(self, found: tuple[Statistic, ...]) -> None:
        values, accumulators = self._accumulated(found)
        for one in accumulators:
            self._folds |= one.finish(values)

    def _accumulated(self, found: Sequence[Statistic]) -> tuple[Values, list[Accumulator]]:
        accumulators = [accumulator(one, self._of_row(), self._rows) for one in found]
        values = self._values()
        values.expect(one.element for one in found)
        tile = self._tile(values)
        for one in accumulators:
            one.add(values, tile)
        self._loop_over(values.inner)
        return values, accumulators

    def _loop_over(self, inner: Block) -> None:
        *_, last = self._nest.columns
        writer = self._writer
        stages = self._schedule.stages
        if self._is_shared:
            loop = Loop(self._counter, self._part, self._tiles, writer.block_size(PARTS), inner.body, stages)
        elif self._schedule.unrolled > 1:
            loop = self._unrolled(inner, last)
        else:
            size = writer.block_size(BLOCK[_COLUMNS])
            loop = Loop(self._counter, ZERO, writer.size(last.extent), size, inner.body, stages)
        for own, name in reversed(self._serial):
            loop = Loop(name, ZERO, writer.size(own.extent), _ONE, (loop,))
        self.block.statements.append(loop)

    def _unrolled(self, inner: Block, last: Range) -> Loop:
        """Returns the loop over steps, each of which goes through several tiles; masks end the last step."""
        writer, tiles = self._writer, Literal(Fraction(self._schedule.unrolled))
        self._before_steps.statements.append(Loop(self._step, ZERO, tiles, _ONE, inner.body, is_unrolled=True))
        step = Compute("multiply", (writer.block_size(BLOCK[_COLUMNS]), tiles))
        return Loop(self._counter, ZERO, writer.size(last.extent), step, self._before_steps.body, self._schedule.stages)

    def has_columns(self, result: Result) -> bool:
        """Returns whether a result has a value for each column."""
        return any(loop.name in self._columns for loop in result.loops)


def _tiled(writer: KernelWriter, block: Block, index: Value, rows: Sequence[Range]) -> Value:
    """Decodes an index into the points of all `rows` but the last and a tile along that; returns the tile's start."""
    *others, last = rows
    size = writer.block_size(BLOCK[_ROWS])
    if others:
        tiles = writer.let(block, "tiles", Compute("ceil_divide", (writer.size(last.extent), size)))
        outer = writer.let(block, "outer", Compute("floor_divide", (index, tiles)))
        writer.decoded(block, outer, tuple(others))
        index = Compute("modulo", (index, tiles))
    return writer.let(block, "start", Compute("multiply", (index, size)))


def _store_all(results: Sequence[Result], values: Values, block: Block) -> None:
    for result in results:
        value = values.value(result.body)
        pointer = values.writer.pointer(result.name, result.place, values.outer)
        mask = values.writer.mask(axes(pointer))
        hint = _FIRST if values.eviction == _FIRST else ""
        block.statements.append(Store(pointer, value, mask, hint))
