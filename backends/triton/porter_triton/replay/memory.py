"""The memory of one call: every buffer is the process's own, and holds nothing but what a step puts there."""

from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from porter.contract.model.dtype import DType
from porter.execution.job import TensorValue
from porter.launch_plan.steps import TensorView
from porter.simt.layouts import gathered
from porter.worker.torch_types import TORCH_TYPES

_ALIGNMENT = 256  # of device allocations

_Bytes = NDArray[np.uint8]


class Memory:
    """The buffers of a call by their numbers; unwritten memory is full of the byte `poison`, or that of scratch."""

    def __init__(self, poison: int, poison_of_scratch: int | None = None) -> None:
        self._poison = poison
        self._poison_of_scratch = poison if poison_of_scratch is None else poison_of_scratch
        self._buffers: dict[int, _Bytes] = {}

    def allocate(self, buffer: int, size_bytes: int, *, is_scratch: bool = False) -> None:
        """Makes new memory; scratch is memory in which no result lies."""
        poison = self._poison_of_scratch if is_scratch else self._poison
        room = np.full(size_bytes + _ALIGNMENT, poison, np.uint8)
        begin = -room.ctypes.data % _ALIGNMENT
        self._buffers[buffer] = room[begin : begin + size_bytes]

    def write(self, buffer: int, content: bytes | _Bytes) -> None:
        """Makes new memory that holds `content`."""
        raw = np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content
        self.allocate(buffer, raw.size)
        self._buffers[buffer][:] = raw

    def constant(self, buffer: int, content: str) -> None:
        """Makes new memory that holds `content`, given in base 64."""
        self.write(buffer, base64.b64decode(content))

    def keep(self, tensor: torch.Tensor, view: TensorView) -> None:
        """Makes new memory that holds the elements of `tensor`, row by row, as `view` says."""
        dense = tensor.to(TORCH_TYPES[DType(view.dtype)]).expand(view.shape).contiguous().reshape(-1)
        raw = dense.view(torch.uint8).numpy() if dense.numel() else np.zeros(0, np.uint8)
        self.write(view.buffer, raw.copy())

    def tensor(self, view: TensorView) -> torch.Tensor:
        """Returns the tensor that `view` describes, in its buffer; its storage is the whole buffer."""
        raw = self._buffers[view.buffer]
        dtype = TORCH_TYPES[DType(view.dtype)]
        if not raw.size:
            return torch.empty(view.shape, dtype=dtype)
        item = DType(view.dtype).bytes
        whole = torch.from_numpy(raw[: raw.size // item * item]).view(dtype)
        return torch.as_strided(whole, view.shape, view.strides, view.offset)

    def extent(self, buffer: int) -> tuple[int, int]:
        """Returns the addresses at which a buffer begins and ends."""
        raw = self._buffers[buffer]
        return raw.ctypes.data, raw.ctypes.data + raw.size

    def value(self, view: TensorView) -> TensorValue:
        """Returns the elements of `view`, row by row."""
        dense = self.tensor(view).contiguous().reshape(-1)
        dtype = DType(view.dtype)
        raw = dense.view(torch.uint8).numpy().copy() if dense.numel() else np.zeros(0, np.uint8)
        return TensorValue(dtype, view.shape, raw.view(dtype.storage).reshape(view.shape))

    def content(self, buffer: int, like: TensorValue) -> TensorValue:
        """Returns what a buffer holds, as the elements of `like`."""
        raw = self._buffers[buffer].copy()
        return replace(like, storage=gathered(raw.view(like.dtype.storage), like).reshape(like.shape))
