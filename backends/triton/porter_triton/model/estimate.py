"""From what one program does to the cost of a launch, in about microseconds: the slowest of what goes on at once.

A multiprocessor holds as many programs as its registers, shared memory and threads allow. They take as long as one
warp takes alone, or as their instructions take its four schedulers, or as their accesses take its path to the cache;
there are as many rounds of them as programs fill. Meanwhile sectors come from device memory or its cache. Reads of what
the same program has read before come from the cache if what all resident programs touch in between fits it. The
constants are those of an H200; what was measured against them stands in docs/design/evolve.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from porter.backend import Target
from porter_triton.compiled_plan import Compiled
from porter_triton.model.memory import SECTOR_BYTES, Access
from porter_triton.model.walk import Counts

_MULTIPROCESSORS, _CLOCK_MHZ, _SCHEDULERS = 132, 1980.0, 4
_RESIDENT_THREADS, _RESIDENT_PROGRAMS, _SHARED_RESERVED = 2048, 32, 1024
_MEMORY_BYTES_PER_US = 4.2e6  # reads and writes of a copy, measured
_CACHE_BYTES_PER_US = 7.0e6
_CACHE_BYTES = 40 << 20  # of 50 MB, what other data leave
_LINE_CYCLES = 1.0  # a line of 128 bytes a cycle goes through a multiprocessor's first cache
_LAUNCH_US = 2.0
_OVERLAP = 3  # of what goes on at once the slower one decides, and the other one shows; 3 of 2 to 8 fits an H200 best
_WARP_SIZE = 32
_REGISTERS_KNOWN = 32  # where the compiler does not say


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of one launch, in about microseconds: `total`, and what would be the cost of each part alone."""

    total: float
    waiting: float
    memory: float
    resident: int

    @property
    def bound(self) -> str:
        """Returns what decides."""
        return "memory" if self.memory >= self.waiting else "programs"


def estimate(
    counts: Counts, compiled: Compiled, grid: Sequence[int], buffers: Mapping[int, int], target: Target
) -> Estimate:
    """The cost of a launch of `grid` programs that each do as `counts` says; `buffers` are bytes by first address."""
    programs = prod(grid)
    resident = min(_resident(compiled, target), ceil(programs / _MULTIPROCESSORS))
    accesses = list(counts.accesses.by_place.values())
    lines = sum(access.lines for access in accesses)
    together = max(
        counts.cycles,
        resident * compiled.warps * counts.slots / _SCHEDULERS,
        resident * lines * _LINE_CYCLES,
        resident * compiled.warps * counts.shared,
    )
    rounds = max(1.0, programs / (resident * _MULTIPROCESSORS))
    waiting = rounds * together / _CLOCK_MHZ
    memory = _memory(accesses, programs, resident, buffers)
    both = (waiting**_OVERLAP + memory**_OVERLAP) ** (1 / _OVERLAP)
    return Estimate(both + _LAUNCH_US, waiting, memory, resident)


def _resident(compiled: Compiled, target: Target) -> int:
    """Programs that a multiprocessor holds at once."""
    threads = compiled.warps * _WARP_SIZE
    registers = max(compiled.registers or _REGISTERS_KNOWN, 16)
    by_registers = target.registers // (threads * ceil(registers / 8) * 8)
    by_shared = target.shared_bytes // (compiled.shared_bytes + _SHARED_RESERVED)
    return max(1, min(by_registers, by_shared, _RESIDENT_THREADS // threads, _RESIDENT_PROGRAMS))


def _memory(accesses: Iterable[Access], programs: int, resident: int, buffers: Mapping[int, int]) -> float:
    """Returns what all programs' sectors take, from device memory and from the caches."""
    fresh: dict[int, float] = {}
    again, atomic = 0.0, 0.0
    for access in accesses:
        buffer = _buffer(access, buffers)
        fresh[buffer] = fresh.get(buffer, 0.0) + access.fresh * SECTOR_BYTES
        again += (access.sectors - access.fresh - access.near) * SECTOR_BYTES
        atomic += access.sectors * SECTOR_BYTES if access.op.startswith(("atom", "red")) else 0.0
    own = sum(fresh.values())
    fits = own * min(programs, resident * _MULTIPROCESSORS) <= _CACHE_BYTES
    # However many programs share what they touch, it comes from device memory once.
    once = sum(min(programs * moved, buffers.get(buffer, programs * moved)) for buffer, moved in fresh.items())
    far = once + (0.0 if fits else again * programs)
    through = programs * (own + atomic + again)
    return max(far / _MEMORY_BYTES_PER_US, through / _CACHE_BYTES_PER_US)


def _buffer(access: Access, buffers: Mapping[int, int]) -> int:
    """The tensor that is accessed, by its first address; -1 where that depends on data."""
    if access.first is None:
        return -1
    return max((base for base in buffers if base <= access.first), default=-1)
