"""Finds what a kernel's memory accesses break: bounds, and orders that only the interpreter keeps.

Triton's interpreter executes a program statement by statement for all lanes, and one program after another. A device
promises neither: between barriers the lanes of a program are in no order, and programs never are. So each element of
global memory remembers who read and who wrote it last, as `epoch << _LANE_BITS | lane`: an epoch ends at each barrier.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porter.execution.job import FaultKind
from porter_triton.replay.program_order import ProgramOrder

_LANE_BITS = 29
# A tile's size is part of a lane's name: Triton may lay out tiles of different shapes differently over its threads.
_SIZE_SHIFT = 22
_ATOMIC = 1 << 28
_EVERY_LANE = _ATOMIC - 1
_FEW = 64
_SEVERAL = -2  # in place of a program, where several that run together accessed an element

Pointers = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Note = Callable[[FaultKind, str], None]
Held = Callable[[Mask], NDArray[np.generic]]  # the values in memory at the places of a store, read by some of its lanes


@dataclass(slots=True)
class Region:
    """An allocation: bytes `[start, end)` in elements of `item` bytes, called `name`.

    The last accesses are those to each `cell` bytes.
    """

    name: str
    start: int
    end: int
    item: int
    cell: int
    reads: NDArray[np.int64]
    writes: NDArray[np.int64]
    moments: NDArray[np.int64]  # of `ProgramOrder`, at which each element was written
    outcomes: bool = False  # of atomic operations are in it, which programs or lanes hand on

    @classmethod
    def of(cls, name: str, start: int, end: int, item: int) -> Region:
        """Returns a region that nobody has touched."""
        count = -(-(end - start) // item)
        reads, writes, moments = (np.zeros(count, np.int64) for _ in range(3))
        return cls(name, start, end, item, item, reads, writes, moments)

    def split(self, size: int) -> None:
        """Follows parts of `size` bytes from now on, which different lanes may access."""
        parts = self.cell // size
        self.reads, self.writes, self.moments = (np.repeat(a, parts) for a in (self.reads, self.writes, self.moments))
        self.cell = size

    def content(self) -> bytes:
        """Returns the bytes that lie in it."""
        return ctypes.string_at(self.start, self.end - self.start)

    def put_back(self, content: bytes) -> None:
        """Makes it what it was before anybody touched it."""
        ctypes.memmove(self.start, content, len(content))
        for accesses in (self.reads, self.writes, self.moments):
            accesses.fill(0)
        self.outcomes = False


@dataclass(frozen=True, slots=True)
class _Reach:
    """An access: the lanes that may do it, their addresses, and the region of all of these, if it is one.

    `size` is that of an element in bytes, `lanes` is of how many lanes of each program the access is.
    """

    allowed: Mask
    addresses: NDArray[np.int64]
    region: Region | None
    size: int
    lanes: int


_Cells = tuple[Region, NDArray[np.int64], NDArray[np.int64]]  # a region, elements of it, the lane that touches each


class Watch:
    """Follows the accesses of one launch after the other; `note` is told of each fault."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._regions: tuple[Region, ...] = ()
        self._last_epoch = 0
        self._running = self._epochs = np.zeros(1, np.int64)  # the programs that run together, and the epoch of each
        self._launch_begin = 0  # an epoch of no program: `_SEVERAL`
        self._programs = np.zeros(_FEW, np.int64)  # of this launch, the one of each epoch since its begin
        self._order = ProgramOrder()
        self._begun = 0

    def begin_launch(self, regions: Iterable[Region]) -> None:
        """Begins a kernel that may only touch `regions`."""
        self._regions = tuple(sorted(regions, key=lambda region: region.start))
        self._order = ProgramOrder()
        self._begun = 0
        self._last_epoch += 1
        self._launch_begin = self._last_epoch
        self._programs[0] = _SEVERAL

    def begin_program(self) -> None:
        """Begins the next program of the grid."""
        self._order.begin_program(self._begun)
        self._running = np.array([self._begun])
        self._begun += 1
        self.barrier()

    def begin_programs(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Begins the next programs of the grid, which run together; returns them and the epoch of each."""
        self._running = np.arange(self._begun, self._begun + count)
        self._begun += count
        self.barrier()
        return self._running, self._epochs

    def go_on(self, running: NDArray[np.int64], epochs: NDArray[np.int64]) -> None:
        """Lets programs go on that have begun together, in the order in which they began."""
        self._running, self._epochs = running, epochs

    @property
    def epochs(self) -> NDArray[np.int64]:
        """Returns the epoch that each of the programs is in which run together."""
        return self._epochs

    def leave(self) -> Callable[[], None]:
        """Notes that the running program waits; returns what has to be done when it goes on."""
        self._order.leave()
        program, running, epochs = self._order.program, self._running, self._epochs

        def resume() -> None:
            self._order.resume(program)
            self.go_on(running, epochs)

        return resume

    def barrier(self) -> None:
        """Notes that all lanes of each program have come this far."""
        count = len(self._running)
        first = self._last_epoch + 1 - self._launch_begin
        self._epochs = np.arange(self._last_epoch + 1, self._last_epoch + 1 + count)
        self._last_epoch += count
        while first + count > len(self._programs):
            self._programs = np.concatenate([self._programs, np.zeros_like(self._programs)])
        self._programs[first : first + count] = self._running

    def synchronise(self) -> None:
        """Notes that the program acts on the outcome of an atomic operation: it may know of others from here on."""
        self._order.listen()

    def load(self, pointers: Pointers, mask: Mask, size: int) -> Mask:
        """Returns a load of elements of `size` bytes, and the lanes that may do it.

        Of programs that run together each has a row of `pointers`, here and in the other accesses.
        """
        reach = self._reach("load", pointers, mask, size)
        for region, cells, who in self._cells(reach):
            # Every lane loads a scalar, one stores it.
            readers = who | _EVERY_LANE if reach.lanes == 1 else who
            for race in self._races(region, cells, region.writes[cells], readers, "reads what", "wrote"):
                self._note(FaultKind.RACE, race)
            last, read_by = region.reads[cells], who
            if _latest(last) >= self._epochs[0]:
                shared = (last >> _LANE_BITS == who >> _LANE_BITS) & (last != who)
                read_by = np.where(shared, who | _EVERY_LANE, who)
            self._keep(region.reads, cells, last, read_by)
        return reach.allowed

    def _keep(
        self, kept: NDArray[np.int64], cells: NDArray[np.int64], last: NDArray[np.int64], who: NDArray[np.int64]
    ) -> None:
        """Keeps who touched these elements, where `last` were the ones before them.

        One program after the other is seen by each that follows. Of programs that run together no one is the last.
        """
        kept[cells] = who
        if len(self._running) > 1:
            several = (kept[cells] ^ who) >> _LANE_BITS != 0
            earlier = last >> _LANE_BITS
            several |= (earlier >= self._launch_begin) & (
                self._program_of(earlier) != self._program_of(who >> _LANE_BITS)
            )
            kept[cells[several]] = self._launch_begin << _LANE_BITS | _EVERY_LANE

    def _program_of(self, epoch: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the program of each epoch of this launch; any for others."""
        found: NDArray[np.int64] = self._programs[np.maximum(epoch - self._launch_begin, 0)]
        return found

    def store(self, pointers: Pointers, values: NDArray[np.generic], mask: Mask, size: int, held: Held) -> Mask:
        """Returns a store of elements of `size` bytes, and the lanes that may do it. `held` gives what they overwrite.

        One that leaves every byte as it was changes no result, whichever of two accesses comes first.
        """
        reach = self._reach("store", pointers, mask, size)
        allowed, touched = reach.allowed, list(self._cells(reach))
        values = np.broadcast_to(values, pointers.shape)
        self._check_collisions(reach.addresses, values, allowed)
        if self._overwritten(touched):
            changed = allowed.copy()
            changed[allowed] = (_bytes(values[allowed]) != _bytes(held(allowed)[allowed])).any(axis=1)
            for race in self._overwritten(self._cells(self._reach("store", pointers, changed, size))):
                self._note(FaultKind.RACE, race)
        for region, cells, who in touched:
            self._keep(region.writes, cells, region.writes[cells], who)
            region.moments[cells] = self._order.moment
        return allowed

    def _overwritten(self, touched: Iterable[_Cells]) -> list[str]:
        """Returns the races of a store."""
        return [
            race
            for region, cells, who in touched
            for last, did in ((region.writes[cells], "wrote"), (region.reads[cells], "reads"))
            for race in self._races(region, cells, last, who, "overwrites what", did)
        ]

    def atomic(
        self, pointers: Pointers, mask: Mask, size: int, *, releases: bool = True, acquires: bool = True
    ) -> Mask:
        """Returns an atomic operation, and the lanes that may do it.

        One that `releases` tells those who come after it of what the program wrote, if theirs `acquires`.
        """
        reach = self._reach("atomic operation", pointers, mask, size)
        for region, cells, who in self._cells(reach):
            place = int(pointers.flat[0]) if pointers.size == 1 else -region.start
            if acquires:
                self._order.hear(place)
            for race in self._races(region, cells, region.writes[cells], who, "adds to what", "wrote", lanes=False):
                self._note(FaultKind.RACE, race)
            region.writes[cells] = who | _ATOMIC
            if releases:
                self._order.tell(place)
        return reach.allowed

    def holds_outcomes(self, pointers: Pointers) -> bool:
        """Returns whether what an atomic operation returned may lie where `pointers` point to."""
        return any(region.outcomes for region in self._around(pointers))

    def hold_outcomes(self, pointers: Pointers) -> None:
        """Notes that what an atomic operation returned is stored where `pointers` point to."""
        for region in self._around(pointers):
            region.outcomes = True

    def _around(self, pointers: Pointers) -> Iterator[Region]:
        if pointers.size:
            lowest, highest = int(pointers.min()), int(pointers.max())
            yield from (region for region in self._regions if region.start <= highest and lowest < region.end)

    def _reach(self, what: str, pointers: Pointers, mask: Mask, size: int) -> _Reach:
        """Returns what an access by the lanes of `mask` touches: the others lie outside of every region, or in two."""
        mask = np.asarray(mask, np.bool_)
        if mask.shape != pointers.shape:
            mask = np.broadcast_to(mask, pointers.shape)
        asked = _addresses(pointers, mask)
        region = self._only_region(asked, size)
        if region is not None or not asked.size:  # as mostly
            return _Reach(mask, asked, region, size, pointers.size // len(self._running))
        allowed = np.asarray(mask & self._inside(pointers, size), np.bool_)
        outside = mask & ~allowed
        if outside.any():
            self._note(FaultKind.OUT_OF_BOUNDS, self._describe(what, int(pointers[outside].flat[0]), size))
        return _Reach(allowed, _addresses(pointers, allowed), None, size, pointers.size // len(self._running))

    def _only_region(self, addresses: NDArray[np.int64], size: int) -> Region | None:
        """Returns the region that all accesses lie in; None where it is not one."""
        if not addresses.size:
            return None
        first, behind = int(addresses.min()), int(addresses.max()) + size
        return next((region for region in self._regions if region.start <= first and behind <= region.end), None)

    def _inside(self, pointers: Pointers, size: int) -> Mask:
        """Returns which accesses lie in one region each."""
        if not self._regions:
            return np.zeros(pointers.shape, np.bool_)
        starts = np.array([region.start for region in self._regions], np.uint64)
        ends = np.array([region.end for region in self._regions], np.uint64)
        at = np.searchsorted(starts, pointers, side="right") - 1
        room = ends[at.clip(0)] - np.uint64(size)
        return np.asarray((at >= 0) & (pointers <= room) & (ends[at.clip(0)] >= size))

    def _describe(self, what: str, address: int, size: int) -> str:
        """Returns `load of 4 bytes at element 37 of 'x', which has 32`: for the nearest region."""
        if not self._regions:
            return f"{what} of {size} bytes, but the kernel was given no tensor"
        nearest = min(self._regions, key=lambda r: r.start - address if address < r.start else address - r.end)
        index = (address - nearest.start) // nearest.item
        count = -(-(nearest.end - nearest.start) // nearest.item)
        return f"{what} at element {index} of '{nearest.name}', which has {count}"

    def _cells(self, reach: _Reach) -> Iterator[_Cells]:
        """Yields the elements touched, region by region, with the lane that touches each."""
        addresses = reach.addresses
        if not addresses.size:
            return
        lanes = reach.allowed.reshape(-1).nonzero()[0]
        epochs: NDArray[np.int64] | int = int(self._epochs[0])
        if len(self._running) > 1:
            program, lanes = np.divmod(lanes, reach.lanes)
            epochs = self._epochs[program]
        who = lanes | (reach.lanes.bit_length() << _SIZE_SHIFT | epochs << _LANE_BITS)
        parts = self._parts(addresses) if reach.region is None else ((reach.region, slice(None)),)
        for region, within in parts:
            if reach.size < region.cell:
                region.split(reach.size)
            first = (addresses[within] - region.start) // region.cell
            for offset in range(reach.size // region.cell):
                yield region, first + offset if offset else first, who[within]

    def _parts(self, addresses: NDArray[np.int64]) -> Iterator[tuple[Region, Mask]]:
        """Yields the regions that are touched, and which of the addresses lie in each."""
        for region in self._regions:
            within = (addresses >= region.start) & (addresses < region.end)
            if within.any():
                yield region, within

    def _races(  # noqa: PLR0917 - an access, the last one before it, and the words for both
        self,
        region: Region,
        cells: NDArray[np.int64],
        last: NDArray[np.int64],
        who: NDArray[np.int64],
        does: str,
        did: str,
        *,
        lanes: bool = True,
    ) -> Iterator[str]:
        """Races with the last access to each element, where nothing put it before this one."""
        if _latest(last) < self._launch_begin:
            return
        epoch, own = last >> _LANE_BITS, who >> _LANE_BITS
        if lanes and ((epoch == own) & (last & ~_ATOMIC != who)).any():
            yield f"a lane {does} another {did} in '{region.name}' without a barrier between"
        of_launch = (epoch >= self._launch_begin) & (last & _ATOMIC == 0)
        between = of_launch & (self._program_of(epoch) != self._program_of(own))
        if not between.any() or (self._order.is_told and did == "reads"):
            return
        if not self._order.is_told or not self._order.knows(region.moments[cells][between]):
            yield f"a program {does} another {did} in '{region.name}'"

    def _check_collisions(self, addresses: NDArray[np.int64], values: NDArray[np.generic], allowed: Mask) -> None:
        """Notes a store in which two lanes leave different values in one place."""
        if len(addresses) < 2 or bool((addresses[1:] > addresses[:-1]).all()):
            return
        order = np.argsort(addresses, kind="stable")
        addresses, raw = addresses[order], _bytes(values[allowed][order])
        same = addresses[1:] == addresses[:-1]
        if bool((same & (raw[1:] != raw[:-1]).any(axis=1)).any()):
            self._note(FaultKind.RACE, "two lanes store different values in one place")


def _addresses(pointers: Pointers, mask: Mask) -> NDArray[np.int64]:
    """Returns the addresses that the lanes of `mask` have."""
    return (pointers.reshape(-1) if mask.all() else pointers[mask]).view(np.int64)


def _latest(accesses: NDArray[np.int64]) -> int:
    """Returns the epoch of the last of these accesses."""
    return int(accesses.max(initial=0)) >> _LANE_BITS


def is_atomic(writes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns which of these accesses were atomic operations."""
    return np.asarray(writes & _ATOMIC != 0)


def _bytes(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Returns a row of bytes for each value."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
