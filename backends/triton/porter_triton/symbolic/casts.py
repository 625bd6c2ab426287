"""Values of one type as those of another: floats stay what they are, integers as far as they fit."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from porter.contract.dtype import DType
from porter.lift.nodes import Assumption, Graph, Node, Nodes, NotLiftedError
from porter_triton.symbolic import whole_numbers
from porter_triton.symbolic.values import distinct, is_float, wrapped


def cast(graph: Graph, nodes: Nodes, takes: str, gives: str) -> Nodes:
    """Returns the values of `nodes`, of the type called `takes`, as those of the type called `gives`."""
    if is_float(takes) and is_float(gives):
        if DType(gives).epsilon > DType(takes).epsilon:
            return distinct(lambda node: _rounded(graph, node), nodes)
        return nodes
    if is_float(takes):
        return distinct(lambda node: _truncated(graph, node, gives), nodes)
    if not is_float(gives) and _holds(takes, gives):
        return nodes
    # Not `whole_numbers.make`, which is for results that are whole.
    made = graph.make if is_float(gives) else partial(whole_numbers.make, graph)
    return distinct(partial(made, "cast", gives), nodes)


def _rounded(graph: Graph, node: Node) -> Node:
    if graph.value(node) is None and node != graph.undefined:
        graph.assumptions.add(Assumption.CASTS)
    return node


def _truncated(graph: Graph, node: Node, gives: str) -> Node:
    value = graph.value(node)
    if value is None:
        return graph.make("truncate", gives, node)
    if not isinstance(value, Fraction):
        raise NotLiftedError("it converts an infinite number to an integer")
    return graph.number(wrapped(int(value), gives), gives)


def _holds(takes: str, gives: str) -> bool:
    """Returns whether every integer of one type is one of the other; a truth value in memory is one of 8 bits."""
    if takes == "bool":
        return gives in ("int8", "uint8")
    old, new = 8 * DType(takes).bytes, 8 * DType(gives).bytes
    if takes.startswith("u") == gives.startswith("u"):
        return old <= new
    return takes.startswith("u") and old < new
