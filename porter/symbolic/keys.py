"""The bits of floats, as far as they say no more than the float: what is taken for a float again is that float.

Integers in the order of the floats, which have an atomic maximum where floats have none, are `key` nodes: of a float x
with the bits b that is b where 0 <= b, else b with all bits but the sign turned over. The key of a key's bits is b.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from porter.ir.simt.types import Scalar
from porter.lift.nodes import Exact, Graph, Node, Nodes, NotLiftedError, is_sentinel
from porter.symbolic.values import dtype_of, wrapped

BITS, KEY = "bits", "key"
_FORMATS = {"float32": "<f", "float64": "<d", "float16": "<e"}
_FLOATS = frozenset({*_FORMATS, "bfloat16"})
_OF_16_BITS = {"float16", "bfloat16"}


def is_bits(graph: Graph, node: Node) -> bool:
    """Returns whether an integer is a number, or the bits or the key of a float, if it is defined."""
    return graph[node][0] in (BITS, KEY) or graph.value(node) is not None or node == graph.undefined


class Keys:
    """Bits and keys among the nodes of a graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._has_bits = False

    def taken_for(self, nodes: Nodes, type_: Scalar) -> Nodes:
        """Returns values whose bits are taken for values of `type_`: floats as bits, bits as floats."""
        return self._each(partial(self._taken_for, type_=type_), nodes)

    def simplified(self, nodes: Nodes) -> Nodes:
        """Returns operations on keys and bits as operations on the floats themselves, where they are some."""
        return self._each(partial(_simplified, self._graph), nodes) if self._has_bits else nodes

    @staticmethod
    def _each(function: Callable[[Node], Node], nodes: Nodes) -> Nodes:
        held, back = np.unique(nodes, return_inverse=True)
        return np.array([function(node) for node in held.tolist()], np.int64)[back.ravel()].reshape(np.shape(nodes))

    def _taken_for(self, node: Node, type_: Scalar) -> Node:
        graph, dtype = self._graph, dtype_of(type_)
        if node == graph.undefined or (held := graph.type_of(node)) == dtype:
            return node
        if held in _FLOATS and type_.is_float:  # a float in another type is the same node
            if {held, dtype} == _OF_16_BITS and graph.value(node) != 0:
                raise NotLiftedError(f"it takes a {held} for a {dtype}")
            return node
        if held in _FLOATS:
            self._has_bits = True
            return _bits_of(graph, node, held, dtype)
        if type_.is_float:
            return _float_of(graph, node, dtype)
        value = graph.value(node)
        return node if value is None else graph.number(wrapped(value, type_), dtype)


def _bits_of(graph: Graph, node: Node, floating: str, dtype: str) -> Node:
    """Returns the node of the bits of a float of the type called `floating`, taken for an integer of `dtype`."""
    value = graph.value(node)
    if value is None:
        return graph.make(BITS, dtype, node)
    return graph.number(_bits(value, floating, dtype.startswith("u")), dtype)


def _float_of(graph: Graph, node: Node, floating: str) -> Node:
    """Returns the node of the float of the type called `floating` whose bits an integer has."""
    if graph[node][0] == BITS:
        return graph.operands(node)[0]
    value = graph.value(node)
    if value is None:
        raise NotLiftedError("it computes with the bits of a float")
    return graph.number(_float(int(value), floating), floating)


def _simplified(graph: Graph, node: Node) -> Node:
    key = graph[node]
    match key[0]:
        case "select":
            return _turned(graph, node)
        case "maximum" | "minimum":
            a, b = graph.operands(node)
            return _extreme(graph, node, str(key[0]), a, b)
        case "less" | "equal":
            a, b = graph.operands(node)
            if graph[a][0] == graph[b][0] == KEY:
                return graph.make(str(key[0]), "bool", *graph.operands(a), *graph.operands(b))
    return node


def _turned(graph: Graph, node: Node) -> Node:
    """`select(k < 0, k ^ largest, k)`: of bits the key, of a key the bits."""
    condition, then, otherwise = graph.operands(node)
    dtype = graph.type_of(node)
    held = graph[otherwise][0]
    if dtype.startswith("u") or held not in (BITS, KEY) or graph[condition][0] != "less" or graph[then][0] != "xor":
        return node
    tested, zero = graph.operands(condition)
    turned, mask = graph.operands(then)
    largest = (1 << (8 * np.dtype(dtype).itemsize - 1)) - 1
    if tested != otherwise or turned != otherwise or graph.value(zero) != 0 or graph.value(mask) != largest:
        return node
    return graph.make(BITS if held == KEY else KEY, dtype, *graph.operands(otherwise))


def _extreme(graph: Graph, node: Node, op: str, a: Node, b: Node) -> Node:
    """The larger of two keys is the key of the larger float."""
    dtype = graph.type_of(node)
    keyed = next((n for n in (a, b) if graph[n][0] == KEY), None)
    if keyed is None:
        return node
    floating = graph.type_of(graph.operands(keyed)[0])
    floats = [_unkeyed(graph, n, floating) for n in (a, b)]
    if None in floats:
        return node
    return graph.make(KEY, dtype, graph.make(op, floating, *(n for n in floats if n is not None)))


def _unkeyed(graph: Graph, node: Node, floating: str) -> Node | None:
    if graph[node][0] == KEY:
        return graph.operands(node)[0]
    value = graph.value(node)
    if value is None:
        return None
    whole = int(value)
    if is_sentinel(value):
        return graph.number(float("inf") if whole > 0 else float("-inf"), floating)
    largest = (1 << (8 * struct.calcsize(_FORMATS[floating]) - 1)) - 1
    return graph.number(_float(whole if whole >= 0 else whole ^ largest, floating), floating)


def _bits(value: Exact, floating: str, unsigned: bool) -> int:
    if floating not in _FORMATS:
        raise NotLiftedError(f"it computes with the bits of a {floating}")
    return int.from_bytes(struct.pack(_FORMATS[floating], float(value)), "little", signed=not unsigned)


def _float(bits: int, floating: str) -> Exact:
    if floating not in _FORMATS:
        raise NotLiftedError(f"it computes with the bits of a {floating}")
    size = struct.calcsize(_FORMATS[floating])
    raw = (bits % (1 << (8 * size))).to_bytes(size, "little")
    stored = np.frombuffer(raw, np.dtype(floating))[0]
    if np.isnan(stored):
        raise NotLiftedError("it computes with NaN")
    return float(stored) if np.isinf(stored) else Fraction(str(stored))
