"""Computes PTX's integer instructions for all threads of a program at once.

A value is a number where threads agree, an array with an element a thread where they do not, and None where it depends
on what lies in memory or on floats: those decide neither addresses nor loops in most kernels, and are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[Any]  # of whole numbers, or of truths
Value = int | Lanes | None
Known = int | Lanes

WARP_SIZE = 32
_COMPARISONS: Mapping[str, Callable[[Known, Known], Known]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_COMPARISONS_OF_BITS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def computed(op: str, sources: Sequence[Value]) -> Value:
    """Returns the result of an instruction; None where it, or an operand, is not known."""
    name, *flags, type_ = op.split(".")
    if name in ("mov", "cvta"):
        # Truth is written as -1.
        source = sources[0] if len(sources) == 1 else None
        return bool(source) if type_ == "pred" and isinstance(source, int) else source
    if name == "selp":
        return selected(sources[2], sources[0], sources[1])
    if type_ == "pred":
        return _logic(name, sources)
    known = [source for source in sources if source is not None]
    if len(known) < len(sources) or not known:
        return None
    if name == "cvt":
        return _converted(flags, type_, known[0])
    width, signed = _integer(type_)
    if not width:
        return None
    wide = "wide" in flags
    # What is added to a wide product is as wide.
    widths = [width, width, 2 * width if wide else width]
    given = [_as(value, bits, signed=signed) for value, bits in zip(known, widths, strict=False)]
    if name == "setp":
        compare = _COMPARISONS.get(_COMPARISONS_OF_BITS.get(flags[0], flags[0]))
        return compare(given[0], given[1]) if compare and len(given) == 2 else None
    result = _hi(given, width) if "hi" in flags else _arithmetic(name, given)
    return None if result is None else _as(result, 2 * width if wide else width, signed=True)


def selected(condition: Value, then: Value, other: Value) -> Value:
    """Returns one of two values a thread."""
    if condition is None:
        return None
    if not isinstance(condition, np.ndarray):
        return then if condition else other
    if then is None or other is None:
        return None
    return np.where(condition, then, other)


def shuffled(mode: str, value: Value, operand: Value) -> Value:
    """Returns what lanes get of lanes of their warp, segments of a warp aside."""
    if not isinstance(value, np.ndarray) or operand is None:
        return value
    lane = np.arange(value.size) % WARP_SIZE
    source = {"bfly": lane ^ operand, "up": lane - operand, "down": lane + operand}.get(mode, operand + 0 * lane)
    inside = (source >= 0) & (source < WARP_SIZE)
    given: Lanes = value[np.arange(value.size) - lane + np.where(inside, source, lane)]
    return given


def over_warps(name: str, value: Value) -> Value:
    """Returns the extreme over each warp's lanes."""
    if not isinstance(value, np.ndarray):
        return value
    rows = value.reshape(-1, WARP_SIZE)
    reduced = {"max": rows.max, "min": rows.min}.get(name)
    return None if reduced is None else np.repeat(reduced(axis=1), WARP_SIZE)


def _integer(type_: str) -> tuple[int, bool]:
    """Returns the bits, and whether there is a sign; no bits for anything but an integer."""
    kind, digits = type_[:1], type_[1:]
    return (int(digits), kind == "s") if kind in ("s", "u", "b") and digits.isdecimal() else (0, False)


def _as(value: Known, width: int, *, signed: bool) -> Known:
    """Returns the low bits of `value`, read with or without a sign. 64 bits keep theirs, as int64 has it."""
    if isinstance(value, np.ndarray) and value.dtype == np.bool_:
        value = value.astype(np.int64)
    if width >= 64:
        return value
    half = (1 << (width - 1)) if signed else 0
    return ((value + half) & ((1 << width) - 1)) - half


def _converted(flags: Sequence[str], source: str, value: Known) -> Value:
    target = next((flag for flag in reversed(flags) if _integer(flag)[0]), "")
    from_bits, signed = _integer(source)
    if not target or not from_bits:
        return None
    to_bits, to_signed = _integer(target)
    return _as(_as(value, from_bits, signed=signed), to_bits, signed=to_signed or to_bits == 64)


def _logic(name: str, sources: Sequence[Value]) -> Value:
    """Computes on predicates: the other operand need not be known where one decides alone."""
    if name == "not":
        return None if sources[0] is None else np.logical_not(sources[0])
    if len(sources) != 2:
        return None
    for one, other in (sources, sources[::-1]):
        if one is not None and not isinstance(one, np.ndarray):
            if name == "and":
                return other if one else False
            if name == "or":
                return True if one else other
    first, second = sources
    if first is None or second is None:
        return None
    joined = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.get(name)
    return None if joined is None else joined(first, second)


def _hi(given: Sequence[Known], width: int) -> Value:
    if width > 32 or len(given) != 2:
        return None
    high: Known = given[0] * given[1] // (1 << width)
    return high


def _arithmetic(name: str, given: Sequence[Known]) -> Value:
    with np.errstate(all="ignore"):
        match name, given:
            case "add" | "sub" | "mul" | "and" | "or" | "xor" | "min" | "max" | "div" | "rem" | "shl" | "shr", [a, b]:
                return _binary(name, a, b)
            case "mad", [a, b, c]:
                return a * b + c
            case "neg", [a]:
                return -a
            case "not", [a]:
                return ~a
            case "abs", [a]:
                return a * _sign(a)
            case "bfe", [a, b, c]:
                return (a >> b) & ((1 << c) - 1)
    return None


def _binary(name: str, a: Known, b: Known) -> Value:
    match name:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "min":
            return np.minimum(a, b) if _vectors(a, b) else min(a, b)
        case "max":
            return np.maximum(a, b) if _vectors(a, b) else max(a, b)
        case "shl":
            return a << _shift(b)
        case "shr":
            return a >> _shift(b)
    if np.any(np.equal(b, 0)):
        return None
    quotient = _truncated(a, b)
    return quotient if name == "div" else a - b * quotient


def _truncated(a: Known, b: Known) -> Known:
    if _vectors(a, b):
        return _sign(a) * _sign(b) * ((a * _sign(a)) // (b * _sign(b)))
    magnitude = abs(int(a)) // abs(int(b))
    return magnitude if (a < 0) == (b < 0) else -magnitude


def _sign(a: Known) -> Known:
    return np.where(a < 0, -1, 1) if isinstance(a, np.ndarray) else -1 if a < 0 else 1


def _shift(b: Known) -> Known:
    return np.minimum(b, 63) if isinstance(b, np.ndarray) else min(int(b), 63)


def _vectors(*values: Known) -> bool:
    return any(isinstance(value, np.ndarray) for value in values)
