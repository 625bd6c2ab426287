"""Finds the pointers to structs that host code only follows: a launcher is given the fields in place of such a one."""

from __future__ import annotations

from collections.abc import Iterator

from porter.syntax.nodes import Call, Expression, Member, Name, Unary
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.host.assigned import assigned


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
    """Yields the pointer that a member is reached through, `p` of `p->n` and of `(*p).n`."""
    match node:
        case Member(owner=owner, arrow=True) | Member(owner=Unary(operator="*", operand=owner)):
            yield owner


def _handed_on(unit: Unit, node: object, around: frozenset[str]) -> Iterator[Expression]:
    """Yields the arguments of a call of a function of the source that only reads fields through them."""
    if not isinstance(node, Call) or not isinstance(node.callee, Name):
        return
    called = [f for f in unit.named(node.callee.name) if "host" in f.head.space]
    if len(called) == 1 and len(called[0].parameters) >= len(node.arguments):
        for parameter, argument in zip(called[0].parameters, node.arguments, strict=False):
            if leads_to_fields(unit, called[0], parameter.name, around):
                yield argument
