"""Shuffles and votes among the lanes of a warp. Lanes lie one behind the other, block by block."""

from __future__ import annotations

import numpy as np

from porter.ir.simt.interpret.domain import Data, Mask

WARP_SIZE = 32


def sources(mode: str, operand: Data, width: int, threads: int, lanes: int) -> tuple[Data, Mask]:
    """Returns the lane from which each takes a value, and whether there is such a thread, in blocks of `threads`.

    One that would take it from outside of its `width` lanes takes its own.
    """
    every = np.arange(lanes)
    thread = every % threads
    lane = thread % WARP_SIZE
    given = np.broadcast_to(operand, (lanes,)).astype(np.int64)
    first = lane - lane % width
    match mode:
        case "index":
            wanted = first + given % width
        case "up":
            wanted = np.where(lane - given < first, lane, lane - given)
        case "down":
            wanted = np.where(lane + given >= first + width, lane, lane + given)
        case _:
            wanted = np.where((lane ^ given) >= first + width, lane, lane ^ given)
    source = thread - lane + wanted
    exists = (source >= 0) & (source < threads)
    return np.where(exists, every - thread + source, every), exists


def vote(mode: str, value: Data, mask: Mask, threads: int) -> Data:
    """Returns what the lanes of `mask` of each warp say together, for each lane."""
    blocks = mask.size // threads
    warps = -(-threads // WARP_SIZE)

    def by_warp(data: Data, missing: bool) -> Data:
        padded = np.full((blocks, warps * WARP_SIZE), missing)
        padded[:, :threads] = data.reshape(blocks, threads)
        return padded.reshape(blocks, warps, WARP_SIZE)

    says = np.broadcast_to(value, mask.shape)
    match mode:
        case "all":
            told = by_warp(says | ~mask, True).all(axis=2)
        case "any":
            told = by_warp(says & mask, False).any(axis=2)
        case _:
            bits = np.uint32(1) << np.arange(WARP_SIZE, dtype=np.uint32)
            told = (by_warp(says & mask, False) * bits).sum(axis=2).astype(np.uint32)
    return np.repeat(told, WARP_SIZE, axis=1)[:, :threads].ravel()
