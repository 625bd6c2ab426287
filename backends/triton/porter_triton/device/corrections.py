"""Corrects Triton's interpreter where it computes something else than what its compiler makes of the same text.

- bfloat16: there are constants of it; arithmetic and products of tiles go through float32; conversions round to nearest
  even, not towards zero.
- Products of tiles of float32 have operands of TF32, as on an NVIDIA device, unless `input_precision` says otherwise.
- minnum, maxnum: a number wins against NaN. fma: one rounding, where float64 can hold the product.
- An ordered `!=` is false on NaN.
- A comparison of scalars made a tile stays a truth value.
- `~` of unsigned integers, which the interpreter refuses.
- exp, log, sin and their like: numpy's for float32 are off by up to 4 ulps, a C library's or a device's by less than 1.
- A single lane outside the mask of a load has `other`, which the interpreter takes for none where it is zero.
- float to integer: what the type does not hold is converted as on an NVIDIA device.
- `reshape` and `cat` with `can_reorder`: elements come in another order than that in which they were.
- `multiple_of` of a number that is none is an error.
- Atomic operations on a part of a tile (`tl.split`): they took the elements that lie next to each other in the whole.
- Atomic additions of half and bfloat16: what is beyond the largest half becomes infinity, and bfloat16 is a type.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton._C.libtriton import ir
from triton.language.semantic import TritonSemantic
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle, _get_np_dtype

from porter.float_conversions import TRITON_BITS, converted
from porter_triton.device.combining import combine_tiles
from porter_triton.device.shortcuts import remember

Array = NDArray[Any]
_Operation = Callable[..., Array]
_FUNCTIONS: Mapping[str, _Operation] = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos,
    "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
_CASTS = ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc")


def correct() -> None:
    """Put the corrections in place, for the life of a process that interprets, and what makes it faster."""
    remember()
    combine_tiles()
    for name in ("unary_op", "binary_op", "ternary_op"):
        setattr(InterpreterBuilder, name, _through_float(getattr(InterpreterBuilder, name)))
    _correct_casts()
    InterpreterBuilder.get_bf16 = lambda _self, value: TensorHandle(
        _rounded(np.array([value], np.float32)), tl.bfloat16
    )
    InterpreterBuilder.create_minnumf = lambda self, x, y: self.binary_op(x, y, np.fmin)
    InterpreterBuilder.create_maxnumf = lambda self, x, y: self.binary_op(x, y, np.fmax)
    InterpreterBuilder.create_fcmpONE = lambda self, x, y: self.binary_op(x, y, lambda a, b: (a < b) | (a > b))
    InterpreterBuilder.get_all_ones_value = lambda _self, type_: TensorHandle(_ones(type_.scalar), type_.scalar)
    for name, function in _FUNCTIONS.items():
        setattr(InterpreterBuilder, f"create_{name}", _in_double(function))
    InterpreterBuilder.create_splat = _splat
    InterpreterBuilder.create_dot = _dot_as_on_a_device(InterpreterBuilder.create_dot)
    TritonSemantic._load_legacy = _with_zeros(TritonSemantic._load_legacy)
    InterpreterBuilder.create_fma = lambda self, x, y, z: self.ternary_op(x, y, z, _fma)
    InterpreterBuilder.create_atomic_rmw = _dense(_adding_narrow(InterpreterBuilder.create_atomic_rmw))
    InterpreterBuilder.create_atomic_cas = _dense(InterpreterBuilder.create_atomic_cas)
    InterpreterBuilder.create_reshape = _reordering(InterpreterBuilder.create_reshape)
    InterpreterBuilder.create_cat = lambda _self, x, y: TensorHandle(
        np.concatenate([y.data, x.data])[::-1], x.dtype.scalar
    )
    TensorHandle.set_attr = _keeping_its_word(TensorHandle.set_attr)


def _through_float(original: Callable[..., TensorHandle]) -> Callable[..., TensorHandle]:
    """`original`, with bfloat16 operands as float32 and the result rounded; np.where moves bits and needs neither."""

    def wrapped(self: InterpreterBuilder, *given: TensorHandle) -> TensorHandle:
        *operands, operation = given
        if operation is np.where or tl.bfloat16.name not in [x.dtype.scalar.name for x in operands]:
            return original(self, *given)
        result = original(self, *(_single(x) if x.dtype.scalar == tl.bfloat16 else x for x in operands), operation)
        if result.data.dtype == np.bool_:
            return TensorHandle(result.data, tl.int1)
        return TensorHandle(_rounded(result.data), tl.bfloat16)

    return wrapped


def _dot_as_on_a_device(original: Callable[..., TensorHandle]) -> Callable[..., TensorHandle]:
    """`original`, which multiplies the bits of bfloat16 as if they were numbers, and all of those of float32."""

    def wrapped(
        self: InterpreterBuilder, a: TensorHandle, b: TensorHandle, d: TensorHandle, *how: object
    ) -> TensorHandle:
        narrow = d.dtype.scalar == tl.bfloat16
        if how[0] == ir.INPUT_PRECISION.TF32:
            a, b = (_tf32(x) if x.dtype.scalar == tl.float32 else x for x in (a, b))
        result = original(self, *(_single(x) if x.dtype.scalar == tl.bfloat16 else x for x in (a, b, d)), *how)
        return TensorHandle(_rounded(result.data), tl.bfloat16) if narrow else result

    return wrapped


def _in_double(function: _Operation) -> Callable[[InterpreterBuilder, TensorHandle], TensorHandle]:
    """A function of floats, computed in double precision and rounded once."""

    def rounded_once(values: Array) -> Array:
        return function(values.astype(np.float64)).astype(values.dtype)

    return lambda self, x: self.unary_op(x, rounded_once)


def _splat(_self: InterpreterBuilder, tile: tl.block_type, value: TensorHandle) -> TensorHandle:
    type_ = tl.int1 if value.data.dtype == np.bool_ else value.dtype.scalar
    filled = np.empty(tuple(map(int, tile.shape)), value.data.dtype)
    filled.fill(value.data.reshape(-1)[0])
    return TensorHandle(filled, type_)


def _with_zeros(original: Callable[..., tl.tensor]) -> Callable[..., tl.tensor]:
    """`original`, a load, which asks of an `other` of one lane whether it is true before it passes it on."""

    def load(
        self: TritonSemantic, pointer: tl.tensor, mask: tl.tensor | None, other: tl.tensor | None, *hints: object
    ) -> tl.tensor:
        if mask is None or other is None or pointer.handle.data.size > 1 or mask.handle.data.all():
            return original(self, pointer, mask, other, *hints)
        _, value = self.broadcast_impl_value(pointer, other)
        return self.cast(value, pointer.type.scalar.element_ty)

    return load


def _correct_casts() -> None:
    original = InterpreterBuilder.cast_impl

    def cast_impl(self: InterpreterBuilder, value: TensorHandle, type_: tl.dtype) -> TensorHandle:
        source, target = value.dtype.scalar, type_.scalar
        if value.data.dtype == np.bool_ and source != tl.int1:  # a comparison, which has the type of its operands
            value, source = TensorHandle(value.data, tl.int1), tl.int1
        if source == tl.bfloat16:
            value, source = _single(value), tl.float32
        if source == target:
            return value
        if target == tl.bfloat16:
            return TensorHandle(_rounded(value.data.astype(np.float32)), target)
        if source.is_floating() and target.is_int() and target != tl.int1:
            whole, is_double = np.dtype(_get_np_dtype(target)), source == tl.float64
            made = converted(value.data, whole, is_double=is_double, least_bits=TRITON_BITS)
            return TensorHandle(made, target)
        return original(self, value, type_)

    InterpreterBuilder.cast_impl = cast_impl
    for name in _CASTS:
        setattr(InterpreterBuilder, f"create_{name}", cast_impl)


def _single(value: TensorHandle) -> TensorHandle:
    """A bfloat16 as a float32."""
    return TensorHandle((value.data.astype(np.uint32) << 16).view(np.float32), tl.float32)


def _tf32(value: TensorHandle) -> TensorHandle:
    """A float32 of which the last 13 bits are not there: what tensor cores take of it."""
    bits = np.ascontiguousarray(value.data, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return TensorHandle(bits.view(np.float32), tl.float32)


def _rounded(value: Array) -> Array:
    """The bits of the bfloat16 nearest to each float32, halfway to the even one."""
    bits = np.ascontiguousarray(value, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(value), np.uint32(0x7FC0), rounded).astype(np.uint16).reshape(np.shape(value))


def _dense(original: Callable[..., TensorHandle]) -> Callable[..., TensorHandle]:
    """Returns `original`, an operation that goes through memory as if its operands lay there without gaps, for any."""

    def update(self: InterpreterBuilder, *given: object) -> TensorHandle:
        operands = (
            TensorHandle(np.ascontiguousarray(x.data), x.dtype) if isinstance(x, TensorHandle) else x for x in given
        )
        return original(self, *operands)

    return update


def _adding_narrow(original: Callable[..., TensorHandle]) -> Callable[..., TensorHandle]:
    """`original`, an atomic operation; additions of 16-bit floats lane by lane, each rounded."""

    def update(
        self: InterpreterBuilder,
        operation: object,
        pointers: TensorHandle,
        value: TensorHandle,
        mask: TensorHandle,
        *hints: object,
    ) -> TensorHandle:
        type_ = value.dtype.scalar
        if operation != ir.ATOMIC_OP.FADD or type_ not in (tl.float16, tl.bfloat16):
            return original(self, operation, pointers, value, mask, *hints)
        before = np.zeros_like(value.data)
        for lane in np.flatnonzero(mask.data):
            cell = np.ctypeslib.as_array((ctypes.c_uint16 * 1).from_address(int(pointers.data.flat[lane])))
            before.flat[lane] = cell.view(before.dtype)[0]
            held, added = (TensorHandle(x.flat[lane : lane + 1], type_) for x in (before, value.data))
            cell.view(before.dtype)[:] = _sum(held, added)
        return TensorHandle(before, type_)

    return update


def _sum(left: TensorHandle, right: TensorHandle) -> Array:
    """The sum of numbers of one 16-bit type, as it stores them."""
    with np.errstate(over="ignore", invalid="ignore"):
        if left.dtype.scalar == tl.bfloat16:
            return _rounded(_single(left).data + _single(right).data)
        total: Array = left.data + right.data
        return total


def _reordering(original: Callable[..., TensorHandle]) -> Callable[..., TensorHandle]:
    """`original`, a reshaping, which keeps the order of elements also where the text says that nobody needs it."""

    def reshaped(
        self: InterpreterBuilder, given: TensorHandle, shape: Sequence[int], may_reorder: bool
    ) -> TensorHandle:
        if may_reorder:
            given = TensorHandle(given.data.reshape(-1)[::-1], given.dtype)
        return original(self, given, shape, may_reorder)

    return reshaped


def _keeping_its_word(original: Callable[..., None]) -> Callable[..., None]:
    """`original`, which notes what a compiler may take for granted: a number is a multiple of what the text says."""

    def set_attr(self: TensorHandle, name: str, values: Sequence[int]) -> None:
        is_number = name == "tt.divisibility" and self.data.size == 1 and self.dtype.scalar.is_int()
        if is_number and int(self.data.flat[0]) % values[0]:
            raise AssertionError(f"{int(self.data.flat[0])} is not a multiple of {values[0]}")
        original(self, name, values)

    return set_attr


def _fma(x: Array, y: Array, z: Array) -> Array:
    wide = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
    return wide.astype(z.dtype)


def _ones(type_: tl.dtype) -> Array:
    return np.array([True] if type_ == tl.int1 else [-1]).astype(_get_np_dtype(type_))
