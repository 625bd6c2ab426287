"""Unions: variables for the smallest parts, and each field a view of them."""

from __future__ import annotations

import math

from porter_triton.lower import variables
from porter_triton.lower.context import Context
from porter_triton.lower.places import LocalArray, Members, Place, Slot, View
from porter_triton.lower.types import Arithmetic, Array, Record, Type, components, size
from porter_triton.lower.values import number
from porter_triton.refusal import Refusal


def variable(cx: Context, name: str, type_: Record, node: object, line: int, *, part: str) -> Place:
    """A place for a union, without a value."""
    scalars = [found[0] for _, field in type_.fields if (found := components(field)) is not None]
    if not scalars or len(scalars) < len(type_.fields):
        raise Refusal(line, f"`{type_.name}` is a union of types of mixed parts")
    unit = min(scalars, key=lambda scalar: scalar.bits)
    count = max(_count(field, unit) for _, field in type_.fields)
    parts = tuple(
        variables.declare(cx, f"{name}_{i}", unit, node, None, stable=False, line=line, part=f"{part}|{i}")
        for i in range(count)
    )
    return Members(type_, {field: _seen(cx, inner, unit, parts) for field, inner in type_.fields})


def _count(type_: Type, unit: Arithmetic) -> int:
    return (size(type_) or 0) * 8 // unit.bits


def _seen(cx: Context, type_: Type, unit: Arithmetic, parts: tuple[Place, ...]) -> Place:
    """The first parts as a `type_`."""
    own = parts[: _count(type_, unit)]
    if isinstance(type_, Array):
        count = math.prod(type_.extents)
        each = len(own) // count
        elements = [_seen(cx, type_.element, unit, own[k * each : (k + 1) * each]) for k in range(count)]
        array = LocalArray("union", type_.element, count, (), cx.depth, elements, settled=True)
        return Slot(array, number(0), type_.extents) if len(type_.extents) > 1 else array
    return own[0] if type_ == unit else View(type_, unit, own)
