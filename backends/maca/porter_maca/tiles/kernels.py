"""Writes a kernel of the tile IR as a `__global__` function, and collects what its launches need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porter.contract.model.dtype import DType
from porter.ir.tile.expressions import Axis, Lanes, Load, Name, Running, Value, parts
from porter.ir.tile.program import Kernel, Launch, Let, Operator, Statement, Store, statements
from porter.schedule.shared_kernels import HELD_COLUMNS
from porter_maca.tiles.alignment import PACK
from porter_maca.tiles.entries import GENERIC, ElementType
from porter_maca.tiles.expressions import CONSTANTS, pointer_parts
from porter_maca.tiles.kernel_text import KernelText
from porter_maca.tiles.taking_apart import COLUMNS, ROWS, TakingApart
from porter_maca.tiles.threads import Threads
from porter_maca.tiles.types import Types
from porter_maca.tiles.usual import fixed_in

_HELD = re.compile(r"pow2ceil\(max\((?P<columns>.*), 1\)\)")
_OF_ROWS = ["int kThreads", "int kColumns"]  # what the host chooses by the length of a row
_OF_TILES = ["int kRows", "int kColumns"]  # what it chooses by the extents of the points
_USUAL = "kUsual"  # whether sizes are those of the contract
_NARROWEST, _WIDEST = 64, 1024  # threads of a block: one wave at least
_WARP = 32  # lanes of the warps that schedules count
_MOST_EACH = 32  # elements that a thread holds, while there may be more threads
_LONGEST = 65536  # columns of a row that a block holds
_SHORTEST_TILE = 512  # columns of a tile of which a kernel has an instance for shorter rows
_MOST_BESIDE_ROWS = 512  # columns that are held beside a tile of rows
_USUAL_PACK, _WIDEST_PACK = 4, 8  # elements


@dataclass(frozen=True, slots=True)
class Instance:
    """A kernel for rows of up to `columns`."""

    threads: int
    columns: int


@dataclass(frozen=True, slots=True)
class WrittenKernel:
    """The text of a kernel. It moves packs of `pack` elements where `sizes` and `tensors` are aligned.

    Kernels of rows have `instances` for short ones; `columns` is the host's text of a row's length. The last instance
    is for all longer rows, too, unless it `is_held`. Those of points have `tiles` of several extents, as the launch and
    its narrower ones do. There is one more instance for the sizes that are `usual`.
    """

    kernel: Kernel
    launch: Launch
    text: str
    pack: int
    sizes: tuple[str, ...]
    tensors: tuple[str, ...]
    threads: int
    is_generic: bool = False
    columns: str = ""
    instances: tuple[Instance, ...] = ()
    is_held: bool = False
    tiles: tuple[tuple[str, str], ...] = ()
    usual: Mapping[str, int] = field(default_factory=dict)


def written_kernel(
    kernel: Kernel,
    launch: Launch,
    operator: Operator,
    elements: Mapping[str, ElementType],
    usual: Mapping[str, int],
) -> WrittenKernel:
    """Returns the text of a kernel; `elements` are the types of the elements of tensors, and their names.

    `usual` are the sizes that its contract fixes. Raises `UnprintableError` for an operation that MACA C++ or this
    printer has no word for.
    """
    extents = {name: host.text for name, host in launch.blocks}
    held = _HELD.fullmatch(extents.get(COLUMNS, ""))
    known = {name: int(extents[name]) for name in kernel.blocks if extents.get(name, "").isdecimal()}
    count = max(_NARROWEST, int(launch.warps.text) * _WARP)
    used = frozenset(value.block for value in _values(kernel.body) if isinstance(value, Lanes))
    fast = ROWS if ROWS in used and _rows_are_neighbours(kernel) else COLUMNS
    narrowest = {name: min(known[name], *_extents(launch.narrower, name)) for name in known}
    each = known[ROWS] * known[COLUMNS] // count if {ROWS, COLUMNS} <= known.keys() & used else _WIDEST_PACK
    room = _room(narrowest.get(fast), count, is_alone=ROWS not in used)
    widest = _widest_pack(kernel, elements, min(room, max(1, each)))  # or some threads would have no element
    taken = _taken(kernel, operator, elements, fast, packed=widest > 1 and fast in used)
    pack = widest if taken.is_packed else 1
    names = {word: taken.names.fresh(f"{word}thread") for word in ("", "row_", "column_")}
    is_of_any = launch.row is not None and launch.when is None  # or another kernel is for short rows
    rows = tuple(_shorter(count, known[COLUMNS], pack)) if is_of_any else ()
    chosen = {ROWS, COLUMNS} if launch.narrower else {COLUMNS} if len(rows) > 1 else set()
    fixed = {name: extent for name, extent in known.items() if name not in chosen}
    by_row = held is not None or len(rows) > 1
    threads = Threads(used, fast, pack, None if by_row else count, fixed, names, _is_running(kernel))
    asked = (tuple(taken.alignment.sizes), tuple(taken.alignment.tensors)) if pack > 1 else ((), ())
    own = fixed_in(kernel, launch, usual)
    found = WrittenKernel(
        kernel,
        launch,
        _function(kernel, operator, elements, taken, threads, own),
        pack,
        *asked,
        count,
        any(elements[name].is_generic for name in kernel.tensors),
        tiles=tuple(_tiles(launch)),
        usual=own,
    )
    if held is not None:
        longest = _LONGEST if launch.when is None else HELD_COLUMNS
        instances = tuple(_instances(count, pack, known.get(ROWS, 1), longest))
        return replace(found, columns=held["columns"], instances=instances, is_held=True)
    return replace(found, columns=launch.row.text, instances=rows) if launch.row is not None and by_row else found


def _extents(launches: Sequence[Launch], name: str) -> list[int]:
    return [int(extent.text) for one in launches for block, extent in one.blocks if block == name] or [_LONGEST]


def _tiles(launch: Launch) -> Iterator[tuple[str, str]]:
    """Yields the extents of the tiles of points among which the host chooses."""
    if launch.narrower:
        for one in (launch, *launch.narrower):
            extents = dict(one.blocks)
            yield extents[ROWS].text, extents[COLUMNS].text


def _taken(
    kernel: Kernel, operator: Operator, elements: Mapping[str, ElementType], fast: str, *, packed: bool
) -> TakingApart:
    """Returns the steps of a kernel, with packs where all that varies along the fast axis is made of packs."""

    def taken(*, packed: bool) -> TakingApart:
        types = Types({name: elements[name].dtype for name in kernel.tensors}, operator.precision)
        types.generic |= {name for name in kernel.tensors if elements[name].is_generic}
        types.pointers |= {f"{name}_ptr": name for name in kernel.tensors}
        return TakingApart(kernel, types, fast, packed=packed)

    found = taken(packed=packed)
    return found if found.is_packed or not packed else taken(packed=False)


def _room(extent: int | None, threads: int, *, is_alone: bool) -> int:
    """Returns how many neighbours on an axis of `extent` lanes a thread may have; None means as many as needed."""
    if extent is None:
        return _WIDEST_PACK
    return max(1, extent // threads) if is_alone else max(1, extent // 2)


def _widest_pack(kernel: Kernel, elements: Mapping[str, ElementType], room: int) -> int:
    """Returns how many neighbours are moved at once: 16 bytes of the narrowest but masks that are read beside others.

    With packs of eight, for a mask of bytes, each access of floats would touch half of every 32 bytes.
    """
    sizes = {name: elements[name].dtype.bytes for name in kernel.tensors}
    is_beside = any(size > 1 for name, size in sizes.items() if name not in kernel.stored_tensors)
    told = (size for name, size in sizes.items() if size > 1 or not is_beside or name in kernel.stored_tensors)
    narrowest = min(told, default=PACK)
    return min(PACK // narrowest, _WIDEST_PACK, room)


def _shorter(threads: int, columns: int, pack: int) -> Iterator[Instance]:
    """Yields instances of a kernel that goes through rows in tiles, with narrower tiles for shorter rows first."""
    if columns > _SHORTEST_TILE:
        fewer = max(_NARROWEST, threads // 2)
        if columns // 2 >= fewer * pack:
            yield from _shorter(fewer, columns // 2, pack)
    yield Instance(threads, columns)


def _instances(threads: int, vector: int, rows: int, most: int) -> Iterator[Instance]:
    """Yields instances of a kernel that holds rows, for shorter ones first; long rows have more threads."""
    columns, longest = (16, _MOST_BESIDE_ROWS) if rows > 1 else (threads * max(vector, _USUAL_PACK), most)
    while columns <= longest:
        yield Instance(min(_WIDEST, max(threads, rows * columns // _MOST_EACH)), columns)
        columns *= 2


def _rows_are_neighbours(kernel: Kernel) -> bool:
    """Returns whether neighbouring rows of a tile, and not neighbouring columns, are neighbours in memory."""
    lanes = {one.name: one.value for one in statements(kernel.body) if isinstance(one, Let)}
    found = set()
    for pointer in _pointers(kernel.body):
        for offset in pointer_parts(pointer)[1]:
            value = lanes.get(offset.name) if isinstance(offset, Name) else None
            if isinstance(value, Lanes):
                found.add(value.axis)
    return Axis.ROWS in found and Axis.COLUMNS not in found


def _is_running(kernel: Kernel) -> bool:
    return any(isinstance(value, Running) for value in _values(kernel.body))


def _values(body: tuple[Statement, ...]) -> Iterator[Value]:
    for statement in statements(body):
        if isinstance(statement, Let | Store):
            yield from parts(statement.value)


def _pointers(body: tuple[Statement, ...]) -> Iterator[Value]:
    for statement in statements(body):
        if isinstance(statement, Store):
            yield statement.pointer
    for value in _values(body):
        if isinstance(value, Load):
            yield value.pointer


def _function(  # noqa: PLR0917 - what is written, and how
    kernel: Kernel,
    operator: Operator,
    elements: Mapping[str, ElementType],
    taken: TakingApart,
    threads: Threads,
    usual: Mapping[str, int],
) -> str:
    """Returns the text of a function; its pointers are restricted where host code made all that it stores.

    Sizes that are `usual` are constants of one instance; there the parameters, of another name, are not used.
    """
    stored = kernel.stored_tensors
    pointers = {n: f"{'' if n in stored else 'const '}{elements[n].name}*" for n in kernel.tensors}
    is_alone = stored <= {one.name for one in (*operator.results, *operator.buffers)}
    restrict = " __restrict__" if is_alone else ""
    number = "double" if operator.precision is DType.FLOAT64 else "float"
    parameters = [f"{pointers[name]}{restrict} {name}_ptr" for name in kernel.tensors]
    any_ = {name: taken.names.fresh(f"any_{name}") for name in usual}
    parameters += [f"int64_t {any_.get(name, name)}" for name in kernel.sizes]
    parameters += [f"{number} {name}" for name in kernel.numbers]
    parameters += [f"int {any_.get(name, name)}" for name in kernel.blocks if name not in CONSTANTS]
    templates = [f"typename {GENERIC}"] if any(elements[name].is_generic for name in kernel.tensors) else []
    templates += (["int kPack"] if threads.vector > 1 else []) + (_OF_ROWS if threads.count is None else [])
    is_fitted = threads.has_both and COLUMNS in threads.blocks - threads.extents.keys() and threads.count is not None
    templates += _OF_TILES if is_fitted else []
    templates += [f"bool {_USUAL}"] if usual else []
    bounds = "kThreads" if threads.count is None else threads.count
    head = f"template <{', '.join(templates)}>\n" if templates else ""
    head += f"__global__ void __launch_bounds__({bounds}) {kernel.name}({', '.join(parameters)}) {{"
    kinds = {name: "int64_t" if name in kernel.sizes else "int" for name in usual}
    constants = [f"const {kinds[n]} {n} = {_USUAL} ? {value} : {any_[n]};" for n, value in usual.items()]
    body = [*constants, *KernelText(taken, threads, pointers).lines()]
    lines = "\n".join(line if line.startswith("#") else f"    {line}" for line in body)
    return f"{head}\n{lines}\n}}\n"
