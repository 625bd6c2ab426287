"""Records what a block of a launch asks of memory and waits for, at sizes at which nothing is executed whole."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class SampledKind(IntEnum):
    """The kinds of accesses, numbered as in runtime/record.h."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    SHARED_LOAD = 3
    SHARED_STORE = 4

    @property
    def is_shared(self) -> bool:
        """Returns whether it is one of shared memory."""
        return self >= SampledKind.SHARED_LOAD


@dataclass(frozen=True, slots=True)
class SampledPlace:
    """All accesses at one place in the code by the warps of a block, each of a thread `width_bytes` wide.

    They lie in the buffer `label`, which begins at `base` and has `buffer_bytes`. Warps ask `executions` times for
    `sectors` of 32 bytes, which lie in `lines` of 128. Some sectors are `fresh`: the block had not touched them. Others
    are `near`: it had, and lately. Of shared memory only the executions are counted.
    """

    kind: SampledKind
    width_bytes: int
    label: str
    base: int
    buffer_bytes: int
    executions: int
    sectors: int
    fresh: int
    near: int
    lines: int


@dataclass(frozen=True, slots=True)
class SampledBlock:
    """What one block does. Waits, and `first_warp_operations`, are those of its first warp.

    A warp waits for the loads that it has on their way when it comes to anything but another load.
    """

    barriers: int
    warp_operations: int
    first_warp_operations: int
    memory_waits: int
    shared_waits: int
    atomic_waits: int
    shared_bytes: int
    places: tuple[SampledPlace, ...]


@dataclass(frozen=True, slots=True)
class SampledLaunch:
    """A launch and its middle block."""

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    block: SampledBlock


@dataclass(frozen=True, slots=True)
class SampledCall:
    """The launches of a call, the bytes that each copy and fill of it moves, and those of the tensors it returns."""

    launches: tuple[SampledLaunch, ...]
    copied_bytes: tuple[int, ...]
    returned_bytes: int
