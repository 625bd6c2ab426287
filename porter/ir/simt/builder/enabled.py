"""Kernels that templates leave out: whose type is `std::enable_if` of what does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from porter.ir.simt.builder import expressions
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.kernel import in_instance
from porter.syntax.nodes import Expression, TypeName
from porter.syntax.unit import FunctionTree, Unit

_WORDS = ("enable_if", "enable_if_t", "enable_if::type")


def is_enabled(unit: Unit, kernel: FunctionTree, template: Sequence[TypeName | Expression]) -> bool:
    """Returns whether a kernel is one for these template arguments, as a launch writes them.

    What cannot be told counts as one: building it says why it is none.
    """
    returns = kernel.returns
    if returns.name.removeprefix("std::") not in _WORDS or not returns.arguments:
        return True
    asked = returns.arguments[0]
    try:
        with in_instance(unit, kernel, template) as b:
            value = None if isinstance(asked, TypeName) else expressions.constant(b, asked)
    except NotExpressibleError:
        return True
    return value is None or bool(value)
