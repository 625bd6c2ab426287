"""Takes the values of arrays of structs apart, into those of their fields, and puts them together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Contract, Field, TensorArg
from porter.execution.job import TensorValue, Value

Change = Callable[[TensorArg, TensorValue], TensorValue]


def parts_of(tensor: TensorArg, value: TensorValue) -> tuple[TensorValue, ...]:
    """Returns what `value` holds for each of the tensor's parts: the numbers of a field, or all of it."""
    if not tensor.fields or value.null:
        return (value,) * len(tensor.parts)
    structs = _structs(value.storage, tensor.group)
    return tuple(_numbers(structs, field) for field in tensor.fields)


def all_parts(contract: Contract, values: Sequence[TensorValue]) -> tuple[TensorValue, ...]:
    """Returns the parts of all tensors of `contract`, and unchanged what `values` has behind these."""
    tensors = contract.tensors
    parts = [part for tensor, value in zip(tensors, values, strict=False) for part in parts_of(tensor, value)]
    return (*parts, *values[len(tensors) :])


def changed(tensor: TensorArg, value: TensorValue, change: Change) -> TensorValue:
    """Returns `value` with `change` made in each of the tensor's parts."""
    if not tensor.fields or value.null:
        return change(tensor, value)
    raw = np.array(value.storage).reshape(-1).view(np.uint8)
    structs = _structs(raw, tensor.group)
    for field, part in zip(tensor.fields, tensor.parts, strict=True):
        put(structs, field, change(part, _numbers(structs, field)).storage)
    return replace(value, storage=raw.view(value.storage.dtype).reshape(value.storage.shape))


def all_changed(contract: Contract, values: Sequence[Value], change: Change) -> tuple[Value, ...]:
    """Returns the arguments `values` with `change` made in each part of the tensors among them."""
    return tuple(_all_changed(iter(contract.tensors), values, change))


def _all_changed(tensors: Iterator[TensorArg], values: Sequence[Value], change: Change) -> Iterator[Value]:
    for value in values:
        yield changed(next(tensors), value, change) if isinstance(value, TensorValue) else value


def put(structs: NDArray[np.uint8], field: Field, numbers: NDArray[np.generic]) -> None:
    """Puts the numbers of a field into structs, which are rows of bytes."""
    raw = np.ascontiguousarray(numbers).reshape(-1).view(np.uint8)
    structs[:, field.at : field.at + field.dtype.bytes] = raw.reshape(len(structs), field.dtype.bytes)


def _structs(storage: NDArray[np.generic], bytes_: int) -> NDArray[np.uint8]:
    """Returns whole structs as rows of bytes, without what is left of one at the end."""
    raw = np.ascontiguousarray(storage).reshape(-1).view(np.uint8)
    return raw[: raw.size // bytes_ * bytes_].reshape(-1, bytes_)


def _numbers(structs: NDArray[np.uint8], field: Field) -> TensorValue:
    column = np.ascontiguousarray(structs[:, field.at : field.at + field.dtype.bytes])
    return TensorValue(field.dtype, (len(structs),), column.reshape(-1).view(field.dtype.storage))
