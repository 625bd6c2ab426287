"""Tiles of Triton's interpreter, which hold numbers as they are, or nodes of a graph.

Floats are always nodes, so that nothing is rounded; integers and truth values are numbers until they depend on data. A
tile of nodes has a numpy type of its own: moves and reshapings work on it unchanged, and arithmetic that nobody has
given a meaning fails.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from numpy.typing import NDArray
from triton.runtime.interpreter import TensorHandle

from porter.contract.dtype import DType
from porter.lift.nodes import Exact, Graph, Node, Nodes, NotLiftedError, exact

Data = NDArray[Any]
# Two fields each: numpy takes a tile with one field for numbers wherever it is asked to convert it.
SYMBOL = np.dtype([("node", np.int64), ("symbol", np.int64)])
ADDRESS = np.dtype([("base", np.uint64), ("place", np.int64)])  # `place` elements, a node, behind the address `base`
_NAMES = {
    "int1": "bool", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2",
}  # fmt: skip
_FEW = 8  # elements, of which to find the distinct ones takes longer than to do all
_SIMPLE = 10**6  # the largest denominator of a quotient that a host is taken to have computed


def type_name(type_: tl.dtype) -> str:
    """Returns what `DType` calls a type of Triton's language."""
    name = str(type_.scalar.name)
    return _NAMES.get(name, name)


def language_type(dtype: str) -> tl.dtype:
    """Returns what Triton's language calls a `DType`."""
    return tl.dtype(next((theirs for theirs, ours in _NAMES.items() if ours == dtype), dtype))


def is_float(dtype: str) -> bool:
    """Returns whether values of the type called `dtype` are floats."""
    return "float" in dtype


def item_bytes(dtype: str) -> int:
    """Returns the size of an element in bytes."""
    return DType(dtype).bytes


def numpy_type(type_: tl.dtype) -> np.dtype[Any]:
    """Returns the type of the numbers that the interpreter has for a type of Triton's language."""
    found: np.dtype[Any] = triton_interpreter._get_np_dtype(type_.scalar)
    return found


def is_symbolic(handle: TensorHandle) -> bool:
    """Returns whether a tile holds nodes."""
    return bool(handle.data.dtype == SYMBOL)


def tile(nodes: Nodes) -> Data:
    """Returns the data of a tile that holds `nodes`."""
    made = np.zeros(nodes.shape, SYMBOL)
    made["node"] = nodes
    return made


def meant(value: float) -> Exact:
    """Returns the number that a float stands for: the quotient of small numbers that rounds to it, else its decimal."""
    decimal = exact(value)
    if isinstance(decimal, float):
        return decimal
    simple = Fraction(value).limit_denominator(_SIMPLE)
    return simple if simple.denominator < decimal.denominator and float(simple) == value else decimal


def wrapped(value: int, dtype: str) -> int:
    """Returns `value` as an integer of the type called `dtype` holds it."""
    if dtype == "bool":
        return int(bool(value))
    bits = 8 * item_bytes(dtype)
    value %= 1 << bits
    return value - (1 << bits) if not dtype.startswith("u") and value >> (bits - 1) else value


def distinct(function: Callable[..., Node], *operands: Nodes) -> Nodes:
    """Returns `function` of the operands at each place, which are broadcast; it is called once for each tuple."""
    spread = np.broadcast_arrays(*operands)
    shape = spread[0].shape
    if spread[0].size <= _FEW:
        rows = zip(*(operand.ravel().tolist() for operand in spread), strict=True)
        return np.array([function(*row) for row in rows], np.int64).reshape(shape)
    code: NDArray[np.int64] = spread[0].ravel()
    for operand in spread[1:]:
        column = operand.ravel()
        _, dense = np.unique(code, return_inverse=True)
        code = dense.ravel() * (column.max() + 1) + column
    _, first, back = np.unique(code, return_index=True, return_inverse=True)
    columns = [operand.ravel()[first].tolist() for operand in spread]
    made = np.array([function(*row) for row in zip(*columns, strict=True)], np.int64)
    return made[back.ravel()].reshape(shape)


class Values:
    """Tiles of one execution, whose nodes are those of `graph`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._known: dict[tuple[str, int], Node] = {}

    def nodes(self, handle: TensorHandle) -> Nodes:
        """Returns the node of each element of a tile."""
        data = handle.data
        if data.dtype == SYMBOL:
            return data["node"]  # type: ignore[no-any-return]
        if data.dtype.kind not in "biu" or handle.dtype.scalar.is_ptr():
            raise NotLiftedError("it computes with an address")
        return self.numbers(data, "bool" if data.dtype == np.bool_ else type_name(handle.dtype))

    def numbers(self, data: Data, dtype: str) -> Nodes:
        """Returns the nodes of whole numbers of the type called `dtype`."""
        values, back = np.unique(data, return_inverse=True)
        made = [self._whole(int(value), dtype) for value in values.tolist()]
        return np.array(made, np.int64)[back.ravel()].reshape(data.shape)

    def _whole(self, value: int, dtype: str) -> Node:
        key = dtype, value
        if key not in self._known:
            self._known[key] = self.graph.number(value, dtype)
        return self._known[key]

    def handle(self, nodes: Nodes, type_: tl.dtype) -> TensorHandle:
        """Returns a tile of `nodes`: as numbers where it has no floats, and nothing in it depends on data."""
        scalar = type_.scalar
        if not scalar.is_floating():
            told = self._told(nodes, scalar)
            if told is not None:
                return TensorHandle(told, scalar)
        return TensorHandle(tile(nodes), scalar)

    def _told(self, nodes: Nodes, type_: tl.dtype) -> Data | None:
        held, back = np.unique(nodes, return_inverse=True)
        numbers: list[int] = []
        for node in held.tolist():
            value = self.graph.value(node)
            if value is None or isinstance(value, float):
                return None
            numbers.append(wrapped(int(value), type_name(type_)))
        stored = np.array(numbers, numpy_type(type_))
        return stored[back.ravel()].reshape(nodes.shape)

    def scalar(self, value: float, type_: tl.dtype) -> TensorHandle:
        """Returns a tile of one number, which a text or a host wrote."""
        return TensorHandle(tile(np.array([self.graph.number(meant(value), type_name(type_))], np.int64)), type_.scalar)

    def is_number(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Returns where `nodes` are numbers."""
        held, back = np.unique(nodes, return_inverse=True)
        told = np.array([self.graph.value(node) is not None for node in held.tolist()], np.bool_)
        return told[back.ravel()].reshape(nodes.shape)

    def integers(self, nodes: Nodes) -> NDArray[np.int64]:
        """Returns the whole numbers that `nodes` are; all of them have to be numbers."""
        return distinct(lambda node: int(self.graph.value(node) or 0), nodes)
