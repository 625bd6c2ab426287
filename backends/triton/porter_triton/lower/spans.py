"""How long a loop's range is at most, where its text says so: from `max(a, 0)` to `min(a + k, n)` it is `k`.

So windows are written that borders cut off. Threads with a shorter one are masked, and nobody asks for the longest.
"""

from __future__ import annotations

from collections.abc import Mapping

from porter.syntax.nodes import Binary, Call, Declare, Expression, For, Name, Variable, While
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lower import expressions
from porter_triton.lower.assigned import assigned_names, only_compares
from porter_triton.lower.context import Context
from porter_triton.lower.counting import Progress
from porter_triton.lower.trees import bare, called
from porter_triton.lower.types import Arithmetic
from porter_triton.lower.values import Scalar


def longest(cx: Context, node: For | While, progress: Progress) -> Scalar | None:
    """Returns what all threads know of the most that a loop may count, in steps of 1; None where the text says
    nothing.
    """
    if not isinstance(node, For) or progress.operator != "<" or progress.factors or cx.calls or len(node.start) != 1:
        return None
    span = cx.told(node, _span)
    fixed = cx.told(cx.kernel, _fixed)
    if span is None:
        return None
    for high in _bounds(span[1], "min", fixed):
        for low in _bounds(span[0], "max", fixed):
            length = _difference(high, low) if _stays(cx, low) else None
            if length is None or not _stays(cx, length):
                continue
            found = expressions.scalar(cx, length)
            if not found.varying and isinstance(found.type, Arithmetic) and not found.type.is_float:
                return found
    return None


def _stays(cx: Context, node: Expression) -> bool:
    """Returns whether an expression has one value wherever the kernel evaluates it."""
    moving = cx.changes[-1] | (cx.told(cx.kernel, _declared) - cx.told(cx.kernel, _fixed).keys())
    return only_compares(node) and not any(isinstance(n, Name) and n.name in moving for n in walk(node))


def _span(_unit: Unit, node: For) -> tuple[Expression, Expression] | None:
    """Returns where the loop begins and what it stays below."""
    (start,) = node.start
    if not isinstance(start, Declare) or len(start.variables) != 1 or not isinstance(node.condition, Binary):
        return None
    begin = start.variables[0].value
    return None if begin is None else (bare(begin), bare(node.condition.right))


def _fixed(unit: Unit, kernel: FunctionTree) -> Mapping[str, Expression]:
    """The kernel's own names that stay what they are declared as."""
    declared: dict[str, list[Variable]] = {}
    for node in walk(kernel.body):
        for variable in node.variables if isinstance(node, Declare) else ():
            declared.setdefault(variable.name, []).append(variable)
    changed = assigned_names(unit, kernel.body) | {p.name for p in kernel.parameters}
    return {
        name: bare(found[0].value)
        for name, found in declared.items()
        if len(found) == 1 and name not in changed and found[0].value is not None and _is_plain(found[0])
    }


def _is_plain(variable: Variable) -> bool:
    return not (variable.extents or variable.storage or variable.type.reference or variable.type.pointers)


def _declared(_unit: Unit, kernel: FunctionTree) -> frozenset[str]:
    """The names that the kernel declares, perhaps several times."""
    return frozenset(v.name for n in walk(kernel.body) if isinstance(n, Declare) for v in n.variables)


def _bounds(node: Expression, function: str, fixed: Mapping[str, Expression]) -> tuple[Expression, ...]:
    """Returns what a value is no larger than, as `min` has it, or no smaller than, as `max` has it."""
    if isinstance(node, Name) and node.name in fixed:
        return (node, *_bounds(fixed[node.name], function, fixed))
    if isinstance(node, Call) and called(node) == function and len(node.arguments) == 2:
        return tuple(bound for argument in node.arguments for bound in _bounds(argument, function, fixed))
    return (node,)


def _difference(high: Expression, low: Expression) -> Expression | None:
    """The `k` of `low + k`."""
    if not isinstance(high, Binary) or high.operator != "+":
        return None
    if high.left == low:
        return high.right
    return high.left if high.right == low else None
