"""Tensors with one named axis for each coordinate that they depend on: what expressions are while they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import torch

from porter.ir.tensor.expressions import Combine

Axes = tuple[str, ...]
Extents = Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A number for each point of the coordinates `axes`, which are sorted and one axis of `data` each.

    Where `fault` is true the number means nothing: a program that uses it is at fault.
    """

    axes: Axes
    data: torch.Tensor
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """The points at which a value could not be computed, and the error that says why."""

    where: Value
    error: Exception


@dataclass(frozen=True, slots=True)
class Fold:
    """The functions by which torch combines two tensors, an axis, and an axis up to each of its elements."""

    pair: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    along: Callable[[torch.Tensor, int], torch.Tensor]
    running: Callable[[torch.Tensor, int], torch.Tensor]


FOLDS: Mapping[Combine, Fold] = {
    Combine.SUM: Fold(torch.add, torch.sum, torch.cumsum),
    Combine.PRODUCT: Fold(torch.mul, torch.prod, torch.cumprod),
    Combine.MAXIMUM: Fold(torch.maximum, torch.amax, lambda data, axis: torch.cummax(data, axis).values),
    Combine.MINIMUM: Fold(torch.minimum, torch.amin, lambda data, axis: torch.cummin(data, axis).values),
}


def union(values: Iterable[Value]) -> Axes:
    """Returns the coordinates that any of `values` depends on."""
    return tuple(sorted({axis for value in values for axis in value.axes}))


def aligned(value: Value, axes: Axes) -> torch.Tensor:
    """Returns the data with an axis for each of `axes`, of length 1 where the value does not depend on it."""
    extents = dict(zip(value.axes, value.data.shape, strict=True))
    return value.data.reshape([extents.get(axis, 1) for axis in axes])


def spread(value: Value, extents: Extents) -> Value:
    """Returns a value that has at least the axes of `extents`; no memory is taken."""
    axes = tuple(sorted({*value.axes, *extents}))
    data = aligned(value, axes)
    shape = [extents.get(axis, length) for axis, length in zip(axes, data.shape, strict=True)]
    return Value(axes, data.expand(shape), value.fault)


def elementwise(function: Callable[..., torch.Tensor], *values: Value) -> Value:
    """Returns `function` of the values at each point; it is at fault where one of them is."""
    axes = union(values)
    return Value(axes, function(*(aligned(value, axes) for value in values)), first_fault(values))


def first_fault(values: Sequence[Value]) -> Fault | None:
    """Returns the faults of all `values` as one, with the error of the first."""
    faults = [value.fault for value in values if value.fault is not None]
    if len(faults) < 2:
        return faults[0] if faults else None
    where = faults[0].where
    for fault in faults[1:]:
        where = elementwise(torch.logical_or, where, fault.where)
    return Fault(where, faults[0].error)


def at_fault(value: Value, where: Value, error: Exception) -> Value:
    """Returns the value, at fault at all points of `where` too; unchanged where there is no such point."""
    if not bool(where.data.any()):
        return value
    return replace(value, fault=first_fault([value, Value(where.axes, where.data, Fault(where, error))]))


def take(value: Value, chosen: Mapping[str, Value]) -> Value:
    """Returns the elements of `value` at the positions `chosen` along some of its axes, which they replace."""
    chosen = {axis: position for axis, position in chosen.items() if axis in value.axes}
    kept = Value(tuple(axis for axis in value.axes if axis not in chosen), value.data)
    axes = tuple(sorted({*kept.axes, *union(chosen.values())}))
    index = [
        aligned(chosen.get(axis) or Value((axis,), torch.arange(length, device=value.data.device)), axes)
        for axis, length in zip(value.axes, value.data.shape, strict=True)
    ]
    fault = first_fault(list(chosen.values()))
    if value.fault is not None:
        own = Fault(take(value.fault.where, chosen), value.fault.error)
        fault = first_fault([Value((), value.data, own), Value((), value.data, fault)])
    return Value(axes, value.data[tuple(index)] if index else value.data, fault)


def joined(axis: str, parts: Sequence[Value], lengths: Sequence[int]) -> Value:
    """Returns the values of consecutive stretches of a coordinate, which are `lengths` long, as one value."""
    extents = {name: length for part in parts for name, length in zip(part.axes, part.data.shape, strict=True)}
    spreads = [spread(part, {**extents, axis: length}) for part, length in zip(parts, lengths, strict=True)]
    data = torch.cat([part.data for part in spreads], spreads[0].axes.index(axis))
    fault = first_fault(parts)
    if fault is None:
        return Value(spreads[0].axes, data)
    nowhere = Value((), torch.zeros((), dtype=torch.bool, device=data.device))
    where = joined(axis, [part.fault.where if part.fault else nowhere for part in parts], lengths)
    return Value(spreads[0].axes, data, Fault(where, fault.error))


def numeric(data: torch.Tensor) -> torch.Tensor:
    """Returns the data with truth values as the integers 0 and 1."""
    return data.to(torch.int64) if data.dtype == torch.bool else data


def identity(combine: Combine, dtype: torch.dtype) -> torch.Tensor:
    """Returns what a reduction gives over no elements."""
    if combine in (Combine.SUM, Combine.PRODUCT):
        return torch.tensor(int(combine is Combine.PRODUCT), dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor(-torch.inf if combine is Combine.MAXIMUM else torch.inf, dtype=dtype)
    limits = torch.iinfo(dtype)
    return torch.tensor(limits.min if combine is Combine.MAXIMUM else limits.max, dtype=dtype)


def masked(value: Value, mask: Value | None, filler: torch.Tensor) -> Value:
    """Returns the value with `filler` where `mask` is false, where it is at fault nowhere; faults are left out."""
    if mask is None:
        return Value(value.axes, value.data)
    filler = filler.to(value.data.device)
    return elementwise(lambda data, held: torch.where(held, data, filler), Value(value.axes, value.data), mask)


def folded(combine: Combine, value: Value, axis: str, mask: Value | None, length: int) -> Value:
    """Returns the combination of the elements along `axis`, which is `length` long, as far as `mask` is true."""
    value = Value(value.axes, numeric(value.data), value.fault)
    none = identity(combine, value.data.dtype)
    full = spread(masked(value, mask, none), {axis: length})
    place = full.axes.index(axis)
    axes = full.axes[:place] + full.axes[place + 1 :]
    if length == 0:
        shape = [*full.data.shape[:place], *full.data.shape[place + 1 :]]
        return Value(axes, none.to(full.data.device).expand(shape))
    return Value(axes, FOLDS[combine].along(full.data, place))


def folded_up_to(combine: Combine, value: Value, axis: str, counts: Value, *, backward: bool, length: int) -> Value:
    """Returns the combinations of the first `counts` elements along `axis`, or of the last where `backward`."""
    full = spread(Value(value.axes, numeric(value.data)), {axis: length})
    place = full.axes.index(axis)
    data = full.data.flip(place) if backward else full.data
    shape = [*data.shape[:place], 1, *data.shape[place + 1 :]]
    none = identity(combine, data.dtype).to(data.device).expand(shape)
    running = FOLDS[combine].running(data, place) if length else data
    return take(Value(full.axes, torch.cat([none, running], place)), {axis: counts})


def first_extreme(combine: Combine, key: Value, mask: Value | None, extents: Extents) -> tuple[dict[str, Value], Value]:
    """Returns the position along each axis of `extents` at which `key` is extreme first, and where there is none.

    None of `extents` is 0; the last axis moves fastest. Points at which `mask` is false do not count. NaN is more
    extreme than any number.
    """
    key = Value(key.axes, numeric(key.data))
    allowed = mask or Value((), torch.tensor(True, device=key.data.device))
    sizes = {axis: length for part in (key, allowed) for axis, length in zip(part.axes, part.data.shape, strict=True)}
    free = tuple(sorted(axis for axis in sizes if axis not in extents))
    data, held = (_in_order(part, {**sizes, **extents}, free, tuple(extents)) for part in (key, allowed))
    data = torch.where(held, data, identity(combine, data.dtype).to(data.device))
    best = FOLDS[combine].along(data, -1).unsqueeze(-1)
    is_best = ((data == best) | (data.isnan() & best.isnan())) & held
    place = is_best.to(torch.uint8).argmax(-1)
    chosen = {}
    for axis in reversed(list(extents)):
        chosen[axis] = Value(free, place % extents[axis])
        place = place // extents[axis]
    return chosen, Value(free, ~is_best.any(-1))


def _in_order(value: Value, extents: Extents, free: Axes, own: Axes) -> torch.Tensor:
    """Returns the data with the axes `free` and one axis more, along which those of `own` run."""
    full = spread(value, extents)
    data = full.data.permute([full.axes.index(axis) for axis in (*free, *own)])
    return data.reshape([*(extents[axis] for axis in free), prod(extents[axis] for axis in own)])
