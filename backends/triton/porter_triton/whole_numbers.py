"""The whole numbers that Python names, and what it makes of them alone: `256`, `1 << 8`, `4 * 64`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache

from porter.python_tree import module_tree

_LARGEST = 1 << 63
_FOLDED: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.LShift: lambda a, b: a << b if 0 <= b < _LARGEST.bit_length() else 0,
    ast.Pow: lambda a, b: a**b if 0 <= b < _LARGEST.bit_length() else 0,
}


@cache
def operations(text: str) -> int:
    """Returns how many operations and calls are written in `text`."""
    return sum(isinstance(node, (ast.BinOp, ast.Compare, ast.Call)) for node in ast.walk(module_tree(text)))


def whole_numbers(text: str) -> frozenset[int]:
    """Returns every whole number in `text`; none if it is not Python."""
    try:
        tree = module_tree(text)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    values = (_value(node) for node in ast.walk(tree))
    return frozenset(value for value in values if value is not None)


def _value(node: ast.AST) -> int | None:
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and node.value < _LARGEST else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _FOLDED:
        return None
    left, right = _value(node.left), _value(node.right)
    return None if left is None or right is None else _FOLDED[type(node.op)](left, right)
