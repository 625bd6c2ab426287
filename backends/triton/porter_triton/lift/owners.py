"""Whether pointers that a device function is given lead to variables of the thread's own, in all calls."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Binary, Call, Declare, Expression, Name, Subscript, Unary
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import called

_MOST_CALLERS = 4  # functions that hand the pointers on


def point_to_own(facts: Facts, names: tuple[str, ...], depth: int = 0) -> bool:
    """Returns whether these are parameters of a device function, each of which is given another variable or array."""
    function = facts.function
    positions = [i for i, p in enumerate(function.parameters) if p.name in names and p.type.pointers == 1]
    if len(positions) < len(names) or function.head.space == "global" or depth == _MOST_CALLERS:
        return False
    methods = (method for struct in facts.unit.structs for method in struct.methods)
    for caller in (*facts.unit.functions, *methods):
        nodes = list(walk(caller.body))
        calls = [n for n in nodes if isinstance(n, Call) and called(n) == function.head.name]
        inside = Facts(facts.unit, caller, facts.block)
        if len(calls) < sum(isinstance(n, Name) and unqualified(n.name) == function.head.name for n in nodes):
            return False  # it is handed to somebody
        if not all(len(c.arguments) > positions[-1] and _is_own(inside, c, positions, depth) for c in calls):
            return False
    return True


def _is_own(facts: Facts, call: Call, positions: list[int], depth: int) -> bool:
    """Returns whether the arguments at these positions lead to different variables or arrays of the thread's own."""
    roots = [_root(facts.function, call.arguments[position]) for position in positions]
    if "" in roots or len(set(roots)) < len(roots):
        return False
    given = tuple(r for r in roots if r not in _declared(facts.function))
    return not given or (not facts.changed.intersection(given) and point_to_own(facts, given, depth + 1))


def _root(function: FunctionTree, node: Expression) -> str:
    """The variable, array or parameter that an address is one of; empty where that is not known."""
    while isinstance(node, Binary) and node.operator in "+-":
        node = node.left
    is_array = True
    if isinstance(node, Unary) and node.operator == "&":
        is_array = isinstance(node.operand, Subscript)
        node = node.operand.owner if isinstance(node.operand, Subscript) else node.operand
    if not isinstance(node, Name):
        return ""
    is_parameter = any(p.name == node.name for p in function.parameters)
    fits = _declared(function).get(node.name, is_parameter and is_array) == is_array
    return node.name if fits else ""


def _declared(function: FunctionTree) -> dict[str, bool]:
    """The variables (False) and arrays (True) that are a thread's own, wherever the function declares such names."""
    variables = [v for n in walk(function.body) if isinstance(n, Declare) for v in n.variables]
    kinds = {v.name: {bool(w.extents) for w in variables if w.name == v.name} for v in variables}
    others = {v.name for v in variables if v.storage or v.type.reference or v.type.pointers}
    return {name: kind.pop() for name, kind in kinds.items() if len(kind) == 1 and name not in others}
