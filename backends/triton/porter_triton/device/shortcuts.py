"""Remembers what Triton's front end works out anew for each operation of an interpreted kernel.

Types, shapes and dtypes never change once they are made, and a kernel has few of them; without this, three quarters of
the time of an interpreted kernel goes into making them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton.language.semantic import TritonSemantic
from triton.runtime.interpreter import InterpreterBuilder


class _Scope(Protocol):
    """The scope in which Triton notes what it has replaced."""

    def set_attr(self, obj: object, name: str, value: object) -> None:
        """Replace an attribute."""


_DIV_OR_MOD = 4  # its place among the arguments
_Extents = Sequence[int | tl.constexpr]
_block_types: dict[tuple[str, tuple[int, ...]], tl.block_type] = {}
_shapes: dict[tuple[int, ...], tuple[tl.tuple, tl.constexpr]] = {}


def remember() -> None:
    """Put the shortcuts in place, for the life of a process that interprets."""
    tl.block_type.__init__ = _described(tl.block_type.__init__)
    tl.block_type.with_element_ty = lambda self, scalar: _tile(scalar, _extents(self))
    InterpreterBuilder.get_block_ty = lambda _self, scalar, shape: _tile(scalar, tuple(shape))
    tl.block_type.__eq__ = _equal
    tl.dtype.__eq__ = _either(tl.dtype.__eq__)
    tl.tensor.__init__ = _tensor
    triton_interpreter._patch_attr = _attribute
    TritonSemantic.binary_op_type_checking_impl = _operands(TritonSemantic.binary_op_type_checking_impl)
    TritonSemantic.broadcast_impl_value = _broadcast(TritonSemantic.broadcast_impl_value)
    triton_interpreter._get_np_dtype = _by_name(triton_interpreter._get_np_dtype)


def _extents(type_: tl.block_type) -> tuple[int, ...]:
    return tuple(type_.shape.values)


def _tile(scalar: tl.dtype, extents: tuple[int, ...]) -> tl.block_type:
    key = scalar.name, extents
    if key not in _block_types:
        _block_types[key] = tl.block_type(scalar, list(extents))
    return _block_types[key]


def _described(original: Callable[[tl.block_type, tl.dtype, _Extents], None]) -> Callable[..., None]:
    """The type of a tile, whose shape is looked at and whose name is written once for each element type and shape."""
    known: dict[tuple[str, tuple[int, ...]], tuple[tl.tuple, int, str]] = {}

    def described(self: tl.block_type, element_ty: tl.dtype, shape: _Extents) -> None:
        key = element_ty.name, tuple(e.value if isinstance(e, tl.constexpr) else e for e in shape)
        if key not in known:
            original(self, element_ty, shape)
            known[key] = self.shape, self.numel, self.name
        self.element_ty = element_ty
        self.shape, self.numel, self.name = known[key]

    return described


def _equal(self: tl.block_type, other: object) -> bool:
    if self is other:
        return True
    if not isinstance(other, tl.block_type) or _extents(self) != _extents(other):
        return False
    return bool(self.element_ty == other.element_ty)


def _either(original: Callable[[tl.dtype, object], bool]) -> Callable[[tl.dtype, object], bool]:
    return lambda self, other: self is other or original(self, other)


def _tensor(self: tl.tensor, handle: object, type: tl.dtype) -> None:
    extents = _extents(type) if type.is_block() else ()
    if extents not in _shapes:
        count = 1
        for extent in extents:
            count *= extent
        _shapes[extents] = tl.tuple([tl.constexpr(extent) for extent in extents]), tl.constexpr(count)
    self.handle, self.type, self.dtype = handle, type, type.scalar
    self.shape, self.numel = _shapes[extents]


def _by_name(original: Callable[[tl.dtype], np.dtype[np.generic]]) -> Callable[[tl.dtype], np.dtype[np.generic]]:
    known: dict[str, np.dtype[np.generic]] = {}

    def numpy_dtype(type_: tl.dtype) -> np.dtype[np.generic]:
        if type_.name not in known:
            known[type_.name] = original(type_)
        return known[type_.name]

    return numpy_dtype


_Pair = tuple[tl.tensor, tl.tensor]


def _operands(original: Callable[..., _Pair]) -> Callable[..., _Pair]:
    """Operands as they were made for others of the same types: in their common type, which is worked out once, and a
    number as the tile that it was.
    """
    types: dict[tuple[str, str, tuple[bool, ...]], tuple[tl.dtype, tl.dtype]] = {}
    numbers: dict[tuple[object, ...], tuple[tl.dtype, tl.tensor]] = {}

    def with_number(
        self: TritonSemantic, operand: tl.tensor, number: object, given: tuple[bool, ...], *, is_first: bool
    ) -> _Pair:
        # Programs in lockstep have a builder of their own, whose tiles have one more axis.
        key = operand.type.name, repr(number), is_first, given, type(self.builder)
        if key not in numbers:
            pair = original(self, *((number, operand) if is_first else (operand, number)), *given)
            numbers[key] = pair[is_first].type, pair[not is_first]
            return pair
        type_, made = numbers[key]
        operand = _of_type(self, operand, type_)
        return (made, operand) if is_first else (operand, made)

    def operands(self: TritonSemantic, left: object, right: object, *given: bool, **named: bool) -> _Pair:
        if named or not (isinstance(left, tl.tensor) or isinstance(right, tl.tensor)):
            return original(self, left, right, *given, **named)
        if not isinstance(right, tl.tensor):
            return with_number(self, left, right, given, is_first=False)
        if not isinstance(left, tl.tensor):
            return with_number(self, right, left, given, is_first=True)
        if left.type is right.type and len(given) < _DIV_OR_MOD and not left.dtype.is_ptr():
            return left, right
        key = left.type.name, right.type.name, given
        if key not in types:
            pair = original(self, left, right, *given)
            types[key] = pair[0].type, pair[1].type
            return pair
        left, right = _of_type(self, left, types[key][0]), _of_type(self, right, types[key][1])
        joined: _Pair = self.broadcast_impl_value(left, right)
        return joined

    return operands


def _of_type(semantic: TritonSemantic, value: tl.tensor, type_: tl.dtype) -> tl.tensor:
    """Returns `value` with the elements of a type."""
    return value if value.type.scalar is type_.scalar else semantic.cast(value, type_.scalar)


def _attribute(scope_of: object, name: str, member: Callable[..., object], builder: object, scope: _Scope) -> None:
    """A function of Triton's language within a kernel: given its semantic, without asking whether it has one."""
    semantic, inner = TritonSemantic(builder), getattr(member, "__wrapped__", member)

    def call(*given: object, **named: object) -> object:
        named["_semantic"] = semantic
        return inner(*given, **named)

    scope.set_attr(scope_of, name, call)


def _broadcast(
    original: Callable[[TritonSemantic, tl.tensor, tl.tensor], _Pair],
) -> Callable[[TritonSemantic, tl.tensor, tl.tensor], _Pair]:
    def broadcast(self: TritonSemantic, left: tl.tensor, right: tl.tensor) -> _Pair:
        blocks = left.type.is_block(), right.type.is_block()
        if blocks == (False, False) or (all(blocks) and _extents(left.type) == _extents(right.type)):
            return left, right
        if blocks == (True, False):
            type_ = left.type.with_element_ty(right.type.scalar)
            return left, self.tensor(self.builder.create_splat(type_, right.handle), type_)
        if blocks == (False, True):
            type_ = right.type.with_element_ty(left.type.scalar)
            return self.tensor(self.builder.create_splat(type_, left.handle), type_), right
        return original(self, left, right)

    return broadcast
