"""Operations on whole numbers that depend on data: folded as a device computes them, with the bits of floats kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from porter.lift.nodes import Graph, Node
from porter_triton.symbolic.keys import simplified
from porter_triton.symbolic.values import wrapped


def make(graph: Graph, op: str, dtype: str, *operands: Node) -> Node:
    """Returns the node of `op` on integers or truth values; `dtype` is the type of its result."""
    if decided := _decided(graph, op, operands):
        return decided
    if graph.undefined in operands and op != "select":
        return graph.undefined
    values = [graph.value(operand) for operand in operands]
    if op in _FOLDED and all(isinstance(value, Fraction) for value in values):
        return graph.number(wrapped(_FOLDED[op](*(int(value or 0) for value in values)), dtype), dtype)
    if op == "shift_left" and isinstance(values[1], Fraction):
        return make(graph, "multiply", dtype, operands[0], graph.number(1 << int(values[1]), dtype))
    node = simplified(graph, _logical(graph, op, dtype, operands))
    value = graph.value(node)
    if isinstance(value, Fraction) and wrapped(int(value), dtype) != value:
        return graph.number(wrapped(int(value), dtype), dtype)
    return node


def _decided(graph: Graph, op: str, operands: tuple[Node, ...]) -> Node | None:
    """A truth value that one operand decides, whatever the other is: nobody needs it then."""
    if op in ("and", "or"):
        for operand in operands:
            value = graph.value(operand)
            if value is not None and bool(value) == (op == "or"):
                return operand
    return None


def _logical(graph: Graph, op: str, dtype: str, operands: tuple[Node, ...]) -> Node:
    """Operations on truth values, which have other names than those on bits."""
    if op == "xor" and dtype == "bool":
        a, b = operands
        for known, other in ((a, b), (b, a)):
            value = graph.value(known)
            if value is not None:
                return _logical(graph, "not", dtype, (other,)) if value else other
        return graph.make("not", dtype, graph.make("equal", dtype, a, b))
    if op == "not" and graph[operands[0]][0] == "not":
        return graph.operands(operands[0])[0]
    if op == "equal" and _is_truth_of(graph, *operands):
        a, b = operands
        return _logical(graph, "not", dtype, (a if graph.value(b) is not None else b,))
    return graph.make(op, dtype, *operands)


def _is_truth_of(graph: Graph, a: Node, b: Node) -> bool:
    """Returns whether a truth value, which memory has as an integer, is compared with 0."""
    return any(graph.value(x) == 0 and graph.type_of(y) == "bool" for x, y in ((a, b), (b, a)))


def _towards_zero(a: int, b: int) -> int:
    if b == 0:
        return 0  # which no device says anything of
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_FOLDED: Mapping[str, Callable[..., int]] = {
    "quotient": _towards_zero,
    "remainder": lambda a, b: a - b * _towards_zero(a, b),
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shift_left": lambda a, b: a << max(0, b),
    "shift_right": lambda a, b: a >> max(0, b),
    "cast": lambda a: a,
}
