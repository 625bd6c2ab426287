"""Loops that end where compiled ones do.

The compiler counts in the widest type of bounds and step, compares as signed numbers whatever that type is, and counts
down only by a constant. Python's own `range` has one turn where an unsigned step is -512, and none where a signed one
is; compiled, neither loop has an end.
"""

from __future__ import annotations

from typing import SupportsIndex, cast

import triton.language as tl

_CONSTANT_BITS = 32  # of a plain number


def compiled_range(first: object, second: object = None, step: object = 1, **_hints: object) -> range:
    """Returns the turns of `range` as they are compiled. Raises `ValueError` for a loop without an end."""
    start, end = (0, first) if second is None else (first, second)
    by = 1 if step is None else step
    bits = max(map(_bits, (start, end, by)))
    counted = _signed(by, bits)
    if isinstance(by, tl.tensor) and counted <= 0:
        raise ValueError(f"the step of a loop is {counted} when it runs: once compiled, the loop would not end")
    return range(_signed(start, bits), _signed(end, bits), counted)


def _bits(value: object) -> int:
    return value.dtype.primitive_bitwidth if isinstance(value, tl.tensor) else _CONSTANT_BITS


def _signed(value: object, bits: int) -> int:
    """Returns `bits` of `value` as a signed number; a plain number is returned as it is."""
    if not isinstance(value, tl.tensor):
        return int(cast("SupportsIndex", value).__index__())
    half = 1 << (bits - 1)
    data = value.handle.data
    number = data.item() if data.size == 1 else value.__index__()  # of programs in lockstep
    return (int(number) + half) % (2 * half) - half
