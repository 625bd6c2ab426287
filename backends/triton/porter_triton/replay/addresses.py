"""Addresses as numbers: how far one lies from a boundary and whether it is null are the same on every device.

Nothing else of them is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, _get_np_dtype

# Bytes. The judge's buffers begin at multiples of 256, as drivers' allocations do; the widest access is of 16.
_BOUNDARY = 16
_BITS = 64  # of an address, which another integer of as many holds, too

Operation = Callable[[InterpreterBuilder, TensorHandle, TensorHandle], TensorHandle]


class Address(TensorHandle):  # type: ignore[misc]
    """A pointer as an integer, which only its methods may read."""

    def __init__(self, pointers: NDArray[np.uint64], type_: tl.dtype) -> None:
        self.addresses = pointers
        self.dtype = type_
        self.attr: dict[str, object] = {}

    @property
    def data(self) -> NDArray[np.generic]:
        """Raises: the number is another on a device."""
        raise NotImplementedError("it computes with the address of a tensor, which is another on a device")

    @data.setter
    def data(self, _: NDArray[np.generic]) -> None:
        raise NotImplementedError("it sets the address of a tensor")

    def offset_within(self, bytes_: NDArray[np.generic]) -> TensorHandle:
        """Returns the distance from the last multiple of `bytes_`, in the integer type of the address."""
        offset = self.addresses % bytes_.astype(np.uint64)
        return TensorHandle(offset.astype(_get_np_dtype(self.dtype)), self.dtype)

    @property
    def is_given(self) -> TensorHandle:
        """Returns 0 for a null pointer and 1 for any other, in the integer type of the address."""
        return TensorHandle((self.addresses != 0).astype(_get_np_dtype(self.dtype)), self.dtype)


def watch_addresses() -> None:
    """Lets kernels ask how their tensors are aligned, `address & 15` or `address % 16`, and whether they are null."""

    def create_ptr_to_int(_builder: InterpreterBuilder, pointers: TensorHandle, type_: tl.dtype) -> TensorHandle:
        return Address(pointers.data.astype(np.uint64), type_.scalar)

    cast = InterpreterBuilder.create_int_cast

    def create_int_cast(
        builder: InterpreterBuilder, value: TensorHandle, type_: tl.dtype, signed: bool
    ) -> TensorHandle:
        if isinstance(value, Address) and type_.scalar.primitive_bitwidth == _BITS:
            return Address(value.addresses, type_.scalar)
        return cast(builder, value, type_, signed)

    InterpreterBuilder.create_ptr_to_int = create_ptr_to_int
    InterpreterBuilder.create_int_cast = create_int_cast
    InterpreterBuilder.create_and = _aligned(InterpreterBuilder.create_and, beyond=1)
    InterpreterBuilder.create_urem = _aligned(InterpreterBuilder.create_urem, beyond=0)
    InterpreterBuilder.create_srem = _aligned(InterpreterBuilder.create_srem, beyond=0)
    InterpreterBuilder.create_icmpEQ = _against_null(InterpreterBuilder.create_icmpEQ)
    InterpreterBuilder.create_icmpNE = _against_null(InterpreterBuilder.create_icmpNE)


def _aligned(operation: Operation, beyond: int) -> Operation:
    """Returns `operation`, which takes an address and a number that is `beyond` less than a power of two, too."""

    def applied(builder: InterpreterBuilder, left: TensorHandle, right: TensorHandle) -> TensorHandle:
        if beyond and isinstance(right, Address):
            left, right = right, left
        if isinstance(left, Address) and not isinstance(right, Address):
            edges = right.data.astype(np.int64) + beyond
            if ((edges > 0) & (edges <= _BOUNDARY) & (edges & (edges - 1) == 0)).all():
                return left.offset_within(edges)
        return operation(builder, left, right)

    return applied


def _against_null(operation: Operation) -> Operation:
    """Returns the comparison `operation`, which takes an address and 0, too."""

    def applied(builder: InterpreterBuilder, left: TensorHandle, right: TensorHandle) -> TensorHandle:
        if isinstance(right, Address):
            left, right = right, left
        if isinstance(left, Address) and not isinstance(right, Address) and not right.data.any():
            left = left.is_given
        return operation(builder, left, right)

    return applied
