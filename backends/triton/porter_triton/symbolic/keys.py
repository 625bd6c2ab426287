"""The bits of floats, as far as they say no more than the float: what is taken for a float again is that float.

Integers in the order of the floats, which have an atomic maximum where floats have none, are `key` nodes: of a float x
with the bits b that is b where 0 <= b, else b with all bits but the sign turned over. The key of a key's bits is b.
"""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np

from porter.lift.nodes import Exact, Graph, Node, NotLiftedError, is_sentinel

BITS, KEY = "bits", "key"
_FORMATS = {"float32": "<f", "float64": "<d", "float16": "<e"}


def bits_of(graph: Graph, node: Node, floating: str, dtype: str) -> Node:
    """Returns the node of the bits of a float of the type called `floating`, taken for an integer of `dtype`."""
    value = graph.value(node)
    if value is None:
        return graph.make(BITS, dtype, node)
    return graph.number(_bits(value, floating, dtype.startswith("u")), dtype)


def float_of(graph: Graph, node: Node, floating: str) -> Node:
    """Returns the node of the float of the type called `floating` whose bits an integer has."""
    if node == graph.undefined:
        return node
    if graph[node][0] == BITS:
        return graph.operands(node)[0]
    value = graph.value(node)
    if value is None:
        raise NotLiftedError("it computes with the bits of a float")
    return graph.number(_float(int(value), floating), floating)


def simplified(graph: Graph, node: Node) -> Node:
    """Returns an operation on keys and bits as one on the floats themselves, where it is one."""
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
    if held not in (BITS, KEY) or graph[condition][0] != "less" or graph[then][0] != "xor":
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
