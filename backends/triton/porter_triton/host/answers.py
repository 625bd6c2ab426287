"""Calls that answer with an error code or set their caller's variables: statements in Python, so that something must
run them once and for certain.
"""

from __future__ import annotations

from porter.syntax.nodes import Braces, Call, Expression, Member, Name
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.host.assigned import set_by
from porter_triton.host.codes import Kind
from porter_triton.host.instances import kind_of
from porter_triton.host.runtime import is_memory_call
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def answers(cx: Context, node: Expression) -> bool:
    """Returns whether `node` calls a function of the source's own, or one that allocates or copies, for its error
    code, or one that sets variables here.
    """
    return any(isinstance(n, Call) and _for_its_code(cx, n) for n in walk(node))


def demand_none(cx: Context, *nodes: Expression | None) -> None:
    """Raise `Refusal` for such a call in what is evaluated under a condition or again and again."""
    for node in nodes:
        if node is not None and answers(cx, node):
            raise Refusal(node.line, "a function with effects is called under a condition")


def _for_its_code(cx: Context, node: Call) -> bool:
    callee = node.callee
    if is_memory_call(node):
        return True
    if isinstance(callee, Name | Member) and any(_acts(cx, method) for method in _methods(cx, callee.name)):
        return True
    if not isinstance(callee, Name):
        return isinstance(callee, Call | Braces)
    named = [f for f in cx.unit.named(callee.name) if f.head.space != "global"]
    return any(kind_of(cx, f.returns) is Kind.ERROR or any(set_by(f, p) for p in f.parameters) for f in named)


def _methods(cx: Context, name: str) -> list[FunctionTree]:
    """Returns the methods of any class of the source that a call of `name` may reach, each once."""
    own: dict[str, list[FunctionTree]] = {}
    for method in (m for struct in cx.unit.structs for m in struct.methods):
        own.setdefault(method.head.name, []).append(method)
    found, known = list(own.get(name, ())), {name}
    for method in found:
        for node in walk(method.body):
            if isinstance(node, Call) and isinstance(node.callee, Name | Member) and node.callee.name not in known:
                known.add(node.callee.name)
                found.extend(own.get(node.callee.name, ()))
    return found


def _acts(cx: Context, method: FunctionTree) -> bool:
    """Returns whether a method answers with an error code, or calls for one."""
    if method.returns.name.startswith("cudaError"):
        return True
    calls = [n for n in walk(method.body) if isinstance(n, Call)]
    named = [f for n in calls if isinstance(n.callee, Name) for f in cx.unit.named(n.callee.name)]
    return any(map(is_memory_call, calls)) or any(f.returns.name.startswith("cudaError") for f in named)
