"""Turns a workload into argument values, bit for bit the same on every machine and numpy."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract, Distribution, Role, TensorArg, Values, Workload
from porter.contract.model.dtype import DType, encode
from porter.contract.model.expressions import evaluate, last_factor, number
from porter.contract.workload.distributions import OF_INDICES, beyond, distributed, with_large_ends
from porter.contract.workload.drawn import extended
from porter.contract.workload.remembered import Remembered
from porter.contract.workload.structs import put
from porter.errors import ContractError
from porter.execution.job import ScalarValue, TensorValue, Value

# 12 uniforms of 16 bits: their sum less 6 has mean 0, variance 1 and lies within 6; no library function is involved.
_UNIFORMS = 12
# A word has four of them. Two and two are added within it, so that sums have 32 bits each and no array is widened.
_LANES = np.uint64(0x0000_FFFF_0000_FFFF)
_INTEGER_SPREAD = 8.0
_A_FIELD = 1 << 16  # so that the fields of structs have streams of their own
_OF_ALL = 1 << 32  # the stream that all arguments share: a prediction is sure where its target is
# Only sizes for devices have more elements, all of which would take minutes to make and gigabytes to hand over.
_POOL = 1_048_573
# Narrow floats end early: beyond, inputs would be infinite before any kernel saw them.
_LARGEST = {DType.FLOAT16: 60000.0, DType.FLOAT8_E4M3FN: 448.0, DType.FLOAT8_E5M2: 57344.0}
# A million normal numbers take 30 ms to draw, and a contract that asks for much is tried on the same ones 100 times.
_REMEMBERED, _QUICKLY_MADE = Remembered(96 << 20), (Values.ZEROS, Values.NULL, Values.ONES)


def materialise(contract: Contract, workload: Workload, poison: int = 0xFF) -> tuple[Value, ...]:
    """Returns the arguments of one call, in order. Bytes of OUT tensors are `poison`, to show unwritten elements.

    Each argument has its own Philox stream, keyed by the workload's seed and the argument's position, of which only raw
    words are used: numpy guarantees those, not its distributions. At sizes for devices alone the storage of a large
    tensor is the pool from which the rest of it is drawn. Raises `ContractError` for sizes that make no shape.
    """
    values: list[Value] = []
    for position, argument in enumerate(retyped(contract, workload).arguments):
        if isinstance(argument, TensorArg):
            null = is_null(argument, workload)
            tensor = TensorValue.none(argument.dtype) if null else _tensor(argument, workload, position, poison)
            values.append(tensor if null else replace(tensor, layout=workload.layouts.get(argument.name)))
        else:
            given = workload.scalars.get(argument.name)
            values.append(ScalarValue(number(argument.value, workload.sizes) if given is None else given))
    return tuple(values)


def retyped(contract: Contract, workload: Workload) -> Contract:
    """Returns `contract` with the element types that its tensors have in `workload`."""
    if not workload.dtypes:
        return contract
    arguments = (
        replace(a, dtype=workload.dtypes.get(a.name, a.dtype)) if isinstance(a, TensorArg) else a
        for a in contract.arguments
    )
    return replace(contract, arguments=tuple(arguments))


def is_null(tensor: TensorArg, workload: Workload) -> bool:
    """Returns whether `workload` gives no tensor."""
    return tensor.values is Values.NULL or workload.scalars.get(tensor.name) == 0


def shape_of(tensor: TensorArg, workload: Workload) -> tuple[int, ...]:
    """Returns the tensor's extents in `workload`. Raises `ContractError` where one is negative."""
    shape = tuple(evaluate(extent, workload.sizes) for extent in tensor.shape)
    if any(extent < 0 for extent in shape):
        raise ContractError(f"'{tensor.name}' would have the shape {shape} in workload '{workload.name}'")
    return shape


def _tensor(tensor: TensorArg, workload: Workload, position: int, poison: int) -> TensorValue:
    shape = shape_of(tensor, workload)
    if tensor.elements:
        listed = np.array([evaluate(element, workload.sizes) for element in tensor.elements], dtype=np.int64)
        return TensorValue(tensor.dtype, shape, encode(listed, tensor.dtype).reshape(shape))
    if tensor.fields:
        return TensorValue(tensor.dtype, shape, _structs(tensor, workload, position, prod(shape)))
    whole = prod(shape)
    count = min(whole, _POOL) if _is_pooled(tensor, workload) else whole
    if tensor.role is Role.OUT:
        storage = np.full(count * tensor.dtype.bytes, poison, dtype=np.uint8).view(tensor.dtype.storage)
    else:
        storage = _drawn(tensor, workload, position, count)
    return TensorValue(tensor.dtype, shape, storage.reshape(shape) if count == whole else storage)


def _structs(tensor: TensorArg, workload: Workload, position: int, bytes_: int) -> NDArray[np.uint8]:
    """Returns structs of which each field is drawn as a tensor of its own; between fields there are zeros."""
    structs = np.zeros((-(-bytes_ // tensor.group), tensor.group), np.uint8)
    for turn, (field, part) in enumerate(zip(tensor.fields, tensor.parts, strict=True), 1):
        put(structs, field, _drawn(part, workload, position + _A_FIELD * turn, len(structs)))
    return structs.reshape(-1)[:bytes_]


def _drawn(tensor: TensorArg, workload: Workload, position: int, count: int) -> NDArray[np.generic]:
    """Returns the elements of an input. They are remembered, in case the same ones are asked for again."""

    def made() -> NDArray[np.generic]:
        return encode(_values(tensor, workload, position, count), tensor.dtype)

    if workload.distribution is not Distribution.DECLARED or tensor.values in _QUICKLY_MADE:
        return made()
    bound = evaluate(tensor.bound, workload.sizes) if tensor.bound else 0
    key = (workload.seed, position, count, tensor.values, tensor.dtype, workload.scale, bound, tensor.told)
    return _REMEMBERED.get(key, made)


def _is_pooled(tensor: TensorArg, workload: Workload) -> bool:
    """Returns whether the tensor's elements have nothing to do with one another."""
    declared = workload.distribution is Distribution.DECLARED
    return workload.device_only and declared and tensor.values is not Values.SORTED


def _values(
    tensor: TensorArg, workload: Workload, position: int, count: int
) -> NDArray[np.float64] | NDArray[np.int64]:
    words = np.random.Philox(key=np.array([workload.seed, position], dtype=np.uint64))
    bound = evaluate(tensor.bound, workload.sizes) if tensor.bound else 0
    if bound < 1 and tensor.values in (Values.INDEX, Values.SORTED) and count:
        raise ContractError(f"the bound '{tensor.bound}' of '{tensor.name}' is {bound} in workload '{workload.name}'")
    values = _fill(tensor, words, count, workload.scale, bound)
    declared = workload.distribution is Distribution.DECLARED
    return values if declared else _distributed(values, words, tensor, workload, bound)


def _distributed(
    values: NDArray[np.float64] | NDArray[np.int64],
    words: np.random.Philox,
    tensor: TensorArg,
    workload: Workload,
    bound: int,
) -> NDArray[np.float64] | NDArray[np.int64]:
    """Returns `values` as the workload's distribution has them; it is drawn last, so earlier draws stay the same."""
    if not values.size:
        return values
    if workload.distribution in OF_INDICES:
        index = bound if workload.distribution is Distribution.AT_BOUND else -1
        return beyond(values, words.random_raw(values.size), tensor, index)
    if workload.distribution is Distribution.REPEATED:
        return values[np.arange(values.size) // 2 * 2] if tensor.values is Values.INDEX else values
    row = row_length(tensor, workload)
    if workload.distribution is Distribution.ENDS:
        shape = shape_of(tensor, workload) if len(tensor.shape) > 1 else (values.size // row, row)
        is_free = tensor.values is Values.NORMAL and tensor.dtype.is_float
        return with_large_ends(values.astype(np.float64), shape) if is_free else values
    if workload.distribution is Distribution.SURE:
        words = np.random.Philox(key=np.array([workload.seed, _OF_ALL], dtype=np.uint64))
    given = distributed(values.astype(np.float64), words.random_raw(values.size), tensor, row, workload.distribution)
    return given if values.dtype == np.float64 else given.astype(np.int64)


def row_length(tensor: TensorArg, workload: Workload) -> int:
    """Returns the elements of a row: of `rows * columns` in one extent, `columns`."""
    if not tensor.shape:
        return 1
    extent = evaluate(tensor.shape[-1], workload.sizes)
    factor = last_factor(tensor.shape[-1])
    last = workload.sizes.get(next(iter(factor)), 0) if len(factor) == 1 else 0
    return last if last and extent % last == 0 else max(1, extent)


def _fill(
    tensor: TensorArg, words: np.random.Philox, count: int, scale: float, bound: int
) -> NDArray[np.float64] | NDArray[np.int64]:
    match tensor.values:
        case Values.ZEROS | Values.NULL:
            return np.zeros(count)
        case Values.ONES:
            return np.ones(count)
        case Values.BOOLEAN:
            return _below(words, count, 2)
        case Values.INDEX:
            return _between(words, count, bound) if tensor.dtype.is_float else _indices(words, count, bound)
        case Values.SORTED:
            return _sorted(words, count, bound)
        case Values.PROBABILITY:
            # Strictly inside (0, 1), in float16, too.
            return (_below(words, count, 1 << 10) + 0.5) / (1 << 10)
        case Values.WHOLE:
            normal = normals(words, count)
            return _fit(np.copysign(np.ceil(np.abs(normal)), normal), tensor.dtype)
        case Values.POSITIVE:
            return _fit(np.abs(normals(words, count)) * scale + 0.1, tensor.dtype)
        case Values.NORMAL:
            return _with_told(_fit(normals(words, count) * scale, tensor.dtype), words, tensor)


def _with_told(
    values: NDArray[np.float64] | NDArray[np.int64], words: np.random.Philox, tensor: TensorArg
) -> NDArray[np.float64] | NDArray[np.int64]:
    """Returns `values` with about half of them among the numbers that the source tells from all others."""
    if not tensor.told or tensor.dtype.is_float:
        return values
    chosen = _below(words, values.size, 2 * len(tensor.told))
    return np.where(chosen < len(tensor.told), np.array(tensor.told, np.int64)[chosen % len(tensor.told)], values)


def _indices(words: np.random.Philox, count: int, bound: int) -> NDArray[np.int64]:
    """Returns indices below `bound`, including the largest: the tensor they index is then used to its end."""
    indices = _below(words, count, bound)
    if count:
        indices[count // 2] = bound - 1
    return indices


def _between(words: np.random.Philox, count: int, bound: int) -> NDArray[np.float64]:
    """Returns numbers from 0 to `bound - 1`, including both, that a conversion to an integer makes indices."""
    steps = 1 << 10  # so few that every one is a number of its own in any float that can tell the indices apart
    numbers = _below(words, count, (bound - 1) * steps + 1) / steps
    numbers[count // 2 : count // 2 + 1] = bound - 1
    return np.asarray(numbers)


def _sorted(words: np.random.Philox, count: int, bound: int) -> NDArray[np.int64]:
    """Returns offsets: from 0 to `bound`, never falling."""
    offsets = np.sort(_below(words, count, bound + 1))
    if count:
        offsets[0], offsets[-1] = 0, bound
    return offsets


def normals(words: np.random.Philox, count: int) -> NDArray[np.float64]:
    """Returns `count` numbers of mean 0 and variance 1, all within 6; if they are many, drawn from a pool."""
    if count > _POOL:
        return extended(normals(words, _POOL), count)
    raw = words.random_raw(count * _UNIFORMS // 4) if count else np.zeros(0, np.uint64)
    pairs = (raw & _LANES) + (raw >> np.uint64(16) & _LANES)
    sums = pairs[0::3] + pairs[1::3] + pairs[2::3]
    whole = (sums >> np.uint64(32)) + (sums & np.uint64(0xFFFF_FFFF))
    return np.asarray((whole.astype(np.float64) + _UNIFORMS / 2) / 65536.0 - _UNIFORMS / 2)


def _below(words: np.random.Philox, count: int, bound: int) -> NDArray[np.int64]:
    """Returns `count` numbers from 0 to below `bound`; if `count` is 0 the bound may be anything."""
    if not count:
        return np.zeros(0, np.int64)
    if count > _POOL:
        return extended(_below(words, _POOL, bound), count)
    raw = words.random_raw(count)
    return ((raw >> np.uint64(11)) % np.uint64(bound)).astype(np.int64)


def _fit(values: NDArray[np.float64], dtype: DType) -> NDArray[np.float64] | NDArray[np.int64]:
    """Returns values inside the range of `dtype`; integers spread over a few dozen values."""
    if dtype.is_float:
        largest = _LARGEST.get(dtype, np.inf)
        return np.clip(values, -largest, largest)
    if dtype is DType.BOOL:
        return (values > 0).astype(np.int64)
    spread = np.rint(values * _INTEGER_SPREAD)
    limits = np.iinfo(dtype.value)
    spread = spread if limits.min < 0 else np.abs(spread)
    return np.clip(spread, max(limits.min, -(2**31)), min(limits.max, 2**31 - 1)).astype(np.int64)
