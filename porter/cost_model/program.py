"""Describes what one block of a launch does, and what it holds of its multiprocessor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SECTOR_BYTES = 32


class AccessKind(StrEnum):
    """The kinds of accesses of memory."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"

    @property
    def writes(self) -> bool:
        """Returns whether such an access leaves something in memory."""
        return self is not AccessKind.LOAD


@dataclass(frozen=True, slots=True)
class Access:
    """All accesses of one instruction: `sectors` that warps asked for, `lines` they went through.

    Of the sectors some are `fresh`: the block had not touched them; others `near`: it had, and lately. `first` is an
    address in the tensor that is accessed, None where that depends on data.
    """

    kind: AccessKind
    first: int | None
    sectors: float = 0.0
    fresh: float = 0.0
    near: float = 0.0
    lines: float = 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """One block, which Triton calls a program.

    `slots` are issue slots of one warp, `cycles` are those until its end, `shared_cycles` those for which it has the
    path to shared memory, which shuffles take, too. `registers` of a thread are None where no compiler says how many
    there are; `local_bytes` of a thread lie in memory, since its registers do not hold them.
    """

    warps: int
    warp_size: int
    registers: int | None
    shared_bytes: int
    local_bytes: int
    slots: float
    cycles: float
    shared_cycles: float
    accesses: tuple[Access, ...]

    @property
    def threads(self) -> int:
        """The threads of the block."""
        return self.warps * self.warp_size
