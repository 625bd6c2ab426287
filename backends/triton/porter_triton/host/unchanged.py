"""Finds host variables that nobody changes: they have the value they are declared with, like constants."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.syntax.nodes import Binary, Call, Declare, Name, Unread, Variable
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.host.assigned import assigned_with_calls


def keeps_value(unit: Unit, variable: Variable) -> bool:
    """Returns whether a number at namespace scope always has the value it is declared with.

    No other file can change it, because it is `static` or the file is a whole program, and no function of this one
    does.
    """
    if variable.storage not in ("", "static") or variable.extents or variable.type.pointers or variable.type.reference:
        return False
    is_alone = variable.storage == "static" or any(f.head.name == "main" for f in unit.functions)
    return is_alone and not any(_may_change(unit, function, variable.name) for function in unit.functions)


def _may_change(unit: Unit, function: FunctionTree, name: str) -> bool:
    """Returns whether `function` sets a variable `name`, or passes it to code that may, by reference or unread."""
    if assigned_with_calls(unit, function.body)[name]:
        return True
    return any(name in handed for node in walk(function.body) for handed in _handed_on(unit, node))


def _handed_on(unit: Unit, node: object) -> Iterator[frozenset[str]]:
    """Yields the variables that `node` may give another name."""
    if isinstance(node, Unread):
        yield frozenset(re.findall(r"\w+", node.text))
    elif isinstance(node, Declare):
        bound = (v.value for v in node.variables if v.type.reference and not v.type.const)
        yield frozenset(value.name for value in bound if isinstance(value, Name))
    elif isinstance(node, Binary) and node.operator == ">>" and isinstance(node.right, Name):
        yield frozenset((node.right.name,))
    elif isinstance(node, Call) and not (isinstance(node.callee, Name) and unit.named(node.callee.name)):
        yield frozenset(a.name for a in node.arguments if isinstance(a, Name))
