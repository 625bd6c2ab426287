"""Whole numbers, truth values and addresses as numpy computes them: they wrap around, division truncates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from porter.ir.simt.interpret.domain import Data, numpy_type
from porter.ir.simt.types import Scalar, Type


def _divided(a: Data, b: Data) -> Data:
    down: Data = a // b
    return down + ((a - down * b != 0) & ((a < 0) != (b < 0))).astype(down.dtype)  # type: ignore[no-any-return]


def _remainder(a: Data, b: Data) -> Data:
    return np.fmod(a, b)


def _upper_half(a: Data, b: Data) -> Data:
    bits = a.dtype.itemsize * 8
    exact = [np.atleast_1d(operand).astype(object) for operand in (a, b)]  # numbers of Python
    product: Data = (exact[0] * exact[1] >> bits).astype(a.dtype)
    return product if np.ndim(a) or np.ndim(b) else product.reshape(())


def _bits(a: Data) -> Data:
    """The bits of each element, the highest first, along a new last axis."""
    a = np.asarray(a)
    raw = np.ascontiguousarray(a.astype(a.dtype.newbyteorder(">"))).view(np.uint8)
    return np.unpackbits(raw.reshape(*a.shape, a.dtype.itemsize), axis=-1)


def _leading_zeros(a: Data) -> Data:
    bits = _bits(a)
    return np.where(bits.any(axis=-1), bits.argmax(axis=-1), bits.shape[-1]).astype(a.dtype)


def _reversed(a: Data) -> Data:
    raw = np.packbits(_bits(a)[..., ::-1], axis=-1)
    native = raw.view(a.dtype.newbyteorder(">")).reshape(np.shape(a))
    return native.astype(a.dtype)


_OPERATIONS: Mapping[str, Callable[..., Data]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divided,
    "rem": _remainder,
    "mulhi": _upper_half,
    "min": np.minimum,
    "max": np.maximum,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "neg": lambda a: (0 - a.astype(np.int64)).astype(a.dtype) if a.dtype.itemsize < 8 else np.negative(a),
    "abs": np.abs,
    "popc": lambda a: _bits(a).sum(axis=-1).astype(a.dtype),
    "clz": _leading_zeros,
    "brev": _reversed,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def apply(kind: str, result: Type, *operands: Data) -> Data:
    """Returns the operation `kind`, which has a result of the type `result`. Raises `KeyError` for another one."""
    if kind == "cast":
        return operands[0] != 0 if result is Scalar.BOOL else operands[0].astype(numpy_type(result))
    if kind == "bitcast":
        return operands[0].view(numpy_type(result))
    return _OPERATIONS[kind](*operands)
