"""Translates host vectors that grow and shrink: Python gets a new list each time, so that no other name sees it."""

from __future__ import annotations

from porter.syntax.nodes import Binary, Call, Expression, Member, Name
from porter_triton.host import expressions
from porter_triton.host.assigned import CHANGE_VECTORS
from porter_triton.host.codes import SUM, Code, Kind
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def change(cx: Context, node: Call) -> bool:
    """Emit `v.push_back(x)` and its like for a vector in a variable; False for any other call."""
    callee = node.callee
    if not isinstance(callee, Member) or callee.name not in CHANGE_VECTORS or not isinstance(callee.owner, Name):
        return False
    owner = cx.find(callee.owner.name)
    if not isinstance(owner, Code) or owner.kind is not Kind.SEQUENCE or not owner.text.isidentifier():
        return False
    name = owner.text
    cx.changed(name)
    cx.emit(f"{name} = {_changed(cx, name, callee, node)}", name)
    return True


def _changed(cx: Context, name: str, callee: Member, node: Call) -> str:
    """Returns the list that `name` is after the call."""
    if callee.name == "pop_back":
        return f"{name}[:-1]"
    if callee.name in ("push_back", "emplace_back") and len(node.arguments) == 1:
        return f"[*{name}, {expressions.expression(cx, node.arguments[0]).text}]"
    place = _place(cx, node.arguments[0], callee.owner) if node.arguments else None
    if place is None or len(node.arguments) != (1 if callee.name == "erase" else 2):
        raise Refusal(node.line, f"'{callee.name}' of a vector has no counterpart here")
    first, rest = f"{name}[:{place.text}]", place.text
    if callee.name == "insert":
        return f"[*{first}, {expressions.expression(cx, node.arguments[1]).text}, *{name}[{rest}:]]"
    if place.constant == 0:
        return f"{name}[1:]"
    return f"{first} + {name}[{place.within(SUM)} + 1 :]"


def _place(cx: Context, node: Expression, owner: Expression) -> Code | None:
    """Returns the index of `v.begin() + index`; None for any other iterator."""
    if isinstance(node, Binary) and node.operator == "+" and _is_begin(node.left, owner):
        return expressions.expression(cx, node.right)
    return Code("0", Kind.INT, constant=0) if _is_begin(node, owner) else None


def _is_begin(node: Expression, owner: Expression) -> bool:
    if not isinstance(node, Call) or not isinstance(node.callee, Member) or not isinstance(node.callee.owner, Name):
        return False
    return node.callee.name == "begin" and isinstance(owner, Name) and node.callee.owner.name == owner.name
