"""The memory that arguments lie in, and what was returned before.

The same memory gets new contents from job to job, past torch, and the same tensor names it: an answer that is kept by
pointer, object or version is another's. Around each argument is room that nobody may touch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from porter.contract.dtype import DType
from porter.simt.job import Job, TensorValue
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.devices import is_marked_only, put_on_device

_GUARD_BYTES = 4096  # what runs over the end of one tensor must not land in the next
_ALIGNMENT = 256  # of device allocations
_KEPT, _KEPT_BYTES = 16, 64 << 20

_Bytes = NDArray[np.uint8]


@dataclass(slots=True)
class _Room:
    """An argument's bytes, the room they lie in, and the tensor that the module was given."""

    room: _Bytes
    content: _Bytes
    tensor: torch.Tensor

    @property
    def is_as_given(self) -> bool:
        """Whether the tensor still is what it was when it was given."""
        here = self.tensor.untyped_storage().data_ptr() == self.content.ctypes.data
        return here and is_marked_only(self.tensor) and self.tensor.is_contiguous()

    @property
    def is_guarded(self) -> bool:
        """Whether nobody touched what lies around the argument."""
        begin = self.content.ctypes.data - self.room.ctypes.data
        return not self.room[:begin].any() and not self.room[begin + self.content.size :].any()


class Arguments:
    """The arguments of one job after the other."""

    def __init__(self) -> None:
        self._rooms: dict[tuple[int, DType, tuple[int, ...]], _Room] = {}
        self._now: list[tuple[_Room, TensorValue]] = []

    def of(self, job: Job) -> list[object]:
        """What the module is called with: tensors in memory of their own, None for null pointers, numbers."""
        self._now = []
        return [
            self._tensor(index, value) if isinstance(value, TensorValue) else value.value
            for index, value in enumerate(job.arguments)
        ]

    def _tensor(self, index: int, value: TensorValue) -> torch.Tensor | None:
        raw = np.ascontiguousarray(value.storage).reshape(-1).view(np.uint8)
        key = (index, value.dtype, value.shape)
        room = self._rooms.get(key)
        if room is None or not room.is_as_given or room.tensor.shape != value.shape:
            room = self._rooms[key] = _room(value, raw.size)
        room.content[:] = raw
        self._now.append((room, value))
        return None if value.null else room.tensor

    def places(self) -> frozenset[int]:
        """Where arguments of any job lie."""
        return frozenset(room.content.ctypes.data for room in self._rooms.values())

    def changed(self) -> Iterator[tuple[int, int]]:
        """The number among the tensors and the place of each argument that holds other bytes than it was given with."""
        for index, (room, value) in enumerate(self._now):
            if room.content.tobytes() != np.ascontiguousarray(value.storage).tobytes():
                yield index, room.content.ctypes.data

    def left(self) -> list[TensorValue]:
        """The tensors as their memory is now, whatever the module made of the objects."""
        return [
            TensorValue(value.dtype, value.shape, room.content.copy().view(value.dtype.storage).reshape(value.shape))
            for room, value in self._now
        ]

    def marked(self) -> int | None:
        """The number of the first tensor that was given attributes; None where none was."""
        return next((i for i, (room, _) in enumerate(self._now) if not is_marked_only(room.tensor)), None)

    def overrun(self) -> int | None:
        """The number of the first tensor around which somebody wrote; None where nobody did."""
        return next((index for index, (room, _) in enumerate(self._now) if not room.is_guarded), None)


def _room(value: TensorValue, size: int) -> _Room:
    room = np.zeros(size + 2 * _GUARD_BYTES + _ALIGNMENT, np.uint8)
    start = _GUARD_BYTES + -(room.ctypes.data + _GUARD_BYTES) % _ALIGNMENT
    content = room[start : start + size]
    # A storage of exactly these bytes: its extent is what the kernel may touch.
    tensor = torch.from_numpy(content).view(TORCH_TYPES[value.dtype]).reshape(value.shape)
    return _Room(room, content, put_on_device(tensor))


class Returned:
    """The results of earlier jobs, which a caller may still hold: alive, so that nobody else is given their memory."""

    def __init__(self) -> None:
        self._kept: deque[tuple[torch.Tensor, bytes]] = deque(maxlen=_KEPT)

    def changed(self) -> bool:
        """Whether one holds other numbers than when it was returned; that one is not asked of again."""
        same = [(tensor, before) for tensor, before in self._kept if _raw(tensor) == before]
        changed = len(same) < len(self._kept)
        self._kept = deque(same, maxlen=_KEPT)
        return changed

    def overlaps(self, results: Iterable[torch.Tensor]) -> bool:
        """Whether one of `results` lies where an earlier one does."""
        taken = {tensor.untyped_storage().data_ptr() for tensor, _ in self._kept if tensor.numel()}
        return any(tensor.untyped_storage().data_ptr() in taken for tensor in results)

    def keep(self, results: Iterable[torch.Tensor], arguments: frozenset[int]) -> None:
        """Keep `results` but those that lie in arguments, which get new contents."""
        for tensor in results:
            if tensor.untyped_storage().data_ptr() not in arguments:
                self._kept.append((tensor, _raw(tensor)))
        while sum(len(raw) for _, raw in self._kept) > _KEPT_BYTES:
            self._kept.popleft()


def _raw(tensor: torch.Tensor) -> bytes:
    dense = tensor.detach().contiguous().reshape(-1)
    return dense.view(torch.uint8).numpy().tobytes() if dense.numel() else b""
