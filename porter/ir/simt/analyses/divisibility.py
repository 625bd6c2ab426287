"""Divisibility: by which power of two integers are certainly divisible, whatever the threads and the launch are."""

from __future__ import annotations

from collections.abc import Mapping

from porter.ir.simt.analyses.ranges import Range
from porter.ir.simt.ops import Op, Value

_MOST_BITS = 63  # of the power for 0, which any number divides


def trailing_zeros(value: Value, makers: Mapping[Value, Op], ranges: Mapping[Value, Range]) -> int:
    """Returns how many of the lowest bits of an integer are certainly 0."""
    found = ranges.get(value)
    if found is not None and found[0] == found[1]:
        return (found[0] & -found[0]).bit_length() - 1 if found[0] else _MOST_BITS
    maker = makers.get(value)
    if maker is None or maker.kind not in ("cast", "neg", "add", "sub", "mul", "shl"):
        return 0
    given = [trailing_zeros(operand, makers, ranges) for operand in maker.operands]
    if maker.kind == "mul":
        return min(sum(given), _MOST_BITS)
    if maker.kind == "shl":
        by = ranges.get(maker.operands[1], (0, 0))[0]
        return min(given[0] + max(by, 0), _MOST_BITS)
    return min(given)
