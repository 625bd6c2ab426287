"""Which parameters of host functions the source itself passes null pointers."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Cast, Expression, Literal, Name
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk

Place = tuple[str, int]
_NULLS = ("nullptr", "NULL")


def nullable_parameters(unit: Unit) -> frozenset[Place]:
    """Name of the function and position of each parameter for which some call has a null pointer, or one handed on."""
    functions = [f for f in unit.functions if "host" in f.head.space]
    names = {f.head.name for f in functions}
    calls = [(f, c) for f in functions for c in walk(f.body) if isinstance(c, Call) and _callee(c) in names]
    found: set[Place] = set()
    known = -1
    while known != len(found):
        known = len(found)
        for caller, call in calls:
            given = enumerate(call.arguments)
            found |= {(_callee(call), i) for i, a in given if _is_null(a) or not found.isdisjoint(_own(caller, a))}
    return frozenset(found)


def _callee(call: Call) -> str:
    return unqualified(call.callee.name) if isinstance(call.callee, Name) else ""


def _is_null(node: Expression) -> bool:
    if isinstance(node, Cast):
        zero = isinstance(node.operand, Literal) and node.operand.value == 0
        return node.type.pointers > 0 and (zero or _is_null(node.operand))
    return isinstance(node, Literal | Name) and (node.name if isinstance(node, Name) else node.type) in _NULLS


def _own(caller: FunctionTree, node: Expression) -> set[Place]:
    """The parameter of `caller` that is handed on."""
    names = [p.name for p in caller.parameters]
    return {(caller.head.name, names.index(node.name))} if isinstance(node, Name) and node.name in names else set()
