"""Says what a launch does and what bounds it, in sentences for the author of the next program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.backend import Chip
from porter_triton.compiled_plan import CompiledLaunch
from porter_triton.model.estimate import Estimate

_WARP_SIZE = 32
_MB = 1e6


def launch_in_words(launch: CompiledLaunch, part: Estimate, buffers: Mapping[int, int], chip: Chip) -> str:
    """One launch: its shape, what its programs have of a multiprocessor, the bytes it moves, and what takes longest."""
    return f"`{launch.kernel}`: {' '.join(_sentences(launch, part, buffers, chip))}"


def _sentences(launch: CompiledLaunch, part: Estimate, buffers: Mapping[int, int], chip: Chip) -> Iterator[str]:
    made = launch.compiled
    grid = " x ".join(str(extent) for extent in launch.grid)
    spilled = f"{made.local_bytes} bytes a thread SPILLED to memory" if made.local_bytes else "nothing spilled"
    yield f"{grid} programs of {_counted(made.warps, 'warp')}; {made.registers} registers a thread, {spilled};"
    yield f"{made.shared_bytes} bytes of shared memory a program."
    warps, most = part.resident * made.warps, chip.threads // _WARP_SIZE
    yield f"A multiprocessor holds {_counted(part.resident, 'program')} at once ({warps} of {most} warps),"
    yield f"limited by {' and '.join(part.limits)}."
    yield from _moved("Reads", part.traffic.read, launch, buffers)
    yield from _moved("Writes", part.traffic.written, launch, buffers)
    if part.traffic.cached:
        yield f"{_size(part.traffic.cached)} more come from the cache."
    yield f"By the model {_microseconds(part.total)}: moving the bytes alone takes {_microseconds(part.memory)},"
    yield f"instructions and waiting alone {_microseconds(part.waiting)}; so it is bound by {_BOUND[part.bound]}."


_BOUND = {
    "memory": "the bandwidth of memory",
    "programs": "what its programs do (latency, instructions, barriers), not by bandwidth",
}


def _microseconds(time_us: float) -> str:
    """Returns a time as people write it."""
    return f"{time_us:.0f} us" if time_us >= 100 else f"{time_us:.3g} us"


def _moved(verb: str, moved: Mapping[int, float], launch: CompiledLaunch, buffers: Mapping[int, int]) -> Iterator[str]:
    """Yields one sentence on the tensors that are read or written, each with how often that is its own size."""
    parts = [_tensor(base, size, launch, buffers) for base, size in sorted(moved.items())]
    if parts:
        yield f"{verb} {', '.join(parts)}."


def _tensor(base: int, moved: float, launch: CompiledLaunch, buffers: Mapping[int, int]) -> str:
    name, whole = launch.tensors.get(base, "at addresses that depend on data"), buffers.get(base, 0)
    times = moved / whole if whole else 1.0
    often = f", {times:.2g} times its size" if times > 1.05 else ""
    return f"{name} ({_size(moved)}{often})"


def _size(size: float) -> str:
    if size >= 1000 * _MB:
        return f"{size / _MB / 1000:.4g} GB"
    return f"{size / _MB:.4g} MB" if size >= _MB / 100 else f"{size:.0f} bytes"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
