"""Functions that take a pack of arguments, as functions that take so many: `launch(kernel, args...)`.

The same function and number give the same tree, which may stand for the function.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from porter.source.program import TemplateParam
from porter.syntax.nodes import (
    Block,
    Braces,
    Call,
    Cast,
    Expression,
    Launch,
    Literal,
    Name,
    Parameter,
    SizeOf,
    TypeName,
)
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import rebuilt

_DOTS = "..."


@cache
def with_arguments(function: FunctionTree, count: int) -> FunctionTree:
    """`function` for a call with `count` arguments, those of a pack at its end by name; itself where it has no pack."""
    *before, last = function.parameters or (Parameter("", TypeName("void")),)
    if not last.type.name.endswith(_DOTS) or count < len(before):
        return function
    numbers = range(count - len(before))
    pack = last.type.name.removesuffix(_DOTS)
    own = tuple(replace(last, name=f"{last.name}_{n}", type=replace(last.type, name=f"{pack}_{n}")) for n in numbers)
    head = replace(function.head, template=tuple(_listed(function.head.template, pack, len(numbers))))
    body = rebuilt(function.body, lambda node: _with_each(node, last.name, pack, len(numbers)))
    assert isinstance(body, Block)
    return replace(function, head=head, parameters=(*before, *own), body=body)


def has_one(function: FunctionTree) -> bool:
    """Returns whether a function takes a pack."""
    return bool(function.parameters) and function.parameters[-1].type.name.endswith(_DOTS)


def _listed(template: tuple[TemplateParam, ...], pack: str, count: int) -> list[TemplateParam]:
    """The parameters of a template, with one for each type of the pack."""
    found: list[TemplateParam] = []
    for parameter in template:
        each = parameter.name == pack and parameter.kind.endswith(_DOTS)
        kind = parameter.kind.removesuffix(_DOTS)
        found += [replace(parameter, kind=kind, name=f"{pack}_{n}") for n in range(count)] if each else [parameter]
    return found


def _with_each(node: object, name: str, pack: str, count: int) -> object:
    """A list of arguments that has the pack among them, with all that are in it."""
    match node:
        case Call(callee=Name(name="std::forward" | "std::move")):
            return node
        case Call(arguments=given) | Launch(arguments=given):
            return replace(node, arguments=_spread(given, name, pack, count))
        case Braces(items=given):
            return replace(node, items=_spread(given, name, pack, count))
        case SizeOf(of=Name(name=of) | TypeName(name=of)) if of in (name, pack):  # sizeof...(args)
            return Literal(count, "unsigned long", node.line)
    return node


def _spread(given: tuple[Expression, ...], name: str, pack: str, count: int) -> tuple[Expression, ...]:
    return tuple(
        one
        for part in given
        for one in ([_numbered(part, name, pack, n) for n in range(count)] if _is_of(part, name) else [part])
    )


def _is_of(part: Expression, name: str) -> bool:
    """Returns whether an argument is a pack's, `args...` or `std::forward<Args>(args)...`."""
    while isinstance(part, Call | Cast):
        part = part.operand if isinstance(part, Cast) else part.arguments[0] if len(part.arguments) == 1 else Name("")
    return isinstance(part, Name) and part.name == name


def _numbered(part: Expression, name: str, pack: str, number: int) -> Expression:
    def change(node: object) -> object:
        match node:
            case Name() if node.name == name:
                return replace(node, name=f"{name}_{number}")
            case TypeName() if node.name == pack:
                return replace(node, name=f"{pack}_{number}")
        return node

    return rebuilt(part, change)  # type: ignore[return-value]
