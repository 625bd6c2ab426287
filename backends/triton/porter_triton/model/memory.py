"""Counts what one program's accesses move: sectors of 32 bytes that its warps ask for, by the instruction that asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from porter.cost_model.program import SECTOR_BYTES, Access, AccessKind
from porter_triton.model.lanes import WARP_SIZE, Value
from porter_triton.model.ptx import Instruction

_BANKS, _BANK_BYTES = 32, 4
_NEAR_SECTORS = 1024  # 32 KB of a cache of 256 that several programs share
_SECTORS_OF_LINE, _WARP_BITS = 4, 6
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
_BITS = re.compile(r"\d+$")
_USUAL_BYTES = 4


@dataclass(slots=True)
class Accesses:
    """By the place of the instruction."""

    by_place: dict[int, Access] = field(default_factory=dict)
    touched: dict[int, int] = field(default_factory=dict)
    passed: int = 0

    def add(self, place: int, one: Instruction, address: Value, condition: Value, threads: int) -> None:
        """Counts one execution by all threads for which `condition` holds; all of them where it is not known."""
        width = _width(one)
        active = np.ones(threads, bool) if condition is None else np.broadcast_to(condition, (threads,))
        if address is None:
            first, lanes = None, float(active.sum())
            # Nobody knows where: each thread has a place of its own.
            sectors = fresh = lanes * max(1, width // SECTOR_BYTES)
            near, lines = 0.0, lanes
        else:
            addresses = np.broadcast_to(address, (threads,))
            first = int(addresses[active].min()) if active.any() else None
            sectors, fresh, near, lines = self._counted(addresses, active, width)
        known = self.by_place.get(place, Access(_kind(one), first))
        self.by_place[place] = replace(
            known,
            first=first if known.first is None else known.first,
            sectors=known.sectors + sectors,
            fresh=known.fresh + fresh,
            near=known.near + near,
            lines=known.lines + lines,
        )

    def copy(self) -> dict[int, Access]:
        """Returns what there is now."""
        return dict(self.by_place)

    def repeat(self, count: int, before: dict[int, Access]) -> None:
        """Adds what was added since `before` another `count` times."""
        for place, now in self.by_place.items():
            self.passed += count * int(now.sectors - now.near)
            then = before.get(place, Access(now.kind, now.first))
            self.by_place[place] = replace(
                now,
                sectors=now.sectors + count * (now.sectors - then.sectors),
                fresh=now.fresh + count * (now.fresh - then.fresh),
                near=now.near + count * (now.near - then.near),
                lines=now.lines + count * (now.lines - then.lines),
            )

    def _counted(
        self, addresses: NDArray[np.int64], active: NDArray[np.bool_], width: int
    ) -> tuple[float, float, float, float]:
        """Sectors that warps ask for, those of them that are fresh and near, and lines."""
        warp = np.arange(addresses.size) // WARP_SIZE
        first, last = addresses // SECTOR_BYTES, (addresses + width - 1) // SECTOR_BYTES
        touched = np.concatenate([first[active], last[active]])
        warps = np.concatenate([warp[active], warp[active]])
        # A sector's number leaves enough bits for that of a warp.
        sectors = np.unique((touched << _WARP_BITS) | warps)
        lines = np.unique((sectors >> _WARP_BITS) // _SECTORS_OF_LINE << _WARP_BITS | sectors & ((1 << _WARP_BITS) - 1))
        fresh, near = self._touch((sectors >> _WARP_BITS).tolist())
        return float(sectors.size), fresh, near, float(lines.size)

    def _touch(self, sectors: Sequence[int]) -> tuple[float, float]:
        """Returns how many sectors are new, and how many were touched recently enough to be in the nearest cache."""
        fresh, near = 0, 0
        for sector in sectors:
            before = self.touched.get(sector)
            fresh += before is None
            is_near = before is not None and self.passed - before <= _NEAR_SECTORS
            near += is_near
            self.passed += not is_near
            self.touched[sector] = self.passed
        return float(fresh), float(near)


def bank_cycles(address: Value, condition: Value, one: Instruction, threads: int) -> float:
    """Cycles that a warp's access of shared memory takes, on average: different words of a bank come one by one."""
    words = max(1, _width(one) // _BANK_BYTES)
    if address is None:
        return float(words)
    active = np.ones(threads, bool) if condition is None else np.broadcast_to(condition, (threads,))
    first = np.broadcast_to(address, (threads,))[active] // _BANK_BYTES
    warp = (np.arange(threads) // WARP_SIZE)[active]
    touched = np.unique((first[:, None] + np.arange(words) << _WARP_BITS) | warp[:, None])
    by_bank = np.zeros((threads // WARP_SIZE, _BANKS), np.int64)
    np.add.at(by_bank, (touched & ((1 << _WARP_BITS) - 1), (touched >> _WARP_BITS) % _BANKS), 1)
    return float(by_bank.max(axis=1).mean())


def _kind(one: Instruction) -> AccessKind:
    name = one.op.split(".", 1)[0]
    if name in ("red", "atom"):
        return AccessKind.ATOMIC
    return AccessKind.STORE if name == "st" else AccessKind.LOAD


def _width(one: Instruction) -> int:
    """Returns the bytes of a thread."""
    if one.name == "cp":
        return int(one.operands[2], 0)
    vector = next((count for mark, count in _VECTORS.items() if mark in one.op), 1)
    bits = _BITS.search(one.type)
    return vector * (int(bits[0]) // 8 if bits else _USUAL_BYTES)
