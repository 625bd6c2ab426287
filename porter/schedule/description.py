"""Describes a nest at some sizes in numbers: everything that decides how long a schedule of it takes, and no names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from porter.schedule.linear import Linear
from porter.schedule.loops import Apply, Loop, Node, Reduce, is_fold, own_loops, walk
from porter.schedule.nests import Nest
from porter.schedule.space import Sizes, rows_are_contiguous
from porter.schedule.statistics import statistics

_SPECIAL = frozenset(  # what takes more than one instruction of the ordinary units
    (
        *("exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf", "sqrt", "rsqrt", "power", "sin", "cos"),
        *("divide", "divide_rn"),
    )
)


@dataclass(frozen=True, slots=True)
class NestDescription:
    """The numbers of a nest: `rows` and `columns` are the extents of loops; bytes count each tensor once.

    `reads` says how often a row is read tile by tile: with dependent reductions computed together, and one after the
    other. `window` is the number of points around each point that are combined; `plain` and `special` count the
    operations of one point, `scans` its running reductions. Where `rows_are_contiguous` neighbouring rows are
    neighbours in memory.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    read_bytes: int
    written_bytes: int
    reads: tuple[int, int]
    window: int
    scans: int
    plain: int
    special: int
    rows_are_contiguous: bool


def described(nest: Nest, sizes: Sizes) -> NestDescription:
    """Returns what is known of `nest` at `sizes`."""
    loops = _extents(nest, sizes)
    bodies = [node for result in nest.results for node in walk(result.body)]
    operations = [node.op for node in dict.fromkeys(bodies) if isinstance(node, Apply)]
    special = sum(op in _SPECIAL for op in operations)
    return NestDescription(
        tuple(loops[loop.name] for loop in nest.rows),
        tuple(loops[loop.name] for loop in nest.columns),
        _read_bytes(nest, loops, sizes),
        sum(_points(result.place, loops, sizes) * result.dtype.bytes for result in nest.results),
        _reads(nest),
        max((_window(node, sizes) for node in bodies), default=1),
        len(nest.scans),
        len(operations) - special,
        special,
        bool(nest.columns) and rows_are_contiguous(nest),
    )


def _extents(nest: Nest, sizes: Sizes) -> dict[str, int]:
    """Returns how often each loop runs, those of reductions and windows as well."""
    inner = (loop for result in nest.results for node in walk(result.body) for loop in own_loops(node))
    return {loop.name: int(loop.extent.value(sizes)) for loop in (*inner, *nest.rows, *nest.columns)}


def _read_bytes(nest: Nest, loops: dict[str, int], sizes: Sizes) -> int:
    """Returns the bytes that are read: of a tensor those of its largest read."""
    largest: dict[str, int] = {}
    for read in nest.reads:
        points = _points(read.place, loops, sizes) * read.dtype.bytes
        largest[read.tensor] = max(points, largest.get(read.tensor, 0))
    return sum(largest.values())


def _points(place: Linear, loops: dict[str, int], sizes: Sizes) -> int:
    """Returns the largest number of elements at `place`: one for each point, or all between the first and the last."""
    steps = [(loops[name], abs(factor.value(sizes))) for name, factor in place.terms if name in loops]
    return min(prod(extent for extent, _ in steps), int(sum((extent - 1) * step for extent, step in steps)) + 1)


def _reads(nest: Nest) -> tuple[int, int]:
    if not nest.columns:
        return (1, 1)
    names = {loop.name for loop in nest.columns}
    last = any(loop.name in names for result in nest.results for loop in result.loops)
    together, apart = (len(statistics(nest, in_one_pass=way)) for way in (True, False))
    return (max(1, together + last), max(1, apart + last))


def _window(node: Node, sizes: Sizes) -> int:
    if not isinstance(node, Reduce) or is_fold(node):
        return 1
    inner = max((_window(part, sizes) for part in walk(node.body)), default=1)
    return inner * _extent(node.loops, sizes)


def _extent(loops: Iterable[Loop] | Sequence[Loop], sizes: Sizes) -> int:
    return prod(int(loop.extent.value(sizes)) for loop in loops)
