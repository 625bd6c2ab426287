"""Reads axes of tensors as host code names them: literal ones, and those that its caller chooses."""

from __future__ import annotations

import re

from porter.contract.model.syntax import Binary, Call, Member, Name, Node, Number, Unary

CHOSEN_AXIS = 1  # what a contract gives a parameter that chooses an axis: host code may have others on both sides of it


def axis_of(node: Node) -> int | None:
    """Returns a literal axis, negative from the end: `x.size(-1)`, `x.size(x.dim() - 1)`."""
    match node:
        case Binary("-", Call(Member(_, "dim" | "ndimension"), ()), Number(int() as value)):
            return -value
        case Number(int() as value):
            return value
        case Unary("-", Number(int() as value)):
            return -value
        case _:
            return None


def extents_around(tensor: str, text: str, parameters: frozenset[str]) -> dict[int, str]:
    """Returns nameless extents up to the axis behind the chosen one, if a parameter chooses it in `text`."""
    asked = re.findall(rf"\b{re.escape(tensor)}\.(?:size|stride)\((\w+)\)", text)
    return dict.fromkeys(range(CHOSEN_AXIS + 2), "") if parameters.intersection(asked) else {}


def at_chosen_axis(node: Node, parameters: frozenset[str]) -> Node:
    """Returns `node`, an extent along an axis that one of `parameters` chooses, along the axis of the contract."""
    match node:
        case Call(Member(_, "size") as asked, (Name(axis),)) if axis in parameters:
            return Call(asked, (Number(CHOSEN_AXIS),))
        case _:
            return node
