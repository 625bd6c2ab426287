# ruff: noqa: ANN001, ANN201 - Triton reads annotations as its own
# mypy: ignore-errors
"""Atomic operations that Triton has no word for."""

import triton
import triton.language as tl


@triton.jit
def count_up(pointer, bound, active=True):
    """Add 1, or begin again at 0 above `bound`, in the active lanes; what was there before, for each lane."""
    before = tl.atomic_cas(pointer, tl.zeros(pointer.shape, tl.uint32), tl.zeros(pointer.shape, tl.uint32))
    going = (before >= 0) & active
    while tl.max(going.to(tl.int32), axis=0) != 0:
        after = tl.where(before >= bound, 0, before + 1).to(tl.uint32)
        found = tl.atomic_cas(pointer, before, tl.where(going, after, before))
        going = going & (found != before)
        before = tl.where(going, found, before)
    return before


@triton.jit
def count_down(pointer, bound, active=True):
    """Subtract 1, or begin again at `bound` at 0 or above it, in the active lanes; what was there before, for each."""
    before = tl.atomic_cas(pointer, tl.zeros(pointer.shape, tl.uint32), tl.zeros(pointer.shape, tl.uint32))
    going = (before >= 0) & active
    while tl.max(going.to(tl.int32), axis=0) != 0:
        after = tl.where((before == 0) | (before > bound), bound, before - 1).to(tl.uint32)
        found = tl.atomic_cas(pointer, before, tl.where(going, after, before))
        going = going & (found != before)
        before = tl.where(going, found, before)
    return before
