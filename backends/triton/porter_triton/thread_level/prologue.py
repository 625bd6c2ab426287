"""Prints the beginning of a kernel: the thread's number, its coordinates, the mask of a padded block."""

from __future__ import annotations

from collections import Counter

from porter.ir.simt.ops import walk
from porter.ir.simt.types import Scalar
from porter_triton.kernel_records import LaunchInfo, LoweredParameter, ParameterKind
from porter_triton.thread_level.expressions import Expression, Level, infix, literal
from porter_triton.thread_level.printer import Mask, Printer

_AXES = "xyz"
_LAUNCHED = {"block_index": ("pid", "tl.program_id"), "grid_extent": ("programs", "tl.num_programs")}


def begin(p: Printer, launch: LaunchInfo) -> None:
    """Writes the thread's number, and its coordinates if used; sets the mask of a padded block."""
    used = _used(p)
    extents = [_extent(p, launch, axis) for axis in range(3)]
    p.threads = _threads(p, launch)
    tid = p.assign(p.names.reserve("tid", "thread"), Expression(f"tl.arange(0, {p.threads})", Scalar.I32, varying=True))
    _take_apart(p, launch, tid, extents, used)
    _mask_padding(p, launch, tid, extents)
    for kind, (stem, function) in _LAUNCHED.items():
        axes = [axis for axis in range(3) if used[kind, axis]]
        for axis in axes:
            place = Expression(f"{function}({axis})", Scalar.I32)
            name = p.names.reserve(stem if axes == [0] else f"{stem}_{_AXES[axis]}", stem)
            p.coordinates[kind, axis] = p.assign(name, place) if used[kind, axis] > 1 else place


def _used(p: Printer) -> Counter[tuple[str, int]]:
    """Returns how often the function asks for each coordinate and extent."""
    found: Counter[tuple[str, int]] = Counter()
    for op in walk(p.function.body):
        if op.kind in ("thread_index", *_LAUNCHED):
            axis = op.attribute("axis")
            assert isinstance(axis, int)
            found[op.kind, axis] += len(p.uses.get(op.result, ()))
    return found


def _extent(p: Printer, launch: LaunchInfo, axis: int) -> Expression:
    """Returns an extent of the block: a constexpr parameter where it has a name."""
    dimension = launch.block[axis]
    found = literal(dimension.value or 1, Scalar.I32)
    if dimension.name:
        p.names.reserve(dimension.name, "constexpr")
        p.parameters.append(LoweredParameter(dimension.name, ParameterKind.BLOCK, source=_AXES[axis]))
        found = Expression(dimension.name, Scalar.I32, loose=True)
    p.coordinates["block_extent", axis] = found
    return found


def _threads(p: Printer, launch: LaunchInfo) -> str:
    """Returns the number of elements of a tensor that has one a thread: a power of two."""
    block = launch.block
    if all(dimension.value == 1 for dimension in block[1:]) and block[0].is_power:
        return block[0].name or str(block[0].value)
    known = [dimension.value for dimension in block if dimension.value is not None]
    if len(known) == 3 and not any(dimension.name for dimension in block):
        return str(1 << (known[0] * known[1] * known[2] - 1).bit_length())
    name = p.names.reserve("THREADS", "constexpr")
    p.parameters.append(LoweredParameter(name, ParameterKind.THREADS))
    return name


def _take_apart(
    p: Printer, launch: LaunchInfo, tid: Expression, extents: list[Expression], used: Counter[tuple[str, int]]
) -> None:
    """Sets the thread's coordinates, which are digits of its number."""
    rest = tid
    for axis, dimension in enumerate(launch.block):
        found = rest
        if dimension.value == 1:
            p.coordinates["thread_index", axis] = literal(0, Scalar.I32)
            continue
        if any(later.value != 1 for later in launch.block[axis + 1 :]):
            found = infix("%", Level.PRODUCT, rest, extents[axis], Scalar.I32)
            rest = infix("//", Level.PRODUCT, rest, extents[axis], Scalar.I32)
        if not found.is_atom and used["thread_index", axis]:
            found = p.assign(p.names.reserve(f"tid_{_AXES[axis]}", "coordinate"), found)
        p.coordinates["thread_index", axis] = found


def _mask_padding(p: Printer, launch: LaunchInfo, tid: Expression, extents: list[Expression]) -> None:
    """Sets the mask of threads that the source's block has, where the tensor may have more elements."""
    if all(dimension.is_power for dimension in launch.block):
        return
    factors = [extent for extent in extents if extent.number != 1] or extents[:1]
    count = factors[0]
    for factor in factors[1:]:
        count = infix("*", Level.PRODUCT, count, factor, Scalar.I32)
    inside = infix("<", Level.COMPARISON, tid, count, Scalar.BOOL)
    p.mask = Mask(p.assign(p.names.reserve("inside", "mask"), inside), is_certain=True)
