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


def vote(mode: str, value: Data, named: Data, mask: Mask, threads: int) -> Data:
    """Returns what the lanes of `mask` say together that each lane names, by bits, of its warp."""
    yes, present = (_bits(lanes, threads) for lanes in (mask & value, mask))
    asked = np.broadcast_to(named, mask.shape).astype(np.uint32) & present
    said: Data = yes & asked
    told: Data = {"all": np.equal(said, asked), "any": np.not_equal(said, 0)}.get(mode, said)
    return told


def match(value: Data, named: Data, mask: Mask, threads: int) -> Data:
    """Returns which lanes of `mask` that each lane names have its value, by bits, of its warp."""
    held = _warps(np.broadcast_to(value, mask.shape), threads)
    same = (held[..., :, None] == held[..., None, :]) & _warps(mask, threads)[..., None, :]
    told = _by_bits(same).reshape(held.shape[0], -1)[:, :threads].ravel()
    found: Data = told & np.broadcast_to(named, mask.shape).astype(np.uint32)
    return found


def _bits(lanes: Mask, threads: int) -> Data:
    """Returns, for each lane, which ones of its warp are among `lanes`."""
    told = _by_bits(_warps(lanes, threads))
    return np.repeat(told, WARP_SIZE, axis=1)[:, :threads].ravel()


def _warps(values: Data, threads: int) -> Data:
    """Returns values by block, warp and lane, with zeros for lanes that a block has no thread for."""
    blocks, warps = values.size // threads, -(-threads // WARP_SIZE)
    padded = np.zeros((blocks, warps * WARP_SIZE), values.dtype)
    padded[:, :threads] = values.reshape(blocks, threads)
    return padded.reshape(blocks, warps, WARP_SIZE)


def _by_bits(lanes: Data) -> Data:
    """Returns the lanes along the last axis as bits."""
    bits = np.uint32(1) << np.arange(WARP_SIZE, dtype=np.uint32)
    told: Data = (lanes * bits).sum(axis=-1).astype(np.uint32)
    return told
