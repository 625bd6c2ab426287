"""What one turn of a loop does to a variable that the next one finds, where the order of turns does not matter."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from porter.python_tree import expression_tree
from porter_triton.lower.emit import Line

_EXTREMES = {"maximum": "max", "minimum": "min"}


@dataclass(frozen=True, slots=True)
class Gathered:
    """`name = name + ...`, or the larger or smaller of `name` and something, in the lanes of `mask` (empty: in all).

    `operation` is Triton's word for it: sum, max or min. `term` is what is added where that is one thing.
    """

    operation: str
    mask: str = ""
    term: ast.expr | None = None


def gathered(line: Line) -> Gathered | None:
    """Returns what `line` does to its target; None where that is something else, or reads the target otherwise."""
    whole = expression_tree(line.text)
    mask, value = chosen(line) or ("", whole)
    reads = sum(_is(node, line.target) for node in ast.walk(whole))
    if reads != 1 + bool(mask):
        return None
    return _combined(value, line.target, mask)


def chosen(line: Line) -> tuple[str, ast.expr] | None:
    """The mask and the value of a line that leaves its target alone where the mask does not hold."""
    match expression_tree(line.text):
        case ast.Call(args=[mask, value, ast.Name(id=name)]) as whole if called(whole) == "where":
            return (ast.unparse(mask), value) if name == line.target else None
    return None


def _combined(value: ast.expr, name: str, mask: str) -> Gathered | None:
    operation = _EXTREMES.get(called(value))
    if operation is not None:
        assert isinstance(value, ast.Call)
        plain = len(value.args) == 2 and not value.keywords and any(_is(a, name) for a in value.args)
        return Gathered(operation, mask) if plain else None
    if not isinstance(value, ast.BinOp):
        return None
    term = value.right if _is(value.left, name) else None
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Sub):
        if isinstance(value.op, ast.Add) and _is(value.right, name):
            return Gathered("sum", mask)
        if _is(value.left, name):
            return Gathered("sum", mask, term)
        value = value.left
    return None


def called(node: ast.expr) -> str:
    """The `f` of `tl.f(...)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tl"), attr=name)):
            return name
    return ""


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
