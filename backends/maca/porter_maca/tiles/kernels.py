"""Writes a kernel of the tile IR as a `__global__` function, and collects what its launches need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from porter.contract.model.dtype import DType
from porter.ir.tile.expressions import Axis, Lanes, Load, Name, Running, Value, parts
from porter.ir.tile.program import Kernel, Launch, Let, Operator, Statement, Store, statements
from porter_maca.tiles.alignment import PACK
from porter_maca.tiles.entries import GENERIC, ElementType
from porter_maca.tiles.expressions import CONSTANTS, pointer_parts
from porter_maca.tiles.kernel_text import KernelText
from porter_maca.tiles.taking_apart import COLUMNS, ROWS, TakingApart
from porter_maca.tiles.threads import Threads
from porter_maca.tiles.types import Types

_HELD = re.compile(r"pow2ceil\(max\((?P<columns>.*), 1\)\)")
_OF_HELD = ["int kThreads", "int kColumns"]  # what the host chooses by the length of a row
_NARROWEST, _WIDEST = 64, 1024  # threads of a block: one wave at least
_WARP = 32  # lanes of the warps that schedules count
_MOST_EACH = 32  # elements that a thread holds, while there may be more threads
_LONGEST = 65536  # columns of a row that a block holds
_MOST_BESIDE_ROWS = 512  # columns that are held beside a tile of rows
_USUAL_PACK, _WIDEST_PACK = 4, 8  # elements


@dataclass(frozen=True, slots=True)
class Instance:
    """A held kernel for rows of up to `columns`."""

    threads: int
    columns: int


@dataclass(frozen=True, slots=True)
class WrittenKernel:
    """The text of a kernel. It moves packs of `pack` elements where `sizes` and `tensors` are aligned.

    Kernels that hold rows of any length have `instances`; `columns` is the host's text of that length.
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


def written_kernel(
    kernel: Kernel, launch: Launch, operator: Operator, elements: Mapping[str, ElementType]
) -> WrittenKernel:
    """Returns the text of a kernel; `elements` are the types of the elements of tensors, and their names.

    Raises `UnprintableError` for an operation that MACA C++ or this printer has no word for.
    """
    extents = {name: host.text for name, host in launch.blocks}
    held = _HELD.fullmatch(extents.get(COLUMNS, ""))
    known = {name: int(extents[name]) for name in kernel.blocks if extents.get(name, "").isdecimal()}
    count = max(_NARROWEST, int(launch.warps.text) * _WARP)
    used = frozenset(value.block for value in _values(kernel.body) if isinstance(value, Lanes))
    fast = ROWS if ROWS in used and _rows_are_neighbours(kernel) else COLUMNS
    widest = _widest_pack(kernel, elements, _room(known.get(fast), count, is_alone=ROWS not in used))
    taken = _taken(kernel, operator, elements, fast, packed=widest > 1 and fast in used)
    pack = widest if taken.is_packed else 1
    names = {word: taken.names.fresh(f"{word}thread") for word in ("", "row_", "column_")}
    threads = Threads(used, fast, pack, None if held else count, known, names, _is_running(kernel))
    asked = (tuple(taken.alignment.sizes), tuple(taken.alignment.tensors)) if pack > 1 else ((), ())
    return WrittenKernel(
        kernel,
        launch,
        _function(kernel, operator, elements, taken, threads),
        pack,
        *asked,
        count,
        any(elements[name].is_generic for name in kernel.tensors),
        held["columns"] if held else "",
        tuple(_instances(count, pack, known.get(ROWS, 1))) if held else (),
    )


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
    narrowest = min((elements[name].dtype.bytes for name in kernel.tensors), default=PACK)
    return min(PACK // narrowest, _WIDEST_PACK, room)


def _instances(threads: int, vector: int, rows: int) -> Iterator[Instance]:
    """Yields instances of a kernel that holds rows, for shorter ones first; long rows have more threads."""
    columns, longest = (16, _MOST_BESIDE_ROWS) if rows > 1 else (threads * max(vector, _USUAL_PACK), _LONGEST)
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


def _function(
    kernel: Kernel, operator: Operator, elements: Mapping[str, ElementType], taken: TakingApart, threads: Threads
) -> str:
    """Returns the text of a function; its pointers are restricted where host code made all that it stores."""
    stored = kernel.stored_tensors
    pointers = {n: f"{'' if n in stored else 'const '}{elements[n].name}*" for n in kernel.tensors}
    is_alone = stored <= {one.name for one in (*operator.results, *operator.buffers)}
    restrict = " __restrict__" if is_alone else ""
    number = "double" if operator.precision is DType.FLOAT64 else "float"
    parameters = [f"{pointers[name]}{restrict} {name}_ptr" for name in kernel.tensors]
    parameters += [f"int64_t {name}" for name in kernel.sizes]
    parameters += [f"{number} {name}" for name in kernel.numbers]
    parameters += [f"int {name}" for name in kernel.blocks if name not in CONSTANTS]
    templates = [f"typename {GENERIC}"] if any(elements[name].is_generic for name in kernel.tensors) else []
    templates += (["int kPack"] if threads.vector > 1 else []) + (_OF_HELD if threads.count is None else [])
    bounds = "kThreads" if threads.count is None else threads.count
    head = f"template <{', '.join(templates)}>\n" if templates else ""
    head += f"__global__ void __launch_bounds__({bounds}) {kernel.name}({', '.join(parameters)}) {{"
    body = KernelText(taken, threads, pointers).lines()
    lines = "\n".join(line if line.startswith("#") else f"    {line}" for line in body)
    return f"{head}\n{lines}\n}}\n"
