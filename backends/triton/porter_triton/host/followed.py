"""Finds the pointers to structs that host code only follows: a launcher is given the fields in place of such a one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.syntax.nodes import Call, Expression, Launch, Member, Name, Parameter, TypeName, Unary, Variable
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.host import records
from porter_triton.host.assigned import assigned
from porter_triton.host.scope import Context


def is_followed(cx: Context, function: FunctionTree, parameter: Parameter) -> bool:
    """Returns whether a parameter of `function` is a pointer that only leads to the fields of a struct."""
    kind = cx.type(parameter.type)
    if kind.pointers != 1 or cx.built_in(TypeName(parameter.type.name)) is not None:
        return False
    return bool(records.fields(cx, replace(kind, pointers=0))) and leads_to_fields(cx.unit, function, parameter.name)


def leads_to_fields(unit: Unit, function: FunctionTree, name: str, around: frozenset[str] = frozenset()) -> bool:
    """Returns whether `function`, and those that it hands `name` on to, only read fields through this pointer.

    `around` are the functions through which it came here.
    """
    nodes = list(walk(function.body))
    named = [node for node in nodes if isinstance(node, Name) and node.name == name]
    if not named or assigned(function.body)[name] > 0 or function.head.qualified in around:
        return False
    within = around | {function.head.qualified}
    read = {id(place) for node in nodes for place in (*_owners(node), *_handed_on(unit, node, within))}
    return all(id(node) in read for node in named)


def _owners(node: object) -> Iterator[Expression]:
    """Yields the pointer that a member is reached through, `p` of `p->n` and of `(*p).n`, and of a copy: `T q = *p`."""
    match node:
        case Member(owner=owner, arrow=True) | Member(owner=Unary(operator="*", operand=owner)):
            yield owner
        case Variable(type=kind, value=Unary(operator="*", operand=owner)) if not kind.reference or kind.const:
            yield owner


def _handed_on(unit: Unit, node: object, around: frozenset[str]) -> Iterator[Expression]:
    """Yields the pointers that a call hands to a function of the source that only reads fields through them.

    A function, or a kernel, may also be given a copy of the struct, `*p`.
    """
    callee = node.kernel if isinstance(node, Launch) else node.callee if isinstance(node, Call) else None
    if not isinstance(node, Call | Launch) or not isinstance(callee, Name):
        return
    called = unit.named(callee.name)
    if len(called) == 1 and len(called[0].parameters) >= len(node.arguments):
        for parameter, argument in zip(called[0].parameters, node.arguments, strict=False):
            is_host = "host" in called[0].head.space
            if isinstance(argument, Unary) and argument.operator == "*":
                if _is_copied(parameter) or (is_host and leads_to_fields(unit, called[0], parameter.name, around)):
                    yield argument.operand
            elif is_host and leads_to_fields(unit, called[0], parameter.name, around):
                yield argument


def _is_copied(parameter: Parameter) -> bool:
    kind = parameter.type
    return not kind.pointers and (not kind.reference or kind.const)
