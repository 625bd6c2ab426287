"""Finds answers that depend on memory that nobody wrote, by two runs that differ only in the bytes of fresh memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from porter.execution.job import FaultKind, Run, TensorValue

# As floats a NaN, and 0.01 (1e-18 in double, 1 in half): adding to either does not give the poison back. A large number
# would: what is added to it is lost, and an accumulator that was never cleared would pass for one never written.
POISONS = (0xFF, 0x3C)
# What lets garbage in. It does no harm where the kernel drops it again, as most do with the lanes they have too many.
GARBAGE = frozenset((FaultKind.UNINITIALISED, FaultKind.LANE_ABSENT, FaultKind.LANE_OUTSIDE_MASK))


def takes_garbage(run: Run) -> bool:
    """Returns whether `run` read memory that was never written."""
    return any(fault.kind in GARBAGE for fault in run.faults)


def computes_with_garbage(first: Run, second: Run) -> bool:
    """Returns whether the answers differ, except in elements that no thread writes; runs are ordered as `POISONS`."""
    pairs = zip((*first.outputs, *first.results), (*second.outputs, *second.results), strict=False)
    return any(not only_poison(_bytes(a), _bytes(b)) for a, b in pairs)


def left_unwritten(first: Run, second: Run) -> bool:
    """Returns whether some elements of outputs are what memory was filled with in both runs."""
    pairs = zip((*first.outputs, *first.results), (*second.outputs, *second.results), strict=False)
    return any(a.dtype == b.dtype and not np.array_equal(_bytes(a), _bytes(b)) for a, b in pairs)


def is_fresh(tensor: TensorValue) -> bool:
    """Returns whether a tensor holds what memory was filled with, which is -1 of any integer type, too."""
    return bool((_bytes(tensor) == POISONS[0]).all())


def only_poison(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> bool:
    """Returns whether all bytes that differ are still what memory was filled with."""
    if first.size != second.size:
        return False
    differs = first != second
    return bool((first[differs] == POISONS[0]).all() and (second[differs] == POISONS[1]).all())


def _bytes(tensor: TensorValue) -> NDArray[np.uint8]:
    return np.ascontiguousarray(tensor.storage.reshape(-1)).view(np.uint8)
