"""Template parameters bound to given arguments, to what the types of the call's arguments say, or to defaults."""

from __future__ import annotations

from porter.syntax.nodes import TypeName
from porter.syntax.unit import FunctionTree
from porter_triton.lower import resolve, structs
from porter_triton.lower.context import Context
from porter_triton.lower.types import Pointer, Record, Type


def bind_template(
    cx: Context, chosen: FunctionTree, given: tuple[structs.Argument, ...], types: tuple[Type | None, ...], line: int
) -> None:
    """Bind the template parameters of `chosen`, called with `given` template arguments and arguments of `types`."""
    parameters = chosen.head.template
    for parameter, argument in zip(parameters, given, strict=False):
        cx.bind(parameter.name, argument)
    for wanted, type_ in zip(chosen.parameters, types, strict=False):
        _deduce(cx, {p.name for p in parameters[len(given) :]}, wanted.type, type_)
    for parameter in parameters[len(given) :]:
        if parameter.name and parameter.name not in cx.scopes[-1].names and parameter.default:
            known = {n: b for n, b in cx.scopes[-1].names.items() if isinstance(b, structs.Argument)}
            default = resolve.default_argument(cx, parameter.default, known, line)
            if default is not None:
                cx.bind(parameter.name, default)


def _deduce(cx: Context, open_: set[str], wanted: TypeName, given: Type | None) -> None:
    """Bind the template parameters that a parameter's type names, from the argument's type."""
    names = cx.scopes[-1].names
    if given is None:
        return
    for _ in range(wanted.pointers):
        if not isinstance(given, Pointer):
            return
        given = given.element
    if wanted.name in open_:
        if wanted.name not in names:
            cx.bind(wanted.name, given)
    elif wanted.arguments and isinstance(given, Record):
        for pattern, (_, argument) in zip(wanted.arguments, given.bindings, strict=False):
            name = getattr(pattern, "name", "")
            if name in open_ and name not in names and isinstance(argument, structs.Argument):
                cx.bind(name, argument)
