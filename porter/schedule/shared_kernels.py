"""Writes kernels of several programs for each row, which wait for each other: every element is read once.

It stays in registers, or is read again from the cache where these are short.

Programs draw tickets, and rows are taken in the order of the tickets, not of the grid. So a program that others wait
for runs already or is the next to begin, and a launch of any size finishes on a device that has room for the programs
of one row. The counters begin at zero: host code resets them for each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import NO_AXES, Axis, Cast, Compute, Lanes, Literal, Load, Name, Ticket, Value, axes
from porter.ir.tile.program import Await, Buffer, Host, Kernel, Launch, Store
from porter.schedule.combine import Partial, combined, partials
from porter.schedule.grids import bracketed
from porter.schedule.host_values import Names, host
from porter.schedule.kernel_writer import BLOCK, PARTS, ZERO, Block, KernelWriter, Point
from porter.schedule.linear import Linear
from porter.schedule.loops import Node, Result
from porter.schedule.nests import Nest
from porter.schedule.pieces import Piece, found_in
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product
from porter.schedule.schedule import Schedule
from porter.schedule.statistics import Kind, Statistic, statistics
from porter.schedule.values import Values, identity

MOST_SHARING = 64  # programs that wait for each other: fewer than half of the multiprocessors, for two calls at once
_PART_LANES = "PART_LANES"
_ALIGNED = 16  # elements of which the extent of a piece is a multiple, so that loads stay whole
# Bytes of a row that one program holds by itself; longer ones have equal pieces, no longer than this while there are
# programs for them. On an H100 four programs a row took 127 us for a softmax of 4,096 rows of 3,928 floats, and 1,590
# for a norm of 32,768 rows of 6,552; `torch.compile` takes 50 and 580. Pieces of 1,024 took 222 us for a group norm of
# 896 rows of 8 channels by 48 x 48.
SHORT_BYTES = 32768
HELD_COLUMNS = 32768  # of a row that one program holds where kernels are compiled before they are called
_FLOAT = 4  # bytes
_SHORT_TILE = 32768  # elements of a tile with two axes that one program holds: a piece has one of them
_LONGEST_PIECE = 65536  # columns that registers of a program hold
_COLUMNS = Axis.COLUMNS


@dataclass(frozen=True, slots=True)
class Shared:
    """The kernel and its launch, the buffers between programs, and what the host computes and demands."""

    kernel: Kernel
    launch: Launch
    buffers: tuple[Buffer, ...]
    sizes: tuple[tuple[str, Host], ...]
    demands: tuple[tuple[Host, str], ...]


def shared_kernel(nest: Nest, schedule: Schedule, writer: KernelWriter, names: Names) -> Shared:
    """Returns the kernel of a nest whose rows `schedule.parts` programs hold together.

    Raises `NotSchedulableError` where a program would have to wait more than once, or reads what another one stores.
    """
    passes = statistics(nest, in_one_pass=True)
    if len(passes) != 1 or schedule.parts < 2 or nest.scans:
        raise NotSchedulableError("programs that share a row wait for each other once")
    _refuse_read_results(nest)
    rows = product(row.extent for row in nest.rows)
    *serial, last = nest.columns
    axes_before = product(loop.extent for loop in serial)
    handed = [(statistic, partials(statistic, writer.precision, names)) for statistic in passes[0]]
    arrivals = names.fresh("arrivals")
    piece, pieces = names.fresh("piece_columns"), names.fresh("axis_pieces" if serial else "row_parts")
    parts = names.fresh("row_parts") if serial else pieces
    kernel = _SharedRow(nest, schedule, writer, _Cut(piece, pieces, parts)).written(handed, arrivals)
    columns, before = host(last.extent).text, bracketed(host(axes_before).text)
    usual, some = SHORT_BYTES // nest.element_bytes, f"max({columns}, 1)"
    at_most = f", max({MOST_SHARING} // max({before}, 1), 1)" if serial else ""
    sizes = [
        (pieces, Host(f"min({schedule.parts}, cdiv({some}, {usual}){at_most})")),
        (piece, Host(f"cdiv({some}, {_ALIGNED} * {pieces}) * {_ALIGNED}")),
    ]
    if serial:
        sizes.append((parts, Host(f"{before} * {pieces}")))
    blocks = (
        (BLOCK[_COLUMNS], Host(f"pow2ceil({piece})")),
        (_PART_LANES, Host(f"pow2ceil({parts})")),
    )
    count = host(rows).text
    launch = Launch(kernel.name, (Host(f"{bracketed(count)} * {parts}"),), blocks, Host(str(schedule.warps)))
    extent = host(rows * axes_before * Polynomial.of(schedule.parts))
    told = (Buffer(one.buffer, one.dtype, (extent,)) for _, own in handed for one in own)
    flags = Buffer(arrivals, DType.INT32, (host(rows + Polynomial.of(1)),), is_zeroed=True)
    fits = Host(f"{parts} <= {MOST_SHARING} and {piece} <= {_LONGEST_PIECE}")
    demands = [(fits, f"a row is too long for {MOST_SHARING} programs that wait for each other")]
    return Shared(kernel, launch, (*told, flags), tuple(sizes), tuple(demands if serial else ()))


def is_short(nest: Nest, launch: Launch, *, is_fitted: bool) -> Host:
    """Returns the host's test of whether a row is short enough for `launch`, in which one program holds it."""
    columns = bracketed(host(nest.columns[0].extent).text)
    if not is_fitted:
        return Host(f"{columns} <= {HELD_COLUMNS * _FLOAT // max(_FLOAT, nest.element_bytes)}")
    if len(nest.columns) == 1:
        return Host(f"{columns} <= {SHORT_BYTES // nest.element_bytes}")
    tile = " * ".join(bracketed(extent.text) for _, extent in launch.blocks)
    return Host(f"{tile} <= {_SHORT_TILE}")


def _refuse_read_results(nest: Nest) -> None:
    """Raises where a result of a row is read, too: the program that stores it does not wait for the readers."""
    columns = {loop.name for loop in nest.columns}
    plain = {result.name for result in nest.results if not any(loop.name in columns for loop in result.loops)}
    if plain & {read.tensor for read in nest.reads}:
        raise NotSchedulableError("a result of the row is read by the programs that share it")


@dataclass(frozen=True, slots=True)
class _Cut:
    """The host's names for the sizes of a row's parts: columns of a piece, pieces of an axis, and parts of the row.

    They are numbers of the launch: as constants of compilation each length of a row would have its own kernel.
    """

    piece: str
    pieces: str
    parts: str


class _SharedRow:
    """The kernel in the making."""

    def __init__(self, nest: Nest, schedule: Schedule, writer: KernelWriter, cut: _Cut) -> None:
        self._nest = nest
        self._schedule = schedule
        self._writer = writer
        self._cut = cut
        self._block = Block()
        self._columns = frozenset(loop.name for loop in nest.columns)
        self._folds: dict[Node, Value] = {}

    def written(self, handed: Sequence[tuple[Statistic, tuple[Partial, ...]]], arrivals: str) -> Kernel:
        """Returns the kernel; `arrivals` counts the tickets, then for each row the programs that have its part."""
        writer, block = self._writer, self._block
        counts = writer.tensor(arrivals)
        part, row = self._drawn(counts)
        piece = self._placed(part)
        values = Values(writer, block, block, self._columns, self._folds)
        elements = [statistic.element for statistic, _ in handed]
        values.expect([*elements, *(result.body for result in self._nest.results)])
        place = self._place()
        for statistic, buffers in handed:
            for partial, value in zip(buffers, found_in(statistic, piece, values), strict=True):
                block.statements.append(Store(writer.pointer(partial.buffer, place, block), value, None))
        own = writer.let(block, "arrived", Compute("add", (counts, row, Literal(Fraction(1)))))
        block.statements.append(Await(own, writer.named_size(self._cut.parts)))
        self._combine(handed, place, part)
        self._store(self._kept(values, handed), part)
        return writer.kernel(block)

    def _kept(self, values: Values, handed: Sequence[tuple[Statistic, tuple[Partial, ...]]]) -> Values:
        """Returns the values that the results are made of: those in registers, or the same read again from the cache.

        Beside exponentials the elements do not stay in registers: on an H200 a softmax of 393,216 columns that read
        them again took 63 registers instead of 91, ran two programs on a multiprocessor instead of one, and took 0.73
        of the time. Norms took as many registers, and up to 1.3 times as long.
        """
        if not any(statistic.kind is Kind.EXPONENTIALS for statistic, _ in handed):
            return values
        block = self._block
        return Values(self._writer, block, Block(block.statements), self._columns, self._folds)

    def _drawn(self, counts: Value) -> tuple[Name, Name]:
        """Returns the part of a row that the program has, and the number of the row."""
        writer, block = self._writer, self._block
        parts = writer.named_size(self._cut.parts)
        ticket = writer.let(block, "ticket", Ticket(counts))
        part = writer.let(block, "part", Compute("modulo", (ticket, parts)))
        row = writer.let(block, "row", Cast(Compute("floor_divide", (ticket, parts)), DType.INT64))
        if self._nest.rows:
            writer.decoded(block, row, self._nest.rows)
        return part, row

    def _placed(self, part: Value) -> Piece:
        writer, block = self._writer, self._block
        *serial, column = self._nest.columns
        extent = writer.named_size(self._cut.piece)
        own: Value = part
        if serial:
            pieces = writer.named_size(self._cut.pieces)
            own = Compute("modulo", (part, pieces))
            outer = Compute("floor_divide", (part, pieces))
            writer.decoded(block, writer.let(block, "outer", Cast(outer, DType.INT64)), tuple(serial))
        start = writer.let(block, "start", Compute("multiply", (own, extent)))
        rest = Compute("minimum", (Compute("subtract", (writer.size(column.extent), start)), extent))
        left = writer.let(block, "left", Cast(rest, DType.INT32))
        lanes = writer.lanes(block, _COLUMNS)
        writer.masks[_COLUMNS] = writer.let(block, "inside", Compute("less", (lanes, left)))
        writer.points[column.name] = Point(start, lanes)
        writer.points[PARTS] = Point(part, of_row=True)
        return Piece(start, left)

    def _place(self) -> Linear:
        """Returns where the program's own part lies among those of all rows."""
        place = Linear.variable(PARTS)
        of_row = product(loop.extent for loop in self._nest.columns[:-1]) * Polynomial.of(self._schedule.parts)
        for position, row in enumerate(self._nest.rows):
            stride = product(later.extent for later in self._nest.rows[position + 1 :])
            place += Linear.variable(row.name).times(stride * of_row)
        return place

    def _combine(self, handed: Sequence[tuple[Statistic, tuple[Partial, ...]]], place: Linear, part: Value) -> None:
        """Combines the parts of all programs; there may be fewer of them than lanes."""
        writer, block = self._writer, self._block
        lanes = writer.let(block, "parts", Lanes(_COLUMNS, writer.block_size(_PART_LANES).name))
        is_part = writer.let(block, "is_part", Compute("less", (lanes, writer.named_size(self._cut.parts))))
        writer.points[PARTS] = Point(None, lanes)
        of_row = Values(writer, block, block, self._columns, self._folds)
        for statistic, buffers in handed:
            loaded = []
            for number, partial in enumerate(buffers):
                pointer = writer.pointer(partial.buffer, place, block)
                load = Load(pointer, is_part, _missing(statistic, number), of_others=True)
                loaded.append(writer.let(block, partial.word, load))
            self._folds |= combined(statistic, loaded, writer, block, of_row)
        writer.points[PARTS] = Point(part, of_row=True)

    def _store(self, values: Values, part: Value) -> None:
        """Stores the results of the piece; the first program of a row stores those of the whole row."""
        writer, block = self._writer, self._block
        for result in self._nest.results:
            value = values.value(result.body)
            pointer = writer.pointer(result.name, result.place, block)
            is_whole = self._has_columns(result)
            mask = writer.mask(axes(pointer)) if is_whole else Compute("equal", (part, ZERO))
            assert is_whole or axes(value) == NO_AXES
            block.statements.append(Store(pointer, value, mask))

    def _has_columns(self, result: Result) -> bool:
        return any(loop.name in self._columns for loop in result.loops)


def _missing(statistic: Statistic, number: int) -> Fraction | float:
    """Returns the part of a program that does not exist: it changes no statistic."""
    match statistic.kind:
        case Kind.EXPONENTIALS if number == 0:
            return identity(Combine.MAXIMUM)
        case Kind.PLAIN | Kind.PLACE if number == 0:
            return identity(statistic.folds[0].combine)
    return Fraction(0)
