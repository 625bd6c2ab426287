"""Finds the schedules that suit a nest at some sizes: all that are legal, and those worth a try, most promising first.

The numbers are those of `docs/design/schedules.md`: they were measured on H100 and H200.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product as pairs
from math import log2, prod

from porter.schedule.loops import Loop, Reduce, walk
from porter.schedule.nests import Nest
from porter.schedule.schedule import Algorithm, Schedule
from porter.schedule.shared_kernels import MOST_SHARING, SHORT_BYTES
from porter.schedule.statistics import Kind, keeps_lanes, statistics

Sizes = Mapping[str, Fraction]
_LONGEST_PIECE = 32768  # columns of a shared row that one program keeps there
_PIECES = ((8192, 16), (8192, 8), (32768, 16), (13824, 16), (16384, 16), (32768, 32), (7168, 8))  # and warps
# Rows and columns of a tile, warps, and tiles a step. A thread has one access of each tile, so that it takes 32
# registers: tiles of which it had 16 elements at once took 80 to 185, at which a multiprocessor ran one to three.
_UNROLLED = ((64, 4, 8, 8), (64, 8, 8, 4), (32, 4, 4, 8), (256, 2, 16, 8))
_UNROLLED_SHORT = ((32, 16, 4, 4), (64, 4, 8, 8), (64, 16, 8, 4), (32, 4, 4, 8))
_LONGEST_HELD = 65536  # columns that one program keeps in its registers
_SHARED_FROM = 32768  # columns above which programs that share a row come first: l1_norm of 65,535 is 1.2 times as fast
_MOST_HELD_BY_ROWS = 128  # columns that are held beside a tile of rows
_PROGRAMS = 528  # four programs for each of 132 multiprocessors
_MANY_POINTS = 1 << 29  # beside which a launch more is nothing
_ONE_EACH = 128  # programs that have a multiprocessor each, a power of two
_SHARED_BYTES = 232448  # of a program of an H100
_MOST_PREFETCHED = 131072  # bytes of them
_FOR_FOLDS = 1024  # bytes of them that reductions across warps take
_MOST_PARTS = 512
_ROWS_OF_ONE = 64  # neighbouring rows that a program has at least, where it goes through all of their columns
_SHORT_ROW = 768  # points, below which a tile has several rows
_SMALL_WINDOW = (
    16  # points of a window along two axes, up to which tiles have eight rows: 2,611 us where two took 3,214
)
_HINTED = 6  # schedules that are tried with hints to the cache, too
_ACCESS_BYTES = 16  # of the widest load or store
_WARPS = (1, 2, 4, 8, 16, 32)
_LEAST_FOR_LANE, _MOST_FOR_LANE = 1, 128  # elements of a tile for each of its threads


def schedules(
    nest: Nest,
    sizes: Sizes,
    *,
    programs_wait: bool = True,
    shared_bytes: int = _SHARED_BYTES,
    is_fitted: bool = True,
) -> tuple[Schedule, ...]:
    """Returns the schedules that are worth a try at `sizes`, the most promising first; at least one.

    Schedules in which programs wait for each other are only for devices whose `programs_wait`, those that prefetch for
    devices whose programs have `shared_bytes` of memory for it. `is_fitted` says that kernels are compiled for a call,
    as Triton's are. Of others nvcc does not load the next tile of a step before it is done with the comparisons
    of the last one, where places of extremes are sought: small tiles took 1.4 times as long as large ones.
    """
    if not nest.columns:
        return _hinted(_flat(nest, sizes))
    found = _by_rows(nest, sizes) if rows_are_contiguous(nest) else _by_columns(nest, sizes)
    return _hinted(
        _with_short(one, nest, sizes, is_fitted=is_fitted)
        for one in found
        if (programs_wait or one.algorithm is not Algorithm.SHARED)
        and (is_fitted or one.unrolled == 1 or not _finds_places(nest))
        and _prefetched_bytes(nest, one) + _FOR_FOLDS <= shared_bytes
    )


def all_schedules(nest: Nest, sizes: Sizes) -> tuple[Schedule, ...]:
    """Returns all schedules that are legal for a nest at `sizes`, those of `schedules` first."""
    others = (_with_short(one, nest, sizes, is_fitted=True) for one in _every(nest, sizes) if _fits(one, nest, sizes))
    return tuple(dict.fromkeys([*schedules(nest, sizes), *others]))


def _with_short(schedule: Schedule, nest: Nest, sizes: Sizes, *, is_fitted: bool) -> Schedule:
    """Returns the schedule of long rows that are read twice with a kernel for short ones.

    A kernel that is compiled before it is called holds rows of one axis alone, and none that are longer than it is
    for: there one that reads them twice stands beside it at all sizes.
    """
    is_streamed = schedule.algorithm is Algorithm.STREAMED and schedule.rows == 1
    if not is_streamed or nest.scans or not nest.fits_a_tile or not _is_read_twice(nest):
        return schedule
    if not is_fitted:
        return replace(schedule, holds_short=len(nest.columns) == 1)
    is_long = held_columns(nest, sizes) * nest.element_bytes > SHORT_BYTES
    return replace(schedule, holds_short=is_long)


def _hinted(found: Iterable[Schedule]) -> tuple[Schedule, ...]:
    """Returns schedules, each once, and behind them the first of them with hints to the cache."""
    plain = tuple(dict.fromkeys(found))
    hinted = (replace(one, evict_first=True) for one in plain[:_HINTED] if one.algorithm is not Algorithm.SHARED)
    return tuple(dict.fromkeys([*plain, *hinted]))


def _every(nest: Nest, sizes: Sizes) -> Iterator[Schedule]:
    """Yields every algorithm with all extents and options, whether they go together or not."""
    if not nest.columns:
        for rows, columns, warps, hint in pairs(_powers(1, 64), _powers(16, 16384), _WARPS, (False, True)):
            yield Schedule(Algorithm.FLAT, rows, columns, warps=warps, evict_first=hint)
        return
    is_by_rows = rows_are_contiguous(nest)
    tiles = _powers(16, 512) if is_by_rows else (1,)
    widths = _powers(4, 128) if is_by_rows else _powers(256, 32768)
    if nest.fits_a_tile:
        for rows, warps in pairs(tiles if len(nest.columns) == 1 else (1,), _WARPS):
            yield Schedule(Algorithm.HELD, rows, held_columns(nest, sizes), warps=warps)
    for rows, width, warps, stages, hint in pairs(tiles, widths, _WARPS, (0, 2, 3), (False, True)):
        plain = Schedule(Algorithm.STREAMED, rows, width, warps=warps, stages=stages, evict_first=hint)
        yield plain
        if not nest.scans:
            for in_one_pass, backwards in pairs((False, True), (False, True)):
                yield replace(plain, in_one_pass=in_one_pass, backwards=backwards)
            for parts, backwards in pairs(_powers(2, _MOST_PARTS) if _is_shared_once(nest) else (), (False, True)):
                yield replace(plain, algorithm=Algorithm.SPLIT, parts=parts, backwards=backwards)
                if not is_by_rows and not backwards and _stores_columns(nest):
                    yield replace(plain, algorithm=Algorithm.APART, parts=parts)
    if not is_by_rows and _is_shared_once(nest):
        for parts, warps in pairs(range(2, MOST_SHARING + 1), _WARPS):
            yield Schedule(Algorithm.SHARED, columns=extent(nest.columns[-1:], sizes), parts=parts, warps=warps)


def _fits(schedule: Schedule, nest: Nest, sizes: Sizes) -> bool:
    """Returns whether a tile is no larger than its axes, and gives each thread neither too little nor too much."""
    rows = extent(nest.rows[-1:], sizes)
    columns = extent(nest.columns[-1:] or nest.rows[-1:], sizes)
    width = schedule.columns
    if schedule.algorithm is Algorithm.SHARED:
        width = -(-columns // schedule.parts)
    if schedule.algorithm is Algorithm.HELD and width > _LONGEST_HELD:
        return False
    if schedule.algorithm in (Algorithm.HELD, Algorithm.SHARED):
        width = _power_below(2 * width - 1)
        if schedule.algorithm is Algorithm.SHARED:
            if columns < 0.8 * width * schedule.parts:
                return False  # more than a fifth of the lanes would be idle
            if schedule.parts * extent(nest.columns[:-1], sizes) > MOST_SHARING:
                return False
    elif width > _power_below(2 * columns - 1):
        return False
    if schedule.rows > 1 and (schedule.rows > rows or (not nest.columns and len(nest.rows) < 2)):
        return False
    is_of_one_program = schedule.algorithm in (Algorithm.STREAMED, Algorithm.HELD)
    if is_of_one_program and nest.columns and extent(nest.rows, sizes) * 16 < _PROGRAMS and columns > _LONGEST_HELD:
        return False  # next to nothing of the device would be used
    if schedule.algorithm in (Algorithm.SPLIT, Algorithm.APART) and schedule.parts * width * 2 > extent(
        nest.columns, sizes
    ):
        return False
    return _LEAST_FOR_LANE <= schedule.rows * width // (32 * schedule.warps) <= _MOST_FOR_LANE


def rows_are_contiguous(nest: Nest) -> bool:
    """Returns whether neighbouring rows, not neighbouring columns, are neighbours in memory."""
    if not nest.rows or nest.scans:
        return False
    row, column = nest.rows[-1].name, nest.columns[-1].name
    reads = [read for read in nest.reads if {row, column} <= read.place.variables]  # what a column alone has is short
    return any(read.place.coefficient(row).constant == 1 for read in reads) and not any(
        read.place.coefficient(column).constant == 1 for read in reads
    )


def held_columns(nest: Nest, sizes: Sizes) -> int:
    """Returns the columns of a row that one program holds; of two axes the elements of the tile that has them."""
    if len(nest.columns) == 1:
        return extent(nest.columns, sizes)
    return prod(1 << (extent((loop,), sizes) - 1).bit_length() for loop in nest.columns)


def extent(loops: tuple[Loop, ...], sizes: Sizes) -> int:
    """Returns how many points loops have."""
    return prod(int(loop.extent.value(sizes)) for loop in loops)


def _flat(nest: Nest, sizes: Sizes) -> Iterator[Schedule]:
    """Yields schedules of points that need no other points; where rows are short a tile has several."""
    last = extent(nest.rows[-1:], sizes)
    if len(nest.rows) > 1 and last < _SHORT_ROW:
        width = min(256, 1 << max(4, (last - 1).bit_length()))
        one_row = Schedule(Algorithm.FLAT, columns=width, warps=min(4, max(1, width // 32)))
        if window_axes(nest) > 2:  # rows beside each other share less of what they read
            yield one_row
        tall = ((2048, 8),) if 1 < _window_points(nest, sizes) <= _SMALL_WINDOW else ()
        for points, warps in (*tall, (max(256, 2 * width), 4), (1024, 4), (2048, 8), (512, 4)):
            if points > width:
                yield Schedule(Algorithm.FLAT, rows=points // width, columns=width, warps=warps)
        yield one_row
    if not window_axes(nest):
        yield usual_tiles(nest)
        widest = 1024 * max(1, _ACCESS_BYTES // nest.element_bytes)
        if extent(nest.rows, sizes) >= _PROGRAMS * widest:
            yield Schedule(Algorithm.FLAT, columns=widest, warps=32)
            yield Schedule(Algorithm.FLAT, columns=widest // 2, warps=16)
    for columns, warps in ((1024, 4), (2048, 8), (256, 1), (512, 4), (2048, 4), (4096, 8)):
        yield Schedule(Algorithm.FLAT, columns=columns, warps=warps)


def usual_tiles(nest: Nest) -> Schedule:
    """Returns the schedule of points that are neighbours in memory: each thread moves 16 bytes twice.

    On an H200 programs of 32 warps, in which each thread moves them once, took 1.05 to 1.08 times as long.
    """
    return Schedule(Algorithm.FLAT, columns=_widened(1024, nest), warps=4)


def window_axes(nest: Nest) -> int:
    """Returns along how many axes each point reduces what is around it, which takes registers."""
    windows = (part for result in nest.results for part in walk(result.body) if isinstance(part, Reduce))
    return max((len(window.loops) for window in windows), default=0)


def _window_points(nest: Nest, sizes: Sizes) -> int:
    """Returns how many points around it each point reduces."""
    windows = (part for result in nest.results for part in walk(result.body) if isinstance(part, Reduce))
    return max((extent(window.loops, sizes) for window in windows), default=1)


def _widened(elements: int, nest: Nest) -> int:
    """Returns the extent of a tile in which lanes move as many bytes as they do of `elements` of 4 bytes."""
    return max(16, elements * 4 // nest.element_bytes)


def _by_columns(nest: Nest, sizes: Sizes) -> Iterator[Schedule]:
    """Yields schedules of rows whose columns are neighbours in memory.

    A row is held where it would otherwise be read twice, and programs share rows that are too long for one program, or
    too few.
    """
    rows, columns = extent(nest.rows, sizes), extent(nest.columns, sizes)
    if nest.scans:
        yield from _running()
        return
    is_of_few = rows * 16 < _PROGRAMS and columns > _LONGEST_HELD  # next to nothing of the device would be used
    streamed = () if is_of_few else tuple(_streamed(nest, sizes))
    tile = held_columns(nest, sizes)
    held = [
        Schedule(Algorithm.HELD, columns=tile, warps=warps)
        for warps in (_warps_for(tile, rows) if nest.fits_a_tile and tile <= _LONGEST_HELD else ())
    ]
    tiles = [(_widened(width, nest), warps) for width, warps in ((4096, 8), (8192, 16), (2048, 16), (8192, 8))]
    split = [
        Schedule(Algorithm.SPLIT, columns=width, parts=parts, warps=warps)
        for parts in (_parts(rows, columns) if columns > 4096 and _is_shared_once(nest) else ())
        for width, warps in tiles
        if width <= columns
    ]
    shared = tuple(_shared(nest, sizes))
    if columns > _SHARED_FROM and not (nest.element_bytes <= 2 and rows >= _PROGRAMS):
        yield from shared  # 16-bit floats are as fast twice from memory, without waiting
    if not _is_read_twice(nest):
        yield from _of_few_rows(nest, Algorithm.SPLIT, rows, columns)
    elif columns > _SHARED_FROM and rows * columns >= _MANY_POINTS:
        yield from _of_few_rows(nest, Algorithm.APART, rows, columns)
    first, second = (held, list(streamed)) if _is_read_twice(nest) else (list(streamed), held)
    yield from (*first, *second, *split) if rows >= _PROGRAMS else (*held, *split, *streamed)
    yield from shared


def _shared(nest: Nest, sizes: Sizes) -> Iterator[Schedule]:
    """Yields schedules in which programs hold a row together: long rows that would be read twice otherwise."""
    if not _is_read_twice(nest) or not _is_shared_once(nest):
        return
    columns = extent(nest.columns[-1:], sizes)
    kinds = {statistic.kind for statistic in statistics(nest, in_one_pass=True)[0]}
    first = (16384, 16) if Kind.EXPONENTIALS in kinds else (8192, 8) if Kind.MOMENTS in kinds else (8192, 16)
    for piece, warps in dict.fromkeys((first, *_PIECES)):
        parts = -(-columns // min(_widened(piece, nest), _LONGEST_PIECE))
        if 2 <= parts <= MOST_SHARING // extent(nest.columns[:-1], sizes):
            yield Schedule(Algorithm.SHARED, columns=columns, parts=parts, warps=warps)


def _of_few_rows(nest: Nest, algorithm: Algorithm, rows: int, columns: int) -> Iterator[Schedule]:
    """Yields schedules of few long rows: of several programs for each multiprocessor, then of one.

    A single program loads its next tiles while it adds up the last ones. On an H100 losses of 2^28 to 2^30 elements
    took 0.94 to 0.98 of the time that four programs take, on an H200 1.01 to 1.08 of it, and at a hundredth of the
    size up to 1.6. Losses of 16-bit floats took less on both, except where there is much to compute.
    """
    if columns <= _LONGEST_HELD or not _is_shared_once(nest):
        return
    parts = _ONE_EACH // max(1, rows)
    several = min(256, 8 * parts) if algorithm is Algorithm.APART else 4 * parts
    if parts >= 2 and (algorithm is Algorithm.APART or nest.element_bytes > 2):
        power = 1 << several.bit_length() - 1
        yield Schedule(algorithm, columns=_widened(8192, nest), parts=power, warps=16)
    for width, warps, stages in ((8192, 16, 3), (4096, 16, 3), (8192, 16, 2)):
        power = 1 << max(0, parts.bit_length() - 1)
        one = Schedule(algorithm, columns=_widened(width, nest), parts=power, warps=warps, stages=stages)
        if parts >= 2 and _prefetched_bytes(nest, one) <= _MOST_PREFETCHED:
            yield one


def _prefetched_bytes(nest: Nest, schedule: Schedule) -> int:
    """Returns the memory that the tiles take which a program asks for beforehand."""
    names = {loop.name for loop in nest.columns[-1:]}
    read = sum(one.dtype.bytes for one in nest.reads if names & one.place.variables)
    return read * schedule.rows * schedule.columns * max(0, schedule.stages - 1)


def _is_shared_once(nest: Nest) -> bool:
    """Returns whether the statistics of a row take one exchange between those that share it."""
    return not nest.scans and len(statistics(nest, in_one_pass=True)) == 1


def _running() -> Iterator[Schedule]:
    """Yields schedules of running reductions, which read and write each element once."""
    for width, warps in ((4096, 8), (8192, 8), (2048, 4), (1024, 4), (4096, 4)):
        yield Schedule(Algorithm.STREAMED, columns=width, warps=warps, evict_first=True)
        yield Schedule(Algorithm.STREAMED, columns=width, warps=warps)


def _streamed(nest: Nest, sizes: Sizes) -> Iterator[Schedule]:
    """Yields schedules that read a row tile by tile.

    Tiles of 16-bit floats have as many bytes as others where few tensors are read. Three tensors, with 64 elements of
    each in a thread, took 194 registers and 1.3 times as long as 16 elements did on an H200.
    """
    widest = _power_below(extent(nest.columns[-1:], sizes))
    names = {loop.name for loop in nest.columns[-1:]}
    is_short = nest.element_bytes <= 2
    is_of_many = is_short and sum(bool(names & read.place.variables) for read in nest.reads) > 2
    usual = [width if is_of_many else _widened(width, nest) for width in (4096, 2048, 8192, 1024, 16384)]
    for width in [width for width in usual if width <= widest] or [widest]:
        few = (8, 4) if is_short else (4, 8)
        for warps in few if width <= usual[0] else (8, 16):
            yield Schedule(Algorithm.STREAMED, columns=width, warps=warps)
            yield Schedule(Algorithm.STREAMED, columns=width, warps=warps, in_one_pass=False)


def _is_read_twice(nest: Nest) -> bool:
    """Returns whether a row that is streamed is read more than once."""
    return _stores_columns(nest) or len(statistics(nest, in_one_pass=True)) > 1


def _finds_places(nest: Nest) -> bool:
    return any(one.kind is Kind.PLACE for found in statistics(nest, in_one_pass=True) for one in found)


def _stores_columns(nest: Nest) -> bool:
    names = {loop.name for loop in nest.columns}
    return any(loop.name in names for result in nest.results for loop in result.loops)


def _by_rows(nest: Nest, sizes: Sizes) -> Iterator[Schedule]:
    """Yields schedules of rows that are neighbours in memory: tiles of many rows and some columns."""
    columns = extent(nest.columns, sizes)
    programs = extent(nest.rows, sizes) // 128
    if len(nest.columns) == 1 and columns <= _MOST_HELD_BY_ROWS:
        for rows, warps in ((128, 8), (64, 8), (64, 4), (32, 4)):
            yield Schedule(Algorithm.HELD, rows=rows, columns=columns, warps=warps)
    unrolled = [
        Schedule(Algorithm.STREAMED, rows=rows, columns=width, warps=warps, unrolled=unrolled)
        for rows, width, warps, unrolled in (_UNROLLED if nest.element_bytes > 2 else _UNROLLED_SHORT)
        if keeps_lanes(nest) and len(nest.columns) == 1 and not _is_read_twice(nest)
    ]
    is_filled = extent(nest.rows, sizes) // _ROWS_OF_ONE >= _PROGRAMS // 2
    if is_filled:
        yield from unrolled
    for rows, usual, warps in ((128, 32, 8), (64, 32, 4), (256, 16, 8), (128, 16, 4), (256, 8, 4), (512, 8, 8)):
        width = usual * max(1, 4 // nest.element_bytes)
        split = [
            Schedule(Algorithm.SPLIT, rows=rows, columns=width, parts=parts, warps=warps)
            for parts in (_parts(programs, columns) if columns >= 4 * width and _is_shared_once(nest) else ())
        ]
        streamed = Schedule(Algorithm.STREAMED, rows=rows, columns=width, warps=warps)
        yield from (streamed, *split) if programs >= _PROGRAMS else (*split, streamed)
    yield from unrolled


def _warps_for(columns: int, rows: int) -> tuple[int, ...]:
    """Returns warp counts that hold a row, the most promising first: where rows are few, nothing else hides a load."""
    if columns <= 1024:
        return (4, 2, 1)
    found = (8, 4, 16) if columns <= 8192 else (8, 16, 32)
    return tuple(sorted(found, reverse=True)) if rows * 4 < _PROGRAMS else found


def _parts(rows: int, columns: int) -> Iterator[int]:
    """Yields numbers of parts of a row: as many as fill the device, and some more and fewer."""
    needed = max(1, _PROGRAMS // max(1, rows))
    first = min(_MOST_PARTS, 1 << round(log2(needed)))
    for parts in (first, 2 * first, first // 2, 4 * first):
        if 2 <= parts <= min(_MOST_PARTS, max(2, columns // 256)):
            yield parts


def _powers(first: int, last: int) -> tuple[int, ...]:
    return tuple(1 << number for number in range(first.bit_length() - 1, last.bit_length()))


def _power_below(number: int) -> int:
    return max(16, 1 << max(0, number.bit_length() - 1))
