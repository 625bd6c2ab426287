"""Notes what a branch says of variables: in `case 256:` of `switch (k)` the values of k and of `k / 4` are known."""

from __future__ import annotations

import ast
import operator as op
from collections.abc import Callable, Mapping
from dataclasses import replace

from porter.python_tree import expression_tree
from porter.syntax.nodes import Binary, Cast, Expression, Name
from porter_triton.host import expressions
from porter_triton.host.codes import Code, Kind
from porter_triton.host.nullable import given
from porter_triton.host.scope import Context

_WHOLE: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: op.add, ast.Sub: op.sub, ast.Mult: op.mul, ast.FloorDiv: op.floordiv, ast.Mod: op.mod,
}  # fmt: skip


def suppose(cx: Context, condition: Expression) -> None:
    """Notes that `condition` holds in the innermost scope: `k == 256`, `p != nullptr`, or several at once."""
    if isinstance(condition, Binary) and condition.operator == "&&":
        suppose(cx, condition.left)
        suppose(cx, condition.right)
    elif isinstance(condition, Binary) and condition.operator == "==":
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(_bare(one), Name):
                equal(cx, one, expressions.expression(cx, other))
    elif isinstance(subject := given(condition), Name):
        meaning = cx.find(subject.name)
        if isinstance(meaning, Code) and meaning.nullable and cx.is_steady(meaning.text):
            cx.bind(subject.name, replace(meaning, nullable=False))


def equal(cx: Context, subject: Expression, value: Code) -> None:
    """Notes that the variable `subject`, which is not set any more, has this value in the innermost scope."""
    name = _bare(subject)
    meaning = cx.find(name.name) if isinstance(name, Name) else None
    if not isinstance(name, Name) or not isinstance(meaning, Code) or type(value.constant) is not int:
        return
    if meaning.kind is Kind.INT and meaning.text.isidentifier() and cx.is_steady(meaning.text):
        cx.bind(name.name, replace(meaning, constant=value.constant))


def _bare(node: Expression) -> Expression:
    while isinstance(node, Cast):
        node = node.operand
    return node


def evaluated(cx: Context, code: Code) -> Code:
    """Returns `code`, made before its variables were known, with its whole number now; else itself."""
    if code.constant is not None or code.kind is not Kind.INT or not cx.settled(code):
        return code
    bound = [b for scope in cx.scopes for b in scope.values() if isinstance(b, Code)]
    supposed = {b.text: b.constant for b in bound if type(b.constant) is int and b.text.isidentifier()}
    found = _value(expression_tree(code.text), supposed, cx.values) if supposed else None
    return code if found is None else replace(code, constant=found)


def _value(node: ast.expr, supposed: Mapping[str, object], texts: Mapping[str, str]) -> int | None:
    """Returns the number of an expression, from its variables and the expressions others are made of."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        known = supposed.get(node.id)
        if known is None and node.id in texts:
            rest = {name: text for name, text in texts.items() if name != node.id}
            return _value(expression_tree(texts[node.id]), supposed, rest)
        return known if isinstance(known, int) else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _WHOLE:
        return None
    left, right = _value(node.left, supposed, texts), _value(node.right, supposed, texts)
    if left is None or right is None or (right == 0 and isinstance(node.op, ast.FloorDiv | ast.Mod)):
        return None
    return _WHOLE[type(node.op)](left, right)
