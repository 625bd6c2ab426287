"""Buffers of bytes: the memory of numbers.

An address is a buffer's number above `_BITS` and a byte of it below. What is not a buffer's own, lies between two rows
of one, or is not aligned, is an error, and so is address 0. Bytes that nobody has written are 0xff, floats NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porter.contract.model.dtype import DType, decode, encode
from porter.ir.simt.interpret.domain import Data, Datum, ExecutionError, Mask, numpy_type
from porter.ir.simt.types import Element, Scalar, Vector

_BITS = 40
_INSIDE = (1 << _BITS) - 1
_NULL = 1 << 20  # bytes behind address 0 that a null pointer may reach
_ROW = 64  # what the distance of rows is a multiple of; there are as many bytes between two at least


@dataclass
class _Buffer:
    """`rows` of `size` bytes, `stride` apart."""

    bytes: NDArray[np.uint8]
    size: int
    stride: int


class Bytes:
    """The memory of numbers."""

    def __init__(self) -> None:
        self._buffers: dict[int, _Buffer] = {}
        self._next = 1

    def hold(self, content: bytes | NDArray[np.uint8]) -> int:
        """Returns the address of a new buffer with this content."""
        address, _ = self.allocate(len(content), 1)
        self._buffers[address >> _BITS].bytes[: len(content)] = np.frombuffer(bytes(content), np.uint8)
        return address

    def held(self, address: int) -> NDArray[np.uint8]:
        """Returns the bytes of the buffer at `address`."""
        buffer = self._buffers[address >> _BITS]
        return buffer.bytes[: buffer.size]

    def allocate(self, size_bytes: int, rows: int) -> tuple[int, int]:
        """Makes `rows` memories of `size_bytes`, which hold nothing."""
        stride = -(-size_bytes // _ROW) * _ROW + _ROW
        number, self._next = self._next, self._next + 1
        self._buffers[number] = _Buffer(np.full(stride * rows, 0xFF, np.uint8), size_bytes, stride)
        return number << _BITS, stride

    def free(self, address: int) -> None:
        """Takes back what was allocated at `address`."""
        del self._buffers[address >> _BITS]

    def load(self, addresses: Data, mask: Mask, type: Element, *, noted: bool = False) -> Datum:  # noqa: ARG002
        """Returns the elements at `addresses` in the lanes of `mask`, garbage elsewhere."""
        if isinstance(type, Vector):
            self._check_aligned(addresses, mask, type)
            steps = range(0, type.bytes, type.element.bytes)
            return tuple(self._loaded(addresses + step, mask, type.element) for step in steps)
        return self._loaded(addresses, mask, type)

    def store(
        self,
        addresses: Data,
        value: Datum,
        mask: Mask,
        predicate: Data | None,
        type: Element,
        *,
        noted: bool = False,  # noqa: ARG002 - nobody asks for the order of accesses
    ) -> None:
        """Puts `value` at `addresses` in the lanes of `mask`, the last of several."""
        assert predicate is None
        if isinstance(type, Vector):
            self._check_aligned(addresses, mask, type)
            for number, part in enumerate(value):
                self._put(addresses + number * type.element.bytes, part, mask, type.element)
        else:
            assert isinstance(value, np.ndarray | np.generic)
            self._put(addresses, value, mask, type)

    def note_updates(self, addresses: Data, mask: Mask, kind: str, type: Scalar) -> Mask:  # noqa: ARG002
        """Returns no lane: what atomics find is that of the order in which lanes take turns."""
        return np.zeros(mask.shape, np.bool_)

    def _loaded(self, addresses: Data, mask: Mask, type_: Scalar) -> Data:
        uniform = np.ndim(addresses) == 0
        lanes = np.broadcast_to(addresses, mask.shape)[mask][: 1 if uniform else None]
        found = np.zeros(lanes.shape, numpy_type(type_))
        for buffer, taking, at in self._places(lanes, type_):
            found[taking] = _decoded(buffer.bytes.view(_raw(type_))[at], type_)
        if uniform:
            return found[0] if found.size else np.zeros((), numpy_type(type_))
        result = np.zeros(mask.shape, numpy_type(type_))
        result[mask] = found
        return result

    def _put(self, addresses: Data, value: Data, mask: Mask, type_: Scalar) -> None:
        lanes = np.broadcast_to(addresses, mask.shape)[mask]
        stored = np.broadcast_to(value, mask.shape)[mask]
        for buffer, taking, at in self._places(lanes, type_):
            buffer.bytes.view(_raw(type_))[at] = _encoded(stored[taking], type_)

    def _places(self, addresses: Data, type_: Scalar) -> list[tuple[_Buffer, Data, Data]]:
        """Returns each buffer with the addresses that lie in it, and their elements there."""
        found = []
        numbers = addresses >> _BITS
        for number in np.unique(numbers).tolist():
            taking = numbers == number
            offsets = addresses[taking] & _INSIDE
            buffer = self._buffers.get(number)
            if buffer is None:
                is_null = number == 0 and offsets.min() < _NULL
                raise ExecutionError("an access through a null pointer" if is_null else "an access to no memory")
            outside = (offsets >= buffer.bytes.size) | (offsets % buffer.stride + type_.bytes > buffer.size)
            if outside.any():
                at = int((offsets[outside] % buffer.stride)[0])
                raise ExecutionError(f"an access at byte {at} of a memory of {buffer.size} bytes")
            if (offsets % type_.bytes).any():
                raise ExecutionError(f"an access that is not aligned to {type_.bytes} bytes")
            found.append((buffer, taking, offsets // type_.bytes))
        return found

    @staticmethod
    def _check_aligned(addresses: Data, mask: Mask, type_: Vector) -> None:
        if (np.broadcast_to(addresses, mask.shape)[mask] % type_.alignment).any():
            raise ExecutionError(f"an access that is not aligned to {type_.alignment} bytes")


def _raw(type_: Scalar) -> np.dtype[np.generic]:
    if type_ is Scalar.BOOL:
        return np.dtype(np.uint8)
    return np.dtype(np.uint16) if type_ is Scalar.BF16 else numpy_type(type_)


def _decoded(raw: Data, type_: Scalar) -> Data:
    if type_ is Scalar.BOOL:
        return np.not_equal(raw, 0)
    return decode(raw, DType.BFLOAT16).astype(np.float32) if type_ is Scalar.BF16 else raw


def _encoded(value: Data, type_: Scalar) -> Data:
    return encode(value.astype(np.float64), DType.BFLOAT16) if type_ is Scalar.BF16 else value
