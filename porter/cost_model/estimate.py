"""Estimates the cost of a launch from one program, in about microseconds: the slowest of the concurrent parts decides.

A multiprocessor holds as many programs as its registers, shared memory and threads allow. They take as long as one warp
takes alone, or as their instructions take its four schedulers, or as their accesses take its path to the cache; there
are as many rounds of them as programs fill. Meanwhile sectors come from device memory or its cache. Repeated reads of a
program come from the cache if it holds all that the resident programs touch in between. The constants were fitted to an
H200; docs/design/evolve.md says how they were measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from porter.backend import Chip
from porter.cost_model.program import SECTOR_BYTES, Access, AccessKind, Program

_SCHEDULERS, _SHARED_RESERVED = 4, 1024
_CACHE_TO_MEMORY = 5 / 3  # how many times as many bytes the cache moves as device memory
_CACHE_USED = 2 / 3  # of the cache, what other data leave
_LINE_CYCLES = 1.0  # a line of 128 bytes a cycle goes through a multiprocessor's first cache
_LAUNCH_US = 2.0
_OVERLAP = 3  # of what goes on at once the slower one decides, and the other one shows; 3 of 2 to 8 fits an H200 best
_REGISTERS_KNOWN = 32  # where the compiler does not say


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a launch moves: `read` from device memory and `written` to it, by the first address of each tensor.

    The address is -1 where it depends on data. `cached` bytes come from the caches, again or for several programs.
    """

    read: Mapping[int, float]
    written: Mapping[int, float]
    cached: float

    @property
    def moved(self) -> float:
        """Bytes from and to device memory."""
        return sum(self.read.values()) + sum(self.written.values())


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of one launch, in about microseconds: `total`, and what each part would cost alone.

    `resident` is how many programs a multiprocessor holds at once, and `limits` names all that allows no more.
    """

    total: float
    waiting: float
    memory: float
    resident: int
    limits: tuple[str, ...]
    traffic: Traffic

    @property
    def bound(self) -> str:
        """Returns what decides."""
        return "memory" if self.memory >= self.waiting else "programs"


def estimate(program: Program, grid: Sequence[int], buffers: Mapping[int, int], chip: Chip) -> Estimate:
    """Returns the cost of a launch of `grid` programs that are all alike; `buffers` are bytes by first address."""
    programs = prod(grid)
    limits = _limits(program, chip)
    limits["the size of the grid"] = ceil(programs / chip.multiprocessors)
    resident = max(1, min(limits.values()))
    accesses = program.accesses
    lines = sum(access.lines for access in accesses)
    together = max(
        program.cycles,
        resident * program.warps * program.slots / _SCHEDULERS,
        resident * lines * _LINE_CYCLES,
        resident * program.warps * program.shared_cycles,
    )
    rounds = max(1.0, programs / (resident * chip.multiprocessors))
    waiting = rounds * together / chip.clock_mhz
    traffic = _traffic(accesses, programs, resident, buffers, chip)
    atomic = sum(a.sectors * SECTOR_BYTES for a in accesses if a.kind is AccessKind.ATOMIC)
    memory = _memory(accesses, programs, atomic, traffic, chip)
    both = (waiting**_OVERLAP + memory**_OVERLAP) ** (1 / _OVERLAP)
    limiting = tuple(name for name, count in limits.items() if count <= resident)
    return Estimate(both + _LAUNCH_US, waiting, memory, resident, limiting, traffic)


def _limits(program: Program, chip: Chip) -> dict[str, int]:
    """Returns the number of programs that a multiprocessor holds at once by each of its resources."""
    registers = max(program.registers or _REGISTERS_KNOWN, 16)
    return {
        "registers": chip.registers // (program.threads * ceil(registers / 8) * 8),
        "shared memory": chip.shared_bytes // (program.shared_bytes + _SHARED_RESERVED),
        "threads": chip.threads // program.threads,
        "the number of programs": chip.blocks,
    }


def _traffic(
    accesses: Sequence[Access], programs: int, resident: int, buffers: Mapping[int, int], chip: Chip
) -> Traffic:
    """Returns the traffic of all programs.

    Data that several of them touch comes from device memory once, and then from a cache. Data that one touches again
    also comes from there, if the cache holds all that the resident ones touch in between.
    """
    own = sum((access.sectors - access.near) * SECTOR_BYTES for access in accesses)
    fits = own * min(programs, resident * chip.multiprocessors) <= chip.cache_bytes * _CACHE_USED
    read, written = (
        _far([access for access in accesses if access.kind.writes is writes], programs, buffers, fits=fits or writes)
        for writes in (False, True)
    )
    far = sum(read.values()) + sum(written.values())
    return Traffic(read, written, max(0.0, programs * own - far))


def _far(accesses: Iterable[Access], programs: int, buffers: Mapping[int, int], *, fits: bool) -> dict[int, float]:
    """Returns the bytes to or from device memory by tensor.

    A single instruction reaches no part of a tensor twice that way; several do, as in a second pass over a row, unless
    all that was touched `fits` the cache.
    """
    reached: dict[int, float] = {}
    again: dict[int, float] = {}
    for access in accesses:
        buffer, fresh = _buffer(access, buffers), programs * access.fresh * SECTOR_BYTES
        reached[buffer] = reached.get(buffer, 0.0) + min(fresh, buffers.get(buffer, fresh))
        again[buffer] = again.get(buffer, 0.0) + programs * (access.sectors - access.fresh - access.near) * SECTOR_BYTES
    once = {buffer: min(size, buffers.get(buffer, size)) for buffer, size in reached.items()}
    found = once if fits else {buffer: size + again[buffer] for buffer, size in reached.items()}
    return {buffer: size for buffer, size in found.items() if size}


def _memory(accesses: Iterable[Access], programs: int, atomic: float, traffic: Traffic, chip: Chip) -> float:
    """Returns what moving all bytes takes, in microseconds: from device memory, and through the caches."""
    through = programs * sum((access.sectors - access.near) * SECTOR_BYTES for access in accesses) + programs * atomic
    return max(traffic.moved, through / _CACHE_TO_MEMORY) / chip.copy_bytes_per_us


def _buffer(access: Access, buffers: Mapping[int, int]) -> int:
    """Returns the tensor that is accessed, by its first address; -1 where that depends on data."""
    if access.first is None:
        return -1
    return max((base for base in buffers if base <= access.first), default=-1)
