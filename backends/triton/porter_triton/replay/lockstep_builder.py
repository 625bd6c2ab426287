"""Operations of Triton's interpreter on arrays whose first axis is that of the programs (`lockstep.py`).

What works element by element is the interpreter's own, with porter's corrections. Here are the operations that make
arrays, or have to do with their axes, and those that programs in lockstep must not do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import triton.language as tl
from triton.language.semantic import TritonSemantic
from triton.runtime import interpreter
from triton.runtime.interpreter import (
    InterpreterBuilder,
    ReduceOps,
    ReduceScanOpInterface,
    ScanOps,
    TensorHandle,
    interpreter_builder,
)

from porter_triton.replay.lockstep import Array, Lockstep, NotInLockstepError

_CONSTANTS = [name for name in dir(InterpreterBuilder) if name.startswith(("get_int", "get_uint", "get_fp"))]
_CONSTANTS = [name for name in (*_CONSTANTS, "get_bf16") if not name.endswith("_ty")]
_APART = (
    "create_atomic_cas", "create_atomic_rmw", "create_print", "create_histogram", "create_inline_asm",
    "create_make_block_ptr", "create_make_tensor_descriptor", "create_descriptor_load", "create_descriptor_store",
    "create_descriptor_gather", "create_descriptor_scatter", "create_tensor_pointer_load",
    "create_tensor_pointer_store",
)  # fmt: skip


class LockstepBuilder(InterpreterBuilder):  # type: ignore[misc]
    """Triton's builder of interpreted operations while programs run in lockstep."""

    lockstep: Lockstep

    def create_get_program_id(self, axis: int) -> TensorHandle:
        """Returns the place of each program along an axis of the grid."""
        return TensorHandle(self.lockstep.place(axis), tl.int32)

    def create_get_num_programs(self, axis: int) -> TensorHandle:
        """Returns the extent of the grid along an axis."""
        return TensorHandle(np.array([[self.lockstep.extent(axis)]], np.int32), tl.int32)

    def create_make_range(self, _type: tl.dtype, start: int, stop: int) -> TensorHandle:
        """Returns consecutive numbers, the same for all programs."""
        return TensorHandle(np.arange(start, stop, dtype=np.int32)[None], tl.int32)

    def create_reshape(self, given: TensorHandle, shape: Sequence[int], may_reorder: bool) -> TensorHandle:
        """Returns the tile in another shape; in another order, where the text says that nobody needs this one."""
        data = given.data.reshape(len(given.data), -1)
        return TensorHandle(_shaped(data[:, ::-1] if may_reorder else data, shape), given.dtype.scalar)

    def create_trans(self, given: TensorHandle, order: Sequence[int]) -> TensorHandle:
        """Returns the tile with its axes in another order."""
        return TensorHandle(np.transpose(given.data, (0, *(axis + 1 for axis in order))), given.dtype.scalar)

    def create_expand_dims(self, given: TensorHandle, axis: int) -> TensorHandle:
        """Returns the tile with one more axis."""
        return TensorHandle(np.expand_dims(given.data, axis + 1), given.dtype.scalar)

    def create_broadcast(self, given: TensorHandle, shape: Sequence[int]) -> TensorHandle:
        """Returns the tile, repeated along axes of the extent 1."""
        return TensorHandle(np.broadcast_to(given.data, (len(given.data), *shape)), given.dtype.scalar)

    def create_splat(self, tile: tl.block_type, value: TensorHandle) -> TensorHandle:
        """Returns a tile full of a number."""
        type_ = tl.int1 if value.data.dtype == np.bool_ else value.dtype.scalar
        numbers = value.data.reshape(-1)
        filled = np.empty((len(numbers), *map(int, tile.shape)), numbers.dtype)
        filled[...] = numbers.reshape(-1, *(1 for _ in tile.shape))
        return TensorHandle(filled, type_)

    def create_unsplat(self, given: TensorHandle) -> TensorHandle:
        """Returns the number that a tile is full of."""
        return TensorHandle(given.data.reshape(len(given.data), -1)[:, :1], given.dtype)

    def create_cat(self, first: TensorHandle, second: TensorHandle) -> TensorHandle:
        """Returns the elements of both tiles, in another order than that in which they were."""
        both = np.concatenate(_alike(second.data, first.data), axis=1)
        return TensorHandle(both[:, ::-1], first.dtype.scalar)

    def create_join(self, first: TensorHandle, second: TensorHandle) -> TensorHandle:
        """Returns pairs of the elements of both tiles."""
        return TensorHandle(np.stack(_alike(first.data, second.data), axis=-1), first.dtype.scalar)

    def create_gather(self, source: TensorHandle, index: TensorHandle, axis: int) -> TensorHandle:
        """Returns the elements of a tile that an index names."""
        if ((index.data < 0) | (index.data >= source.data.shape[axis + 1])).any():
            raise NotInLockstepError("a gather from outside of a tile")
        self.lockstep.exchanged(source.data.shape[1:])
        count = max(len(source.data), len(index.data))
        data, places = (np.broadcast_to(d, (count, *d.shape[1:])) for d in (source.data, index.data))
        return TensorHandle(np.take_along_axis(data, places, axis=axis + 1), source.dtype.scalar)


def _shaped(data: Array, shape: Sequence[int]) -> Array:
    return data.reshape(len(data), *map(int, shape))


def _alike(*arrays: Array) -> list[Array]:
    """Returns arrays with as many programs each."""
    count = max(map(len, arrays))
    return [np.broadcast_to(array, (count, *array.shape[1:])) for array in arrays]


def _refuse(name: str) -> Callable[..., TensorHandle]:
    def refuse(*_given: object, **_named: object) -> TensorHandle:
        raise NotInLockstepError(name)

    return refuse


def _for_all(name: str) -> Callable[..., TensorHandle]:
    """Returns the method of the builder that makes a constant, as that of all programs."""
    original = getattr(InterpreterBuilder, name)

    def constant(self: InterpreterBuilder, *given: object) -> TensorHandle:
        made = original(self, *given)
        return TensorHandle(made.data[None], made.dtype)

    return constant


def complete(lockstep: Lockstep) -> None:
    """Puts the rest in place, once porter's corrections are, for the life of a process that interprets."""
    LockstepBuilder.lockstep = lockstep
    for name in (*_CONSTANTS, "get_null_value", "get_all_ones_value"):
        setattr(LockstepBuilder, name, _for_all(name))
    for name in _APART:
        setattr(LockstepBuilder, name, _refuse(name))
    for operations in (ReduceOps, ScanOps):
        operations.apply_impl = _along_tiles(operations.apply_impl)
    ReduceScanOpInterface.to_tensor = _with_rows(ReduceScanOpInterface.to_tensor)
    TensorHandle.set_attr = _asking_all(TensorHandle.set_attr)
    TritonSemantic._load_legacy = _for_what_is_there(TritonSemantic._load_legacy)
    TritonSemantic._store_legacy = _for_what_is_there(TritonSemantic._store_legacy)
    tl.tensor.__bool__ = _deciding(lockstep, tl.tensor.__bool__)
    tl.tensor.__index__ = lambda tensor: int(_number(lockstep, tensor.handle.data))
    tl.tensor.T = property(_transposed)


def is_on() -> bool:
    """Returns whether operations are those of programs in lockstep."""
    return isinstance(interpreter_builder, LockstepBuilder)


@contextmanager
def in_lockstep() -> Iterator[None]:
    """Makes operations those of programs in lockstep."""
    interpreter_builder.__class__ = LockstepBuilder
    try:
        yield
    finally:
        interpreter_builder.__class__ = InterpreterBuilder


def for_all_programs(argument: object) -> object:
    """Returns an argument of a kernel as that of all programs."""
    if isinstance(argument, tl.tensor):
        if not isinstance(argument.handle, TensorHandle):
            raise NotInLockstepError("a descriptor")
        return tl.tensor(TensorHandle(argument.handle.data[None], argument.handle.dtype), argument.type)
    if isinstance(argument, tuple):
        items: list[Any] = [for_all_programs(item) for item in argument]
        return type(argument)(*items) if hasattr(argument, "_fields") else type(argument)(items)
    return argument


def _number(lockstep: Lockstep, data: Array) -> Any:  # noqa: ANN401 - a number
    return lockstep.one(data) if is_on() else data.item()


def _deciding(lockstep: Lockstep, original: Callable[[tl.tensor], bool]) -> Callable[[tl.tensor], bool]:
    """Returns `original`, the truth of a tensor, as that of all programs; of a tile it is only whether there is one."""

    def truth(tensor: tl.tensor) -> bool:
        if not is_on():
            return original(tensor)
        data = tensor.handle.data
        return _present[0] or data[0].size != 1 or bool(lockstep.one(data.astype(np.bool_)))

    return truth


_present = [False]  # whether the truth of a tensor is that there is one


def _for_what_is_there(original: Callable[..., tl.tensor]) -> Callable[..., tl.tensor]:
    """Returns `original`, a load or a store, which asks whether a number is true to learn whether it was given one."""

    def access(self: TritonSemantic, pointer: tl.tensor, *given: object) -> tl.tensor:
        if not is_on():
            return original(self, pointer, *given)
        rows = TensorHandle(self.builder.lockstep.rows(pointer.handle.data), pointer.handle.dtype)
        _present[0] = True
        try:
            return original(self, tl.tensor(rows, pointer.type), *given)
        finally:
            _present[0] = False

    return access


def _asking_all(original: Callable[..., None]) -> Callable[..., None]:
    """Returns `original`, which notes what a number is a multiple of, for the number of each program."""

    def set_attr(self: TensorHandle, name: str, values: Sequence[int]) -> None:
        if not is_on() or self.data[0].size != 1:
            original(self, name, values)
            return
        for number in np.unique(self.data):
            original(TensorHandle(number.reshape(1), self.dtype), name, values)

    return set_attr


def _transposed(tensor: tl.tensor) -> tl.tensor:
    shape = list(tensor.type.shape)
    shape[-1], shape[-2] = shape[-2], shape[-1]
    handle = TensorHandle(np.swapaxes(tensor.handle.data, -1, -2), tensor.handle.dtype)
    return tl.tensor(handle, tl.block_type(tensor.dtype, shape))


def _along_tiles(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns `original`, a reduction or a scan, along an axis of tiles whose first axis is that of the programs."""

    def apply(self: ReduceOps | ScanOps, tiles: Sequence[tl.tensor]) -> Any:  # noqa: ANN401 - one or several
        if not is_on():
            return original(self, tiles)
        axis, rank = self.axis, tiles[0].handle.data.ndim - 1
        if axis is None:
            tiles = tuple(self.to_tensor(t.handle.data.reshape(len(t.handle.data), -1), t.dtype) for t in tiles)
        self.axis = 1 if axis is None else axis + 1 if axis >= 0 else axis
        made = original(self, tiles)
        self.axis = axis
        if axis is not None or not self.keep_dims:
            return made
        several = isinstance(made, (list, tuple))
        kept = [_kept(self, tensor, rank) for tensor in (made if several else (made,))]
        return kept if several else kept[0]

    return apply


def _kept(self: ReduceOps, tensor: tl.tensor, rank: int) -> tl.tensor:
    data = tensor.handle.data
    return self.to_tensor(data.reshape(len(data), *(1 for _ in range(rank))), tensor.dtype)


def _with_rows(original: Callable[..., tl.tensor]) -> Callable[..., tl.tensor]:
    """Returns `original`, which makes a tensor of an array, for one whose first axis is that of the programs."""

    def to_tensor(self: ReduceScanOpInterface, data: Array, dtype: tl.dtype) -> tl.tensor:
        if not is_on():
            return original(self, data, dtype)
        typed = data.astype(interpreter._get_np_dtype(dtype))
        if typed.ndim == 1:
            return tl.tensor(TensorHandle(typed[:, None], dtype.scalar), dtype)
        return tl.tensor(TensorHandle(typed, dtype.scalar), tl.block_type(dtype, list(typed.shape[1:])))

    return to_tensor
