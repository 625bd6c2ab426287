"""Defines the element types shared by contracts, the executor and comparison, as numpy sees them."""

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
    FLOAT8_E4M3FN = "float8_e4m3fn"
    FLOAT8_E5M2 = "float8_e5m2"
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
        """Returns whether values round."""
        return self in _MANTISSA_BITS

    @property
    def storage(self) -> np.dtype[np.generic]:
        """The numpy type of the raw bytes; floats unknown to numpy are stored as unsigned integers."""
        return np.dtype(_RAW.get(self, self.value))

    @property
    def bytes(self) -> int:
        """The size of one element in bytes."""
        return self.storage.itemsize

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next value; 0 for integers and bool."""
        return 2.0 ** -_MANTISSA_BITS[self] if self.is_float else 0.0


_MANTISSA_BITS = {
    DType.FLOAT64: 52, DType.FLOAT32: 23, DType.FLOAT16: 10, DType.BFLOAT16: 7, DType.FLOAT8_E4M3FN: 3,
    DType.FLOAT8_E5M2: 2,
}  # fmt: skip
_RAW = {DType.BFLOAT16: "uint16", DType.FLOAT8_E4M3FN: "uint8", DType.FLOAT8_E5M2: "uint8"}
_FLOAT8_SIGN = 0x80
_FLOAT8_NAN = 0x7F


def encode(values: NDArray[np.float64] | NDArray[np.int64], dtype: DType) -> NDArray[np.generic]:
    """Returns `values` rounded to nearest-even in `dtype`, as raw storage; 8-bit floats end at their largest one."""
    if dtype in (DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2):
        return _encode_float8(np.asarray(values, np.float64), _float8_values(dtype))
    if dtype is not DType.BFLOAT16:
        return values.astype(dtype.storage)
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16)


def decode(storage: NDArray[np.generic], dtype: DType) -> NDArray[np.float64] | NDArray[np.int64]:
    """Returns raw storage as float64, or as int64 for integers and bool."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        if dtype is DType.BFLOAT16:
            return (storage.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        if dtype in (DType.FLOAT8_E4M3FN, DType.FLOAT8_E5M2):
            codes = storage.astype(np.uint8)
            magnitudes = _float8_values(dtype)[codes & _FLOAT8_NAN]
            return np.where(codes & _FLOAT8_SIGN, -magnitudes, magnitudes)
        if dtype.is_float:
            return storage.astype(np.float64)
    return storage.astype(np.int64)


def _float8_values(dtype: DType) -> NDArray[np.float64]:
    """Returns the values of the 128 codes without a sign; E4M3FN has no infinity and one NaN, E5M2 is like IEEE."""
    bits = _MANTISSA_BITS[dtype]
    codes = np.arange(_FLOAT8_SIGN)
    exponents, fractions = codes >> bits, (codes & ((1 << bits) - 1)) / (1 << bits)
    bias = (1 << (6 - bits)) - 1
    values = np.where(exponents == 0, np.ldexp(fractions, 1 - bias), np.ldexp(1 + fractions, exponents - bias))
    if dtype is DType.FLOAT8_E5M2:
        values[exponents == exponents[-1]] = [np.inf, np.nan, np.nan, np.nan]
    values[_FLOAT8_NAN] = np.nan
    return values


def _encode_float8(values: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.generic]:
    finite = table[np.isfinite(table)]
    magnitudes = np.abs(values)
    above = np.searchsorted(finite, magnitudes).clip(1, finite.size - 1)
    below = above - 1
    down, up = magnitudes - finite[below], finite[above] - magnitudes
    nearest = np.where((down < up) | ((down == up) & (below % 2 == 0)), below, above)
    codes = np.where(np.isnan(values), _FLOAT8_NAN, nearest).astype(np.uint8)
    return np.bitwise_or(codes, np.where(np.signbit(values), _FLOAT8_SIGN, 0).astype(np.uint8))
