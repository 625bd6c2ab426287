"""Whether a pointer that a device function is given leads to variables of the thread's own, in all calls."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Binary, Call, Declare, Expression, Name, Subscript, Unary
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import called

_MOST_CALLERS = 4  # functions that hand the pointer on


def points_to_own(facts: Facts, name: str, depth: int = 0) -> bool:
    """Whether the parameter `name` of a device function is such a pointer."""
    function = facts.function
    position = next((i for i, p in enumerate(function.parameters) if p.name == name and p.type.pointers == 1), None)
    if position is None or function.head.space == "global" or depth == _MOST_CALLERS:
        return False
    methods = (method for struct in facts.unit.structs for method in struct.methods)
    for caller in (*facts.unit.functions, *methods):
        nodes = list(walk(caller.body))
        calls = [n for n in nodes if isinstance(n, Call) and called(n) == function.head.name]
        inside = Facts(facts.unit, caller, facts.block)
        if len(calls) < sum(isinstance(n, Name) and unqualified(n.name) == function.head.name for n in nodes):
            return False  # it is handed to somebody
        if not all(len(c.arguments) > position and _is_own(inside, c.arguments[position], depth) for c in calls):
            return False
    return True


def _is_own(facts: Facts, node: Expression, depth: int) -> bool:
    """Whether an argument is the address of a variable or of an element of an array of the thread's own."""
    if isinstance(node, Binary) and node.operator in "+-":
        return _is_own(facts, node.left, depth)
    if isinstance(node, Unary) and node.operator == "&":
        inner = node.operand.owner if isinstance(node.operand, Subscript) else node.operand
        is_variable = isinstance(node.operand, Name) and node.operand.name in _declared(facts.function, array=False)
        return is_variable or (isinstance(node.operand, Subscript) and _is_own(facts, inner, depth))
    if not isinstance(node, Name):
        return False
    own = node.name in _declared(facts.function, array=True)
    return own or (node.name not in facts.changed and points_to_own(facts, node.name, depth + 1))


def _declared(function: FunctionTree, *, array: bool) -> frozenset[str]:
    """The variables or arrays that are a thread's own wherever the function declares something of their names."""
    variables = [v for n in walk(function.body) if isinstance(n, Declare) for v in n.variables]
    own = {v.name for v in variables if bool(v.extents) == array and not v.type.reference}
    return frozenset(own - {v.name for v in variables if v.storage or bool(v.extents) != array})
