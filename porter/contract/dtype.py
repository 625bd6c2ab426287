"""Element types shared by contracts, the executor and comparison, as numpy sees them."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class DType(StrEnum):
    """Element types, named as torch names them."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    UINT64 = "uint64"
    UINT32 = "uint32"
    UINT16 = "uint16"
    UINT8 = "uint8"
    BOOL = "bool"

    @property
    def is_float(self) -> bool:
        """Whether values round."""
        return self in _MANTISSA_BITS

    @property
    def storage(self) -> np.dtype[np.generic]:
        """The numpy type of the raw bytes; bfloat16, unknown to numpy, is stored as uint16."""
        return np.dtype("uint16" if self is DType.BFLOAT16 else self.value)

    @property
    def bytes(self) -> int:
        """Size of one element in bytes."""
        return self.storage.itemsize

    @property
    def epsilon(self) -> float:
        """Distance from 1 to the next value; 0 for integers and bool."""
        return 2.0 ** -_MANTISSA_BITS[self] if self.is_float else 0.0


_MANTISSA_BITS = {DType.FLOAT64: 52, DType.FLOAT32: 23, DType.FLOAT16: 10, DType.BFLOAT16: 7}


def encode(values: NDArray[np.float64] | NDArray[np.int64], dtype: DType) -> NDArray[np.generic]:
    """`values` rounded to nearest-even in `dtype`, as raw storage."""
    if dtype is not DType.BFLOAT16:
        return values.astype(dtype.storage)
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def decode(storage: NDArray[np.generic], dtype: DType) -> NDArray[np.float64] | NDArray[np.int64]:
    """Raw storage as float64, or as int64 for integers and bool."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        if dtype is DType.BFLOAT16:
            return (storage.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        if dtype.is_float:
            return storage.astype(np.float64)
    return storage.astype(np.int64)
