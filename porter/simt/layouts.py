"""Tensors that are views of larger ones: their strides, and their elements as they lie in memory."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.contract import Layout
from porter.execution.job import TensorValue

_STEP = 2
_BETWEEN_ROWS = 16  # elements: rows stay aligned for vector loads


def strides_of(value: TensorValue) -> tuple[int, ...]:
    """The strides of a tensor, counted in elements."""
    found: list[int] = []
    below = 1
    for extent in reversed(_room(value)):
        found.append(below)
        below *= max(extent, 1)
    last = _STEP if value.layout is Layout.STEPS else 1
    return tuple(stride * (last if place == 0 else 1) for place, stride in enumerate(found))[::-1]


def offset_of(value: TensorValue) -> int:
    """The elements of the memory that lie before a tensor's first."""
    return 1 if value.layout is Layout.OFFSET else 0


def room_bytes(value: TensorValue) -> int:
    """The bytes of the memory that a tensor lies in, what lies before and between its elements counted."""
    count = prod(_room(value)) if value.layout else value.count
    return (offset_of(value) + count) * value.dtype.bytes


def laid_out(value: TensorValue) -> NDArray[np.generic]:
    """The memory that a tensor lies in. Between its elements lie others of them, so that reading these is no accident
    of bits: an index is one, too, and a probability lies in [0, 1].
    """
    if value.layout is None:
        return value.storage
    room = np.resize(value.storage.reshape(-1)[::-1], offset_of(value) + prod(_room(value)))
    _elements(room, value)[...] = value.storage.reshape(value.shape)
    return room


def gathered(room: NDArray[np.generic], like: TensorValue) -> NDArray[np.generic]:
    """The elements of `like`, row by row, in the memory `room` that it lies in."""
    if like.layout is None:
        return room.reshape(like.storage.shape)
    return np.ascontiguousarray(_elements(room, like))


def _room(value: TensorValue) -> tuple[int, ...]:
    *outer, last = value.shape or (1,)
    match value.layout:
        case Layout.STEPS:
            last *= _STEP
        case Layout.ROWS_APART:
            last += _BETWEEN_ROWS
        case Layout.OFFSET | None:
            pass
    return (*outer, last) if value.shape else ()


def _elements(room: NDArray[np.generic], value: TensorValue) -> NDArray[np.generic]:
    rows = room.reshape(-1)[offset_of(value) :].reshape(_room(value))
    return rows[..., ::_STEP] if value.layout is Layout.STEPS else rows[..., : value.shape[-1]]
