"""Finds the threads that come to a place: the conditions around it, and what they leave of a warp."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from porter.warp.flow import Flow
from porter.warp.tree import FunctionTree, ancestors, written
from porter.warp.values import WARP_LANES, Fact, Value

FULL_WARP = 0xFFFFFFFF
_WRAPPERS = frozenset({"condition_clause", "parenthesized_expression", "subscript_argument_list"})
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that holds at a place; `holds` is False in the else branch."""

    node: Node
    holds: bool


def conditions_at(node: Node, function: FunctionTree) -> Iterator[Condition]:
    """The conditions of the branches and loops around `node`, innermost first."""
    inner = node
    for outer in ancestors(node, function.node):
        condition = outer.child_by_field_name("condition")
        if condition is not None and condition != inner:
            alternative = outer.child_by_field_name("alternative")
            if outer.type in {"if_statement", "conditional_expression"}:
                yield Condition(condition, alternative is None or alternative != inner)
            elif outer.type in _LOOPS:
                yield Condition(condition, holds=True)
        inner = outer


def lanes_at(node: Node, function: FunctionTree, flow: Flow) -> int | None:
    """The lanes of a warp that come to `node`, as a mask that is the same for every warp that comes.

    Conditions around the calls of a device function count, too. None where it cannot be proved.
    """
    lanes = FULL_WARP
    for condition in conditions_at(node, function):
        left = _lanes_of(condition, function, flow)
        if left is None:
            return None
        lanes &= left
    return lanes


def stays_ahead(index: Node, function: FunctionTree, flow: Flow) -> bool:
    """Returns whether `base + distance` lies beyond all threads that come here: a condition around says `thread <
    distance`.
    """
    index = inside_parentheses(index)
    distance = index.child_by_field_name("right") if index.type == "binary_expression" else None
    if distance is None or not any(c.type == "+" for c in index.children):
        return False
    far = flow.value(distance, function).constant
    for condition in conditions_at(index, function):
        bound = inside_parentheses(condition.node)
        limit = bound.child_by_field_name("right")
        if not condition.holds or limit is None or not any(c.type == "<" for c in bound.children):
            continue
        thread = flow.value(bound.child_by_field_name("left"), function)
        near = flow.value(limit, function).constant
        same = written(limit, function.text) == written(distance, function.text)
        if thread.facts & (Fact.THREAD | Fact.LANE) and (
            same or (near is not None and far is not None and near <= far)
        ):
            return not (thread.facts & Fact.LANE and far is not None and far >= WARP_LANES)
    return False


def _lanes_of(condition: Condition, function: FunctionTree, flow: Flow) -> int | None:
    """The lanes a single condition leaves of each warp that it does not empty; None where that is not one mask."""
    node = inside_parentheses(condition.node)
    value = flow.value(node, function)
    if not value.facts:
        return FULL_WARP  # the same for all threads of the block
    if not condition.holds or node.type != "binary_expression":
        return None
    left, right = (flow.value(node.child_by_field_name(side), function) for side in ("left", "right"))
    sign = node.child_by_field_name("operator")
    operator = sign.text.decode() if sign is not None and sign.text else ""
    if operator == "&&":
        halves = [
            _lanes_of(Condition(half, holds=True), function, flow)
            for half in (node.child_by_field_name("left"), node.child_by_field_name("right"))
            if half is not None
        ]
        return None if None in halves else _intersection(halves)
    if left.facts & Fact.WARP and not left.facts & (Fact.LANE | Fact.THREAD) and not right.facts:
        return FULL_WARP  # whole warps come or stay away
    return _first_lanes(left, operator, right)


def _intersection(masks: list[int | None]) -> int:
    lanes = FULL_WARP
    for mask in masks:
        lanes &= mask or 0
    return lanes


def _first_lanes(left: Value, operator: str, right: Value) -> int | None:
    """The lanes of `index < n` and `index <= n`: the first n of warp 0, or whole warps where n is a multiple of 32."""
    if right.constant is None or operator not in {"<", "<="} or not left.facts & (Fact.THREAD | Fact.LANE):
        return None
    count = right.constant + (operator == "<=")
    if count <= 0:
        return None
    if count < WARP_LANES:
        return (1 << count) - 1
    return FULL_WARP if count % WARP_LANES == 0 or left.facts & Fact.LANE else None


def inside_parentheses(node: Node) -> Node:
    """`node` without the parentheses around it."""
    while node.type in _WRAPPERS and len(node.named_children) == 1:
        node = node.named_children[0]
    return node
