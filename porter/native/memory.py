"""Keeps arguments on the device: memory of exactly their bytes, with guarded room around it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import torch

from porter.contract.model.dtype import DType
from porter.contract.workload.drawn import key_of
from porter.execution.job import ScalarValue, TensorValue, Value
from porter.native.device import Device
from porter.native.pages import PAGE_BYTES, pages
from porter.native.slab import Slab, aligned

TORCH_TYPES = {dtype: getattr(torch, dtype.value) for dtype in DType}
DTYPES = {torch_type: dtype for dtype, torch_type in TORCH_TYPES.items()}
_GUARD_BYTES = 4096
_GUARD = 0xA5
_NOWHERE = 1 << 12  # no address of memory; aligned as memory of the device is


class GuardError(RuntimeError):
    """Something wrote beside a tensor."""


class _Memory:
    """Memory that PyTorch wraps without copying. It does not know the room around it."""

    def __init__(self, address: int, count: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": (count,), "strides": None, "typestr": "|u1", "version": 2,
        }  # fmt: skip


class Buffer:
    """One tensor argument on the device; with `pinned` in host memory that the device sees, without guards."""

    def __init__(
        self, device: Device, value: TensorValue, *, pinned: bool, like: Buffer | None = None, slab: Slab | None = None
    ) -> None:
        self._device = device
        self.value = value
        self.bytes = value.count * value.dtype.bytes
        self._base = 0
        self._is_own = slab is None
        if pinned or not self.bytes:
            where = {"pin_memory": True} if pinned else {"device": "cuda"}
            self.tensor = torch.empty(value.shape, dtype=TORCH_TYPES[value.dtype], **where)
            self.address = self.tensor.data_ptr()
        else:
            room = guarded_bytes(value)
            self._base = slab.take(room) if slab else device.allocate(room)
            self.address = self._base + _GUARD_BYTES
            flat = torch.as_tensor(_Memory(self.address, self.bytes), device="cuda")
            self.tensor = flat.view(TORCH_TYPES[value.dtype]).reshape(value.shape)
        self._fill(like)

    def _fill(self, like: Buffer | None) -> None:
        """Copies the contents of `value`, which `like` has on the device already."""
        if like is None or not self._base:
            self.write(raw(self.value))
            return
        self._guard()
        self._device.copy(self.address, like.address, self.bytes)

    def _guard(self) -> None:
        for guard in self._guards:
            self._device.fill(guard, _GUARD, _GUARD_BYTES)

    def write(self, content: bytes) -> None:
        """Sets the tensor's bytes, all or only the pool that the rest is drawn from, and the guards."""
        self._guard()
        if self._base:
            self._device.write(self.address, content)
            self._draw(content)
        elif self.bytes:
            self.tensor.copy_(torch.frombuffer(bytearray(content), dtype=self.tensor.dtype).reshape(self.value.shape))

    def _draw(self, pool: bytes) -> None:
        """Draws the elements behind the `pool`, where that is not the whole."""
        if len(pool) < self.bytes:
            width = self.value.dtype.bytes
            self._device.draw(self.address, width, len(pool) // width, self.value.count, key_of(pool))

    def read(self, seed: int) -> bytes:
        """Returns the bytes that `seed` draws, once the device is done. Raises `GuardError` for a damaged guard."""
        for guard in self._guards:
            if self._device.read(guard, _GUARD_BYTES) != bytes([_GUARD]) * _GUARD_BYTES:
                raise GuardError("something was written beside a tensor")
        self._device.synchronize()
        return host_bytes(self.tensor, seed)

    def free(self) -> None:
        """Gives the memory back; nothing may use the tensor after that."""
        if self._base and self._is_own:
            self._device.free(self._base)
        self._base = 0

    @property
    def _guards(self) -> tuple[int, ...]:
        return (self._base, self.address + self.bytes) if self._base else ()


class Arguments:
    """The arguments of one call: tensors in buffers, numbers as they are. `like` has arguments of the same values.

    Tensors lie in `slab`, whose owner gives it back, or wherever the driver puts them.
    """

    def __init__(
        self,
        device: Device,
        values: Sequence[Value],
        host: frozenset[int],
        like: Arguments | None = None,
        slab: Slab | None = None,
    ) -> None:
        theirs = iter(like.buffers if like else ())
        self._all = [
            Buffer(device, v, pinned=i in host, like=next(theirs, None), slab=slab) if isinstance(v, TensorValue) else v
            for i, v in enumerate(values)
        ]

    @property
    def passed(self) -> list[object]:
        """Returns what the function is called with."""
        return [a.value if isinstance(a, ScalarValue) else None if a.value.null else a.tensor for a in self._all]

    @property
    def buffers(self) -> list[Buffer]:
        """The tensors, in order."""
        return [a for a in self._all if isinstance(a, Buffer)]

    def write(self, values: Sequence[Value]) -> None:
        """Writes new contents to all tensors."""
        for buffer, value in zip(self.buffers, (v for v in values if isinstance(v, TensorValue)), strict=True):
            buffer.write(raw(value))

    def read(self, seed: int) -> list[TensorValue]:
        """Returns the tensors as they are now, of large ones the parts that `seed` draws."""
        return [_filled(b.value, b.read(seed)) for b in self.buffers]

    def free(self) -> None:
        """Gives all memory back."""
        for buffer in self.buffers:
            buffer.free()


def without_memory(values: Sequence[Value], device: str = "cuda:0") -> list[object]:
    """Returns what a call is compiled for: tensors of the right sizes at an address that nothing may read or write."""
    return [v.value if isinstance(v, ScalarValue) else None if v.null else _placed(v, device) for v in values]


def _placed(value: TensorValue, device: str) -> torch.Tensor:
    """Returns a tensor on `device`, which has to be named with its number: PyTorch compares it with the tensor's."""
    count = value.count * value.dtype.bytes
    storage = torch._C._construct_storage_from_data_pointer(_NOWHERE, torch.device(device), count)
    return torch.empty(0, dtype=TORCH_TYPES[value.dtype], device=device).set_(storage).reshape(value.shape)


def guarded_bytes(value: TensorValue) -> int:
    """Returns what a tensor takes on the device, with the room around it."""
    return value.count * value.dtype.bytes + 2 * _GUARD_BYTES


def slab_bytes(values: Sequence[Value]) -> int:
    """Returns what the tensors among `values` take of a slab."""
    return sum(aligned(guarded_bytes(value)) for value in values if isinstance(value, TensorValue))


def raw(value: TensorValue) -> bytes:
    """Returns the bytes of a tensor, row by row."""
    return np.ascontiguousarray(value.storage).tobytes()


def host_bytes(tensor: torch.Tensor, seed: int) -> bytes:
    """Returns the bytes of a tensor, wherever it lies, row by row; of a large one the pages that `seed` draws."""
    if not tensor.numel():
        return b""
    raw = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    chosen = pages(raw.numel(), seed)
    if chosen is None:
        return raw.cpu().numpy().tobytes()
    whole, rest = divmod(raw.numel(), PAGE_BYTES)
    table = raw[: whole * PAGE_BYTES].view(whole, PAGE_BYTES)
    full = chosen[chosen < whole]
    looked_at = table[torch.from_numpy(full).to(raw.device)].cpu().numpy().tobytes()
    return looked_at + (raw[-rest:].cpu().numpy().tobytes() if rest else b"")


def tensor_of(dtype: DType, shape: tuple[int, ...], content: bytes) -> TensorValue:
    """Returns a tensor of which `content` is all there is to look at."""
    storage = np.frombuffer(content, dtype.storage)
    return TensorValue(dtype, shape, storage.reshape(shape) if storage.size == prod(shape) else storage)


def _filled(like: TensorValue, content: bytes) -> TensorValue:
    return tensor_of(like.dtype, like.shape, content)
