"""Says what a launch does and what bounds it, in sentences for the author of the next program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.backend import Chip
from porter.cost_model.estimate import Estimate
from porter.cost_model.program import Program

_MB = 1e6


def launch_in_words(  # noqa: PLR0917 - a launch, and what is known of it
    kernel: str,
    grid: tuple[int, int, int],
    program: Program,
    part: Estimate,
    tensors: Mapping[int, str],
    buffers: Mapping[int, int],
    chip: Chip,
) -> str:
    """Describes a launch: its shape, what its programs have of a multiprocessor, what it moves, and what takes longest.

    `tensors` and `buffers` are the names and bytes of what it accesses, by first address.
    """
    said = (*_shape(grid, program, part, chip), *_movement(part, tensors, buffers), *_times(part))
    return f"`{kernel}`: {' '.join(said)}"


def _shape(grid: tuple[int, int, int], program: Program, part: Estimate, chip: Chip) -> Iterator[str]:
    extents = " x ".join(str(extent) for extent in grid)
    spilled = f"{program.local_bytes} bytes a thread SPILLED to memory" if program.local_bytes else "nothing spilled"
    held = "" if program.registers is None else f" {program.registers} registers a thread, {spilled};"
    yield f"{extents} programs of {_counted(program.warps, 'warp')};{held}"
    yield f"{program.shared_bytes} bytes of shared memory a program."
    warps, most = part.resident * program.warps, chip.threads // program.warp_size
    yield f"A multiprocessor holds {_counted(part.resident, 'program')} at once ({warps} of {most} warps),"
    yield f"limited by {' and '.join(part.limits)}."


def _movement(part: Estimate, tensors: Mapping[int, str], buffers: Mapping[int, int]) -> Iterator[str]:
    yield from _moved("Reads", part.traffic.read, tensors, buffers)
    yield from _moved("Writes", part.traffic.written, tensors, buffers)
    if part.traffic.cached:
        yield f"{_size(part.traffic.cached)} more come from the cache."


def _times(part: Estimate) -> Iterator[str]:
    yield f"By the model {_microseconds(part.total)}: moving the bytes alone takes {_microseconds(part.memory)},"
    yield f"instructions and waiting alone {_microseconds(part.waiting)}; so it is bound by {_BOUND[part.bound]}."


_BOUND = {
    "memory": "the bandwidth of memory",
    "programs": "what its programs do (latency, instructions, barriers), not by bandwidth",
}


def _microseconds(time_us: float) -> str:
    """Returns a time as people write it."""
    return f"{time_us:.0f} us" if time_us >= 100 else f"{time_us:.3g} us"


def _moved(
    verb: str, moved: Mapping[int, float], tensors: Mapping[int, str], buffers: Mapping[int, int]
) -> Iterator[str]:
    """Yields one sentence on the tensors that are read or written, each with how often that is its own size."""
    parts = [_tensor(base, size, tensors, buffers) for base, size in sorted(moved.items())]
    if parts:
        yield f"{verb} {', '.join(parts)}."


def _tensor(base: int, moved: float, tensors: Mapping[int, str], buffers: Mapping[int, int]) -> str:
    name, whole = tensors.get(base, "at addresses that depend on data"), buffers.get(base, 0)
    times = moved / whole if whole else 1.0
    often = f", {times:.2g} times its size" if times > 1.05 else ""
    return f"{name} ({_size(moved)}{often})"


def _size(size: float) -> str:
    if size >= 1000 * _MB:
        return f"{size / _MB / 1000:.4g} GB"
    return f"{size / _MB:.4g} MB" if size >= _MB / 100 else f"{size:.0f} bytes"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
