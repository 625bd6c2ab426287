"""Functions of classes: `Dispatch<T>()(arguments)` of an object made to be called, `Dispatch<T>::run(arguments)`."""

from __future__ import annotations

from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import Braces, Call, Expression, Name, TypeName
from porter.syntax.unit import FunctionTree, StructTree
from porter_triton.host import calls, expressions, member_types, overloads
from porter_triton.host.codes import Code
from porter_triton.host.instances import instance, settled
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def call(cx: Context, node: Call) -> Code:
    """Returns the value of a call of something without a name: a new object without state, or raises `Refusal`."""
    kind = _made(node.callee)
    found = member_types.definition(cx, cx.type(kind)) if kind is not None else None
    if found is None:
        raise Refusal(node.line, "only functions with a name can be called")
    struct, bindings = found
    if any(field.storage != "static" for field in struct.fields) or any(cx.unit.struct(b.name) for b in struct.bases):
        raise Refusal(node.line, f"'{struct.name}' is called, which has more than a function")
    arguments = tuple(expressions.expression(cx, a) for a in node.arguments)
    name = unqualified(struct.name)
    own = [_as_function(struct, m, name) for m in struct.methods if m.head.name == "operator()"]
    fitting = [f for f in own if overloads.fits(cx, f, arguments)]
    if len(fitting) != 1:
        raise Refusal(node.line, f"'{struct.name}' is called, which takes these arguments in {len(fitting)} ways")
    explicit = tuple(
        settled(cx, dict(bindings)[p.name], node.line) for p in struct.template if p.name in dict(bindings)
    )
    template = instance(cx, fitting[0], explicit, arguments, node.line)
    return calls.called(cx, fitting[0], template, arguments)


def static(cx: Context, node: Call, callee: Name, arguments: tuple[Code, ...]) -> Code | None:
    """Returns the value of `Struct<T>::method(arguments)`; None where the source has no such method."""
    owner, _, name = callee.name.rpartition("::")
    found = member_types.definition(cx, cx.type(TypeName(owner, callee.template))) if owner else None
    if found is None:
        return None
    struct, bindings = found
    own = [_as_function(struct, m, f"{unqualified(struct.name)}_{name}") for m in struct.methods if m.head.name == name]
    fitting = [f for f in own if overloads.fits(cx, f, arguments)]
    if len(fitting) != 1:
        return None
    meant = dict(bindings)
    explicit = tuple(settled(cx, meant[p.name], node.line) for p in struct.template if p.name in meant)
    explicit = explicit or tuple(settled(cx, given, node.line) for given in callee.template)
    return calls.called(cx, fitting[0], instance(cx, fitting[0], explicit, arguments, node.line), arguments)


def _made(node: Expression) -> TypeName | None:
    """Returns the class of `F<T>()` or `F<T>{}`."""
    if isinstance(node, Call) and isinstance(node.callee, Name) and not node.arguments:
        return TypeName(node.callee.name, node.callee.template)
    return node.type if isinstance(node, Braces) and not node.items else None


def _as_function(struct: StructTree, method: FunctionTree, name: str) -> FunctionTree:
    """Returns the method as a function called `name`; the template parameters of its class come before its own."""
    return replace(method, head=replace(method.head, name=name, template=(*struct.template, *method.head.template)))
