"""The order of accesses by different threads: a call whose result depends on one that nothing makes is not lifted.

Order is what barriers, warp operations and fenced atomics make of it. All lanes take turns at each operation, so time
is one number for all of them, which every synchronisation advances. An access is ordered after an earlier one of
another thread where
  - a barrier of their block, or an operation of their warp in which both took part, lies between, or
  - the earlier one's block told of it by a fence and an atomic, and the later one's block met that atomic.
Atomics of one kind commute, and do not conflict; nor does a store that leaves an element as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.ir.simt.interpret.domain import Data, Mask
from porter.ir.simt.interpret.exchange import WARP_SIZE
from porter.ir.simt.interpret.machine import Geometry
from porter.lift.nodes import Nodes, NotLiftedError

Numbers = NDArray[np.int64]
_NOBODY, _SEVERAL = -1, -2
_BLOCK, _WARP, _THREAD = range(3)
_COMMUTE = {"sub": "add"}
_KINDS = ("", "add", "min", "max", "and", "or", "xor", "exchange", "swap", "inc", "dec")


@dataclass
class Accesses:
    """The last accesses of each element: when, and of which block, warp and thread, or of several of these."""

    count: int
    who: Numbers = field(init=False)  # a column for each element
    at: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.who = np.full((3, self.count), _NOBODY, np.int64)
        self.at = np.zeros(self.count, np.int64)

    def put(self, places: Nodes, who: Numbers, now: int) -> None:
        """Notes accesses of now, of which several may be of one element, in the place of what is known of it."""
        self.who[:, places] = who
        differs = (self.who[:, places] != who).any(axis=0)
        if differs.any():
            self._join(places[differs], who[:, differs])
        self.at[places] = now

    def add(self, places: Nodes, who: Numbers, replaced: Mask, now: int) -> None:
        """Notes accesses of now, beside those that are known where they are not `replaced`."""
        known = self.who[:, places].copy()
        self.put(places, who, now)
        kept = ~replaced
        self._join(places[kept], known[:, kept])

    def _join(self, places: Nodes, who: Numbers) -> None:
        for scope in range(3):
            apart = self.who[scope, places] != who[scope]
            self.who[scope, places[apart]] = _SEVERAL


@dataclass(eq=False)
class Shadow:
    """The last accesses to each element of a buffer; `kinds` are of the atomics that wrote last, 0 for a store."""

    count: int
    written: Accesses = field(init=False)
    read: Accesses = field(init=False)
    kinds: NDArray[np.int8] = field(init=False)

    def __post_init__(self) -> None:
        self.written, self.read = Accesses(self.count), Accesses(self.count)
        self.kinds = np.zeros(self.count, np.int8)


class Order:
    """The order of all accesses of a call."""

    def __init__(self) -> None:
        self._now = self._begin = 1

    def launch(self, geometry: Geometry, *, backwards: bool = False) -> None:
        """A launch begins: all before is ordered. In it the last threads take their turns first, where `backwards`."""
        self._turn = -1 if backwards else 1
        self._now += 1
        self._begin = self._now
        self._threads = prod(geometry.block)
        self._warps = -(-self._threads // WARP_SIZE)
        self._fenced: dict[int, int] = {}  # by thread: up to when other blocks may know what it did
        self._fenced_blocks: dict[int, int] = {}
        self._met: dict[int, set[int]] = {}  # by block: those that it knows of
        self._told: dict[tuple[Shadow, int], set[int]] = {}  # by element: those that its fenced atomics tell of

    def run(self, first: int, count: int) -> None:
        """The next `count` blocks of it run together."""
        every = np.arange(count * self._threads)
        block, thread = every // self._threads, every % self._threads
        lane = first * self._threads + every
        self._lanes = np.stack([block + first, (block + first) * self._warps + thread // WARP_SIZE, lane])
        self._in_warp = thread % WARP_SIZE
        self._of_block, self._of_warp = block, block * self._warps + thread // WARP_SIZE
        self._block_floor = np.full(count, self._begin, np.int64)
        self._warp_floor = np.full(count * self._warps, self._begin, np.int64)
        self._knows: Numbers | None = None  # of each lane, up to when it knows each lane of its warp
        self._present = np.bincount(self._of_warp, minlength=count * self._warps)

    def barrier(self, mask: Mask) -> None:
        """Blocks meet at a barrier."""
        self._now += 1
        self._block_floor[self._of_block[mask]] = self._now

    def meet(self, mask: Mask, named: Data) -> None:
        """The lanes of `mask` meet those of their warp that they name by bits."""
        self._now += 1
        bits = np.broadcast_to(np.asarray(named).astype(np.int64), mask.shape)
        whole = np.bincount(self._of_warp[mask], minlength=len(self._present)) == self._present
        whole &= np.bincount(self._of_warp[self._leaves_out(bits)], minlength=len(self._present)) == 0
        self._warp_floor[whole] = self._now
        partly = mask & ~whole[self._of_warp]
        for warp in np.unique(self._of_warp[partly]).tolist():
            lanes = np.flatnonzero(partly & (self._of_warp == warp))
            for group in np.unique(bits[lanes]).tolist():
                self._join(lanes[bits[lanes] == group])

    def _leaves_out(self, bits: Numbers) -> Mask:
        """Returns which lanes do not name every lane of their warp that is there."""
        count = self._present[self._of_warp]
        there = np.where(count >= WARP_SIZE, 0xFFFFFFFF, (np.int64(1) << count) - 1)
        leaves_out: Mask = np.not_equal(~bits & there, 0)
        return leaves_out

    def _join(self, lanes: Nodes) -> None:
        if self._knows is None:
            self._knows = np.full((len(self._of_warp), WARP_SIZE), self._begin, np.int64)
        self._knows[lanes] = self._knows[lanes].max(axis=0)
        self._knows[np.ix_(lanes, self._in_warp[lanes])] = self._now

    def fence(self, mask: Mask) -> None:
        """Makes what the lanes of `mask` did, and what a barrier put before it, known to those whom they tell."""
        self._now += 1
        for block, thread in self._lanes[[_BLOCK, _THREAD]][:, mask].T.tolist():
            self._fenced[thread] = self._now
            self._fenced_blocks[block] = int(self._block_floor[block - int(self._lanes[_BLOCK, 0])])

    def read(self, shadow: Shadow, places: Nodes, lanes: Nodes) -> None:
        """Lanes read an element each. Raises `NotLiftedError` where nothing orders that after a write."""
        who = self._lanes[:, lanes]
        if not self._ordered(shadow.written, places, lanes).all():
            raise NotLiftedError("a thread reads what another one writes, and nothing orders the two")
        shadow.read.add(places, who, self._ordered(shadow.read, places, lanes), self._now)

    def read_any(self, shadow: Shadow) -> None:
        """Lanes read elements that data choose."""
        if (shadow.written.at >= self._begin).any():
            raise NotLiftedError("a value of the data decides which element it reads of what the launch writes")
        shadow.read.who[:] = _SEVERAL
        shadow.read.at[:] = self._now

    def write(self, shadow: Shadow, places: Nodes, lanes: Nodes, changed: Mask) -> None:
        """Lanes write an element each, of which some are `changed` by it."""
        for accesses in (shadow.written, shadow.read):
            if (changed & ~self._ordered(accesses, places, lanes)).any():
                does = "writes" if accesses is shadow.written else "reads"
                raise NotLiftedError(f"a thread writes what another one {does}, and nothing orders the two")
        shadow.written.put(places, self._lanes[:, lanes], self._now)
        shadow.kinds[places] = 0

    def update(self, shadow: Shadow, places: Nodes, lanes: Nodes, kind: str) -> Mask:
        """Lanes update an element each by atomics; returns those that nothing orders after or before others."""
        number = _KINDS.index(_COMMUTE.get(kind, kind))
        alike = shadow.kinds[places] == number
        written = self._ordered(shadow.written, places, lanes)
        if not (written | alike).all() or not self._ordered(shadow.read, places, lanes).all():
            raise NotLiftedError("an atomic changes what another thread reads or writes, and nothing orders the two")
        shadow.written.add(places, self._lanes[:, lanes], written, self._now)
        shadow.kinds[places] = number
        if self._fenced:
            self._tell(shadow, places, lanes)
        contested = ~written
        for several in of_several(places):
            contested[several] = True
        return contested

    def _tell(self, shadow: Shadow, places: Nodes, lanes: Nodes) -> None:
        pairs = self._lanes[[_BLOCK, _THREAD]][:, lanes].T.tolist()
        for place, (block, thread) in list(zip(places.tolist(), pairs, strict=True))[:: self._turn]:
            met = self._met.setdefault(block, {block})
            told = self._told.setdefault((shadow, place), set())
            met |= told
            if thread in self._fenced:
                told |= met

    def _ordered(self, earlier: Accesses, places: Nodes, lanes: Nodes) -> Mask:
        """Returns where the accesses that are known of elements are ordered before one of the lanes now."""
        at, who, own = earlier.at[places], earlier.who[:, places], self._lanes[:, lanes]
        ordered: Mask = (at < self._begin) | (who[_THREAD] == own[_THREAD])
        ordered |= (who[_BLOCK] == own[_BLOCK]) & (at < self._block_floor[self._of_block[lanes]])
        same_warp = who[_WARP] == own[_WARP]
        ordered |= same_warp & (at < self._warp_floor[self._of_warp[lanes]])
        if self._knows is not None:
            known = self._knows[lanes]
            one = known[np.arange(len(at)), who[_THREAD] % self._threads % WARP_SIZE]
            ordered |= same_warp & (at < np.where(who[_THREAD] >= 0, one, known.min(axis=1)))
        if self._met:
            for number in np.flatnonzero(~ordered).tolist():
                ordered[number] = self._is_told(int(own[_BLOCK, number]), who[:, number].tolist(), int(at[number]))
        return ordered

    def _is_told(self, block: int, who: list[int], at: int) -> bool:
        if who[_BLOCK] == block or who[_BLOCK] not in self._met.get(block, ()):
            return False
        return at < max(self._fenced_blocks.get(who[_BLOCK], 0), self._fenced.get(who[_THREAD], 0))


def of_several(places: Nodes) -> Iterator[Nodes]:
    """Yields, for each element that several lanes name, these lanes."""
    order = np.argsort(places, kind="stable")
    _, begins, counts = np.unique(places[order], return_index=True, return_counts=True)
    for begin, count in zip(begins[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True):
        yield order[begin : begin + count]
