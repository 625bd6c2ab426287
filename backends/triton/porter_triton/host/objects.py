"""Methods of a launcher's own structs: each is what its body says of the fields."""

from __future__ import annotations

from porter.syntax.nodes import Call, Member, Name, Return
from porter.syntax.unit import FunctionTree
from porter_triton.host import expressions, pointers, statements
from porter_triton.host.assigned import assigned
from porter_triton.host.codes import SUCCESS, Code, Kind
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def call(cx: Context, node: Call, callee: Member) -> Code | None:
    """Returns the value of `object.method(arguments)`, in place if there is none; None for any other method."""
    if not isinstance(callee.owner, Name) or not isinstance(owner := cx.find(callee.owner.name), Code):
        return None
    method = _method(cx, owner, callee.name, len(node.arguments)) if owner.kind is Kind.RECORD else None
    if method is None:
        return None
    if not assigned(method.body).keys().isdisjoint({"this", *owner.names}):
        raise Refusal(node.line, f"'{callee.name}' changes its object, which has no counterpart in a launcher")
    given = [expressions.expression(cx, argument) for argument in node.arguments]
    steps = method.body.statements
    with cx.apart():
        for name, part in zip(("this", *owner.names), (owner, *owner.parts), strict=True):
            cx.bind(name, part)
        for parameter, argument in zip(method.parameters, given, strict=True):
            numeric = argument.is_number and not parameter.type.pointers
            cx.bind(parameter.name, pointers.cast(cx, parameter.type, argument, node.line) if numeric else argument)
        if len(steps) == 1 and isinstance(steps[0], Return) and steps[0].value is not None:
            return expressions.expression(cx, steps[0].value)
        if method.returns.name != "void" or method.returns.pointers:
            raise Refusal(node.line, f"'{callee.name}' takes several statements to its value: make it a function")
        statements.inlined(cx, method.body)
    return SUCCESS


def _method(cx: Context, owner: Code, name: str, count: int) -> FunctionTree | None:
    structs = cx.unit.struct(owner.ctype.name) if owner.ctype is not None else ()
    found = [m for m in structs[-1].methods if m.head.name == name and len(m.parameters) == count] if structs else []
    return found[0] if len(found) == 1 else None
