"""Reductions and scans of tiles that hold nodes: whole tiles are combined, with the function of the text itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import ReduceOps, ScanOps, TensorHandle, interpreter_semantic

from porter_triton.symbolic.builder import SymbolicBuilder
from porter_triton.symbolic.values import Data, is_symbolic, tile

_Parts = list[Data]
_Combine = Callable[[_Parts, _Parts], _Parts]


def combine_symbols(builder: SymbolicBuilder) -> None:
    """Gives the interpreter reductions and scans of nodes, once for the life of a process."""
    reduce, scan = ReduceOps.apply_impl, ScanOps.apply_impl

    def reduced(self: ReduceOps, given: tuple[tl.tensor, ...]) -> Sequence[tl.tensor]:
        if not any(is_symbolic(tensor.handle) for tensor in given):
            found = reduce(self, given)
            return found if isinstance(found, (list, tuple)) else (found,)
        return _reduced(builder, self, given)

    def scanned(self: ScanOps, given: tuple[tl.tensor, ...]) -> Sequence[tl.tensor]:
        if not any(is_symbolic(tensor.handle) for tensor in given):
            return scan(self, given)  # type: ignore[no-any-return]
        return _scanned(builder, self, given)

    ReduceOps.apply_impl, ScanOps.apply_impl = reduced, scanned


def _reduced(builder: SymbolicBuilder, self: ReduceOps, given: Sequence[tl.tensor]) -> list[tl.tensor]:
    shape = given[0].handle.data.shape
    combine = _combining(builder, self.combine_fn, given)
    parts = [_along(self.axis, tensor.handle.data) for tensor in given]
    while len(parts[0]) > 1:  # the extents of tiles are powers of 2
        parts = combine([part[0::2] for part in parts], [part[1::2] for part in parts])
    kept = tuple(1 if self.axis in (None, axis) else extent for axis, extent in enumerate(shape))
    found = [part[0].reshape(kept) if self.keep_dims else part[0] for part in parts]
    return [_tensor(np.asarray(data), tensor.dtype) for data, tensor in zip(found, given, strict=True)]


def _scanned(builder: SymbolicBuilder, self: ScanOps, given: Sequence[tl.tensor]) -> list[tl.tensor]:
    if op := _plain(self.combine_fn):
        return [_accumulated(builder, self, op, given[0])]
    combine = _combining(builder, self.combine_fn, given)
    parts = [_along(self.axis, tensor.handle.data) for tensor in given]
    if self.reverse:
        parts = [part[::-1] for part in parts]
    rows = [[part[:1] for part in parts]]
    for k in range(1, len(parts[0])):
        rows.append(combine(rows[-1], [part[k : k + 1] for part in parts]))
    made: list[tl.tensor] = []
    for tensor, column in zip(given, zip(*rows, strict=True), strict=True):
        data = np.concatenate(_alike(builder, column, tensor.dtype))
        data = data[::-1] if self.reverse else data
        made.append(_tensor(np.moveaxis(data, 0, self.axis), tensor.dtype))
    return made


def _accumulated(builder: SymbolicBuilder, self: ScanOps, op: str, given: tl.tensor) -> tl.tensor:
    """A scan by one operation of the graph."""
    rows = np.moveaxis(builder.values.nodes(given.handle), self.axis, 0)
    rows = rows[::-1] if self.reverse else rows
    made = [rows[0]]
    for row in rows[1:]:
        made.append(builder.made(op, given.dtype, made[-1], row))
    nodes = np.stack(made[::-1] if self.reverse else made)
    return _tensor(builder.values.handle(np.moveaxis(nodes, 0, self.axis), given.dtype).data, given.dtype)


def _alike(builder: SymbolicBuilder, parts: Sequence[Data], type_: tl.dtype) -> list[Data]:
    """Parts of one tile, of which some may be numbers and some nodes."""
    handles = [TensorHandle(part, type_.scalar) for part in parts]
    if any(map(is_symbolic, handles)):
        return [tile(builder.values.nodes(handle)) for handle in handles]
    return list(parts)


def _along(axis: int | None, data: Data) -> Data:
    return data.reshape(-1) if axis is None else np.moveaxis(data, axis, 0)


def _combining(builder: SymbolicBuilder, function: Any, given: Sequence[tl.tensor]) -> _Combine:  # noqa: ANN401
    """Combines two parts of each tile; those that come first are the first operands."""
    types = [tensor.dtype for tensor in given]
    if op := _plain(function):
        return lambda earlier, later: [
            builder.apply(op, types[0], TensorHandle(earlier[0], types[0]), TensorHandle(later[0], types[0])).data
        ]
    if extreme := _argument_of(function):
        return partial(_arg_combined, builder, types, *extreme)

    def combine(earlier: _Parts, later: _Parts) -> _Parts:
        tensors = [_tensor(d, t) for half in (earlier, later) for d, t in zip(half, types, strict=True)]
        found = function(*tensors)
        values = found if isinstance(found, (tuple, tl.tuple)) else (found,)
        return [_shaped(v, d, t) for v, d, t in zip(values, later, types, strict=True)]

    return combine


def _plain(function: Any) -> str | None:  # noqa: ANN401
    """The operation of a graph that a function of Triton's own is."""
    standard = tl.standard
    known = (
        (standard._sum_combine, "add"),
        (standard._prod_combine, "multiply"),
        (standard._elementwise_max, "maximum"),
        (standard._elementwise_min, "minimum"),
    )
    return next((op for theirs, op in known if function is theirs), None)


def _argument_of(function: Any) -> tuple[str, bool] | None:  # noqa: ANN401
    """The extreme whose place is looked for, and whether the first of equals is it: Triton's text asks with `and`."""
    standard = tl.standard
    known = (
        (standard._argmax_combine_tie_break_left, ("maximum", True)),
        (standard._argmax_combine_tie_break_fast, ("maximum", False)),
        (standard._argmin_combine_tie_break_left, ("minimum", True)),
        (standard._argmin_combine_tie_break_fast, ("minimum", False)),
    )
    return next((what for theirs, what in known if function is theirs), None)


def _arg_combined(  # noqa: PLR0917 - two values with their places
    builder: SymbolicBuilder, types: Sequence[tl.dtype], op: str, first: bool, earlier: _Parts, later: _Parts
) -> _Parts:
    (a, i), (b, j) = ([TensorHandle(d, t) for d, t in zip(half, types, strict=True)] for half in (earlier, later))
    better = builder.apply("less", tl.int1, *((b, a) if op == "maximum" else (a, b)))
    if first:
        equal, sooner = builder.apply("equal", tl.int1, a, b), builder.apply("less", tl.int1, i, j)
        better = builder.apply("or", tl.int1, better, builder.apply("and", tl.int1, equal, sooner))
    return [builder.create_select(better, a, b).data, builder.create_select(better, i, j).data]


def _tensor(data: Data, type_: tl.dtype) -> tl.tensor:
    if not data.shape:
        return tl.tensor(TensorHandle(data.reshape(1), type_.scalar), type_.scalar)
    return tl.tensor(TensorHandle(data, type_.scalar), tl.block_type(type_.scalar, list(data.shape)))


def _shaped(value: object, like: Data, type_: tl.dtype) -> Data:
    """The data of what a function returned, which may be a number, of the type of the tile it came of."""
    data = interpreter_semantic.cast(interpreter_semantic.to_tensor(value), type_.scalar).handle.data
    return np.broadcast_to(data.reshape(like.shape) if data.size == like.size else data, like.shape)
