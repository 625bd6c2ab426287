"""Functions that templates leave out: whose type is `std::enable_if` of what does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from porter.syntax.unit import FunctionTree, Unit
from porter_triton.lower import expressions, structs
from porter_triton.lower.context import Context
from porter_triton.lower.decisions import Decisions
from porter_triton.lower.deduction import bind_template
from porter_triton.lower.launch import LaunchInfo
from porter_triton.lower.naming import Names
from porter_triton.lower.types import Type
from porter_triton.refusal import Refusal

_WORDS = ("enable_if", "enable_if_t", "enable_if::type")


def enabled(
    cx: Context, function: FunctionTree, given: tuple[structs.Argument, ...], types: Sequence[Type | None], line: int
) -> bool:
    """Returns whether `function` takes part in a call with these template arguments, and arguments of `types`.

    What cannot be told counts as taking part: lowering it will say why it does not.
    """
    returns = function.returns
    if returns.name.removeprefix("std::") not in _WORDS or not returns.arguments:
        return True
    with cx.scope(wall=True):
        cx.namespaces.append(function.head.scope)
        try:
            bind_template(cx, function, given, tuple(types), line)
            return bool(expressions.constant(cx, returns.arguments[0], line).constant)
        except Refusal:
            return True
        finally:
            cx.namespaces.pop()


def enabled_kernel(unit: Unit, kernel: FunctionTree, template: tuple[object, ...]) -> bool:
    """Returns whether `kernel` is one for these template arguments, as a launch writes them."""
    cx = Context(unit, kernel, LaunchInfo(), Decisions(), Names(frozenset()))
    line = kernel.head.header.line
    with cx.scope(wall=True):
        try:
            return enabled(cx, kernel, structs.arguments(cx, template, line), (), line)
        except Refusal:
            return True
