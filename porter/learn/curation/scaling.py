"""Sizes at which the work of a module is worth timing on a device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.learn.curation.records import Call, Given, Reached, Report

WORTH_BYTES = 128 << 20  # 40 us at 3.3 TB/s, several times what it takes to launch a kernel
_LARGEST = 1 << 10  # by which a batch grows
_MOST_BYTES = 64 << 30  # moved by all operators: more takes longer than anybody waits for

Shapes = Callable[[Call], Report | None]


def scaled(call: Call, moved: int, shapes: Shapes) -> tuple[Call, int] | None:
    """Returns `call` with a larger first axis, and the bytes that its operators then move; None where it takes none.

    `moved` are the bytes of `call`; `shapes` runs a call without contents. The first axis grows first, which modules
    treat as a batch, and after it the last two of what has four axes.
    """
    if moved >= WORTH_BYTES:
        return call, moved
    factor = _power_of_two(WORTH_BYTES / max(1, moved))
    while factor > 1:
        for wanted in (_batched(call, min(factor, _LARGEST)), _spread(call, factor)):
            if wanted == call:
                continue
            report = shapes(wanted)
            if report is not None and report.reached is Reached.RAN and moved < report.bytes_moved <= _MOST_BYTES:
                return wanted, report.bytes_moved
        factor //= 8
    return None


def _power_of_two(least: float) -> int:
    factor = 1
    while factor < least:
        factor *= 2
    return factor


def _batched(call: Call, factor: int) -> Call:
    return Call(call.settings, tuple(_grown(one, {0: factor}) for one in call.inputs))


def _spread(call: Call, factor: int) -> Call:
    side = 1
    while side * side < factor:
        side *= 2
    return Call(call.settings, tuple(_grown(one, {2: side, 3: side}) for one in call.inputs))


def _grown(given: Given, factors: dict[int, int]) -> Given:
    if not given.is_tensor or len(given.shape) <= max(factors):
        return given
    return replace(given, shape=tuple(size * factors.get(axis, 1) for axis, size in enumerate(given.shape)))
